package workdir

import (
	"cmp"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
)

// tempPrefix begins the names of files on their way to their place.
const tempPrefix = ".bento-tmp-"

// A temporary file that is older was left by a process that was killed.
const abandonedAge = time.Hour

// Stage is a directory where files and links are made before they are moved to
// their place, in one step each. File and Link may be called concurrently.
type Stage struct {
	dir    *rawfile.File
	prefix string

	mu    sync.Mutex
	made  int
	names map[string]bool // what is in it
	umask fs.FileMode     // the bits that a new file does not get
	known bool            // umask is
}

// NewStage returns a Stage in an open directory, which it closes. Several stages may be
// in one directory.
func NewStage(dir *rawfile.File) *Stage {
	return &Stage{dir: dir, prefix: tempName(), names: make(map[string]bool)}
}

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }

// Empty removes what was made and not moved.
func (s *Stage) Empty() {
	for name := range s.names {
		_ = s.dir.RemoveAt(name, false)
	}
	clear(s.names)
}

// Close removes what was made and not moved, and closes the directory.
func (s *Stage) Close() {
	s.Empty()
	s.dir.Close()
}

// name gives a name that is not in use.
func (s *Stage) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	name := s.prefix + "." + strconv.Itoa(s.made)
	s.names[name] = true
	return name
}

// File makes an empty file of a mode and gives its name in the stage. What the
// system takes away from the mode is learned from the first one; later ones mostly
// need not be told their mode again.
func (s *Stage) File(mode fs.FileMode) (f *rawfile.File, name string, err error) {
	name, all := s.name(), fs.FileMode(0o777)
	umask, known := s.mask()
	if known {
		all = mode
	}
	if f, err = s.dir.CreateAt(name, all); err != nil {
		return nil, name, err
	}
	if !known {
		umask, err = s.learn(f)
	}
	if err == nil && all&^umask != mode {
		err = f.Chmod(mode)
	}
	if err != nil {
		f.Close()
	}
	return f, name, err
}

func (s *Stage) mask() (umask fs.FileMode, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.umask, s.known
}

// learn looks at a file that was made with all bits.
func (s *Stage) learn(f *rawfile.File) (umask fs.FileMode, err error) {
	info, err := f.Stat()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.umask, s.known = 0o777&^info.Mode.Perm(), err == nil
	return s.umask, err
}

// Link makes a link and gives its name in the stage.
func (s *Stage) Link(target string) (name string, err error) {
	name = s.name()
	return name, s.dir.SymlinkAt(target, name)
}

// Move puts what File or Link made into place, over what is there unless that is a
// directory.
func (s *Stage) Move(name string, d *Dir, to string) error {
	err := s.dir.RenameAt(name, d.File, to)
	if rawfile.IsOtherDisk(err) {
		err = s.carry(name, d, to)
	}
	if err == nil {
		delete(s.names, name)
	}
	return err
}

// carry copies to the file system of the place and moves there.
func (s *Stage) carry(name string, d *Dir, to string) error {
	sweep(d)
	temp := tempName()
	err := s.copyTo(name, d, temp)
	if err == nil {
		err = d.RenameAt(temp, d.File, to)
	}
	if err != nil {
		_ = d.RemoveAt(temp, false)
		return err
	}
	return s.dir.RemoveAt(name, false)
}

func (s *Stage) copyTo(name string, d *Dir, temp string) error {
	info, err := s.dir.LstatAt(name)
	if err != nil {
		return err
	}
	if info.IsLink() {
		target, err := s.dir.ReadlinkAt(name)
		if err != nil {
			return err
		}
		return d.SymlinkAt(target, temp)
	}
	from, err := s.dir.OpenAt(name)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := d.CreateAt(temp, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return cmp.Or(err, f.Chmod(info.Mode), f.Close())
}

// IsTemp tells whether a file of this name is on its way to its place, or was when the
// process that carried it was killed.
func IsTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// sweep removes what killed processes left of carry in a directory.
func sweep(d *Dir) {
	entries, _ := d.ReadDir()
	for _, e := range entries {
		if e.IsDir() || !IsTemp(e.Name()) {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > abandonedAge {
			_ = d.RemoveAt(e.Name(), false)
		}
	}
}
