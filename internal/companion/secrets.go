package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
)

// secrets are the user's secrets, for extensions with the capability secrets:read: variables of the environment,
// and a file that no other user may read.
type secrets struct {
	getenv func(string) string
	root   string // of the workspace
}

const (
	// secretVariable is the prefix of the variable of a secret.
	secretVariable = "BENTO_SECRET_"
	// ofWorkspace is the scope of secrets of one workspace.
	ofWorkspace = "workspace"
	maxSecrets  = 1 << 20 // bytes of the file
)

// secretFile is the content of the file: secrets by scope and key, and those of workspaces by root and key.
type secretFile struct {
	Scopes     map[string]map[string]string `json:"scopes"`
	Workspaces map[string]map[string]string `json:"workspaces"`
}

// path returns the path of the file, "" if the environment names no directory for it.
func (s *secrets) path() string { return owndir.OfUser(s.getenv, "XDG_CONFIG_HOME", "secrets.json") }

// find returns a secret. In the scope workspace, an extension gets secrets of its own workspace only, and none if it
// names another one. Variables apply to every other scope.
func (s *secrets) find(_ context.Context, scope, workspace, key string) ([]byte, bool, error) {
	if scope == ofWorkspace && workspace != "" && workspace != s.root {
		return nil, false, nil
	}
	if value := s.getenv(variable(key)); value != "" && scope != ofWorkspace {
		return []byte(value), true, nil
	}
	file, err := s.read()
	if err != nil {
		return nil, false, err
	}
	keys := file.Scopes[scope]
	if scope == ofWorkspace {
		keys = file.Workspaces[s.root]
	}
	value, ok := keys[key]
	return []byte(value), ok, nil
}

// variable returns the name of the variable of a key.
func variable(key string) string {
	return secretVariable + strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, key)
}

// read reads the file. A missing file is empty. A link, or a file that other users may read, is an error.
func (s *secrets) read() (file secretFile, err error) {
	path := s.path()
	if path == "" {
		return file, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return file, err
	case !fi.Mode().IsRegular():
		return file, fmt.Errorf("%s is not a regular file", path)
	case fi.Mode().Perm()&0o077 != 0:
		return file, fmt.Errorf("%s has the mode %v, required one that only you may read: chmod 600 it", path, fi.Mode().Perm())
	case !owner.IsMine(fi):
		return file, fmt.Errorf("%s belongs to another user", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecrets+1))
	if err == nil && len(data) > maxSecrets {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecrets)
	}
	if err != nil {
		return file, err
	}
	if json.Unmarshal(data, &file) != nil { // the error itself could quote a secret
		return secretFile{}, fmt.Errorf(`%s is no JSON of the form {"scopes": {"user": {"KEY": "SECRET"}}, "workspaces": {"/ROOT": {"KEY": "SECRET"}}}`, path)
	}
	return file, nil
}
