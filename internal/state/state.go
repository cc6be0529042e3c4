// Package state stores data about one workspace between runs, in the directory <root>/.bento. All of
// it can be deleted at any time and is made again. It contains its own .gitignore, so that no project
// has to list it. Files are replaced whole (written beside, renamed), contain the version of their
// format and a checksum, and are absent if either does not match: no user has to repair one. A
// directory that cannot be written is an error value; callers turn it into a warning and continue
// without state.
//
// In a cloned repository the .bento may come from its author. So the package opens the directory
// through descriptors (package owndir), and refuses one that is a link, that has an untrusted owner
// or in which git tracks a file: every method then returns a *RefusedError, and nothing in it is
// read, written or removed.
package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Name is the directory's name under the workspace root.
const Name = ".bento"

// RefusedError is the reason why bento does not use a file or directory at the place of its state.
type RefusedError = owndir.RefusedError

// Dir is the state of one workspace. It is safe for concurrent use, also by
// several processes.
type Dir struct {
	root    string
	trusted func() *owner.Trusted

	mu      sync.Mutex
	vouched rawfile.Info // the directory in which git tracks nothing
	known   bool         // vouched is set
	refused error        // set when git tracks a file in it
}

// Open returns the state of the workspace at root, an absolute path. It does no I/O: the first
// write makes the directory.
func Open(root string) *Dir {
	return &Dir{root: root, trusted: sync.OnceValue(func() *owner.Trusted {
		trusted := owner.Of(root)
		return &trusted
	})}
}

// RunLock is the lock of a process that changes the workspace.
const RunLock = "locks/run.lock"

// Check returns a *RefusedError when bento must not use the directory or one in it. A missing or
// unreadable one is no error.
func (d *Dir) Check(ctx context.Context) error {
	self, err := d.self(ctx, false)
	if err == nil {
		err = checkIn(self)
		self.Close()
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		return err
	}
	return nil
}

// Prepare is Check, and makes a missing directory, so that the times of the root that a caller reads
// afterwards are those of the next run too. A directory that cannot be made is no error.
func (d *Dir) Prepare(ctx context.Context) error {
	if err := d.Check(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(d.root, Name)); errors.Is(err, fs.ErrNotExist) {
		if self, err := d.self(ctx, true); err == nil {
			self.Close()
		}
	}
	return nil
}

// Guest returns an *owner.GuestError if bento saves nothing for the user in the workspace: another
// user owns the workspace, and the state directory if it exists.
func (d *Dir) Guest() error {
	err := d.trusted().Guest()
	if err == nil {
		return nil
	}
	if fi, e := os.Lstat(filepath.Join(d.root, Name)); e == nil && owner.IsMine(fi) {
		return nil
	}
	return err
}

// checkIn checks the directories that bento uses, and the lock of most commands.
func checkIn(self *owndir.Dir) error {
	for _, name := range []string{tempDir, "logs", "journal", "installs", "locks"} {
		if err := self.Check(name); err != nil {
			return err
		}
	}
	locks, err := self.Enter(path.Dir(RunLock), false)
	if err != nil {
		return err
	}
	defer locks.Close()
	return locks.CheckFile(path.Base(RunLock))
}

// self opens the directory, and makes a missing one if make is set.
func (d *Dir) self(ctx context.Context, make bool) (*owndir.Dir, error) {
	root, err := owndir.Open(d.root, d.trusted())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	self, err := root.Enter(Name, make)
	if err != nil {
		return nil, err
	}
	if err = d.vouch(ctx, self); err == nil && make {
		err = ignore(self)
	}
	if err != nil {
		self.Close()
		return nil, err
	}
	return self, nil
}

// ignore writes the .gitignore of the directory.
func ignore(self *owndir.Dir) error {
	if _, err := self.Stat(".gitignore"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return self.Replace(".gitignore", []byte("*\n"))
}

// at opens the directory of name, and returns the last element of name.
func (d *Dir) at(name string, make bool) (dir *owndir.Dir, base string, err error) {
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	self, err := d.self(context.Background(), make)
	parent := path.Dir(name)
	if err != nil || parent == "." {
		return self, name, err
	}
	defer self.Close()
	dir, err = self.Below(parent, make)
	return dir, path.Base(name), err
}

// sub opens the directory name in the state.
func (d *Dir) sub(name string, make bool) (*owndir.Dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	self, err := d.self(context.Background(), make)
	if err != nil {
		return nil, err
	}
	defer self.Close()
	return self.Below(name, make)
}

// Shown returns the absolute path of name, for messages.
func (d *Dir) Shown(name string) string {
	return filepath.Join(d.root, Name, filepath.FromSlash(name))
}

// Stamp identifies the content of a file by its stat.
type Stamp struct {
	serial   uint64
	size     int64
	modified time.Time
}

// Stamp returns the stamp of the file name, the zero value when it is missing.
func (d *Dir) Stamp(name string) Stamp {
	dir, base, err := d.at(name, false)
	if err != nil {
		return Stamp{}
	}
	defer dir.Close()
	info, err := dir.Stat(base)
	if err != nil {
		return Stamp{}
	}
	return Stamp{serial: info.Serial(), size: info.Size, modified: info.Modified}
}

// Create makes the file name for reading and writing, and replaces an existing one.
func (d *Dir) Create(name string) (*os.File, error) {
	dir, base, err := d.at(name, true)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Remove(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := dir.Create(base, 0o666)
	if err != nil {
		return nil, err
	}
	return f.Std(), nil
}

// OpenFile opens the regular file name for reading in parts. It returns fs.ErrNotExist for any
// other kind of file.
func (d *Dir) OpenFile(name string) (*os.File, error) {
	dir, base, err := d.at(name, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, _, err := dir.Open(base)
	if err != nil {
		return nil, err
	}
	return f.Std(), nil
}

// Remove removes the file name. A missing file is no error.
func (d *Dir) Remove(name string) error {
	dir, base, err := d.at(name, false)
	if err == nil {
		err = dir.Remove(base)
		dir.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "\x00") {
		return fmt.Errorf("state file %q: not a clean relative path", name)
	}
	return nil
}
