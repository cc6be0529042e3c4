package oneshot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// command returns the process of the options. A name without a separator is looked up in bento's own PATH
// and never in Dir. The environment of the tool does not affect that.
func (o *Options) command() (*host.Command, error) {
	path := o.Argv[0]
	switch {
	case !strings.ContainsRune(path, filepath.Separator):
		found, err := adapters.NewEnviron(os.Environ()).LookPath(path)
		if err != nil {
			return nil, fmt.Errorf("the command %q is not found in PATH: %w", path, err)
		}
		path = found
	case !filepath.IsAbs(path):
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, path)
	}
	if err := executable(path); err != nil {
		return nil, err
	}
	argv := append([]string{path}, o.Argv[1:]...)
	return &host.Command{Argv: argv, SHA256: o.SHA256, Dir: o.Dir, Env: o.Env, Sandbox: o.Sandbox}, nil
}

// executable returns an error unless path is an executable file. The error of the system about a failed
// start has several possible reasons.
func executable(path string) error {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("the command: %w", err)
	case fi.IsDir():
		return &fs.PathError{Op: "the command", Path: path, Err: fmt.Errorf("it is a directory, want an executable file: %w", fs.ErrInvalid)}
	case fi.Mode()&0o111 == 0:
		return &fs.PathError{Op: "the command", Path: path, Err: fmt.Errorf("it is not executable (mode %v): %w", fi.Mode().Perm(), fs.ErrPermission)}
	}
	return nil
}
