package state

import (
	"errors"
	"io/fs"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Shared is state that all workspaces of a user share, in a directory outside of them. Its files are
// those of a Dir. Several processes may use it at the same time: the last write wins.
type Shared struct{ dir string }

// OpenShared returns the state in dir, an absolute path, "" for none. It does no I/O: the first
// write makes the directory.
func OpenShared(dir string) *Shared { return &Shared{dir: dir} }

// Load returns the payload that Store wrote under name. It returns ErrAbsent when there is none of
// that version, and a *RefusedError when other users may write to the directory.
func (s *Shared) Load(name string, version uint32) ([]byte, error) {
	if s.dir == "" {
		return nil, ErrAbsent
	}
	dir, err := owndir.OpenOwn(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return load(dir, name, name, version, 0o022)
}

// Store replaces the file name by payload.
func (s *Shared) Store(name string, version uint32, payload []byte) error {
	if s.dir == "" {
		return nil
	}
	if err := rawfile.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	dir, err := owndir.OpenOwn(s.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.ReplaceAs(name, 0o600, seal(name, version, payload), payload)
}
