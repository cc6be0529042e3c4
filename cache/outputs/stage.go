package outputs

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

// tempPrefix begins the names of files that are being moved to their place.
const tempPrefix = ".bento-tmp-"

// A temporary file older than abandonedAge is left from a killed process.
const abandonedAge = time.Hour

// Stage is a directory where files and links are made before each is moved to its place in one
// step. File and Link may be called concurrently.
type Stage struct {
	dir    *rawfile.File
	prefix string

	mu    sync.Mutex
	made  int
	names map[string]bool // names of the files in it
	umask fs.FileMode     // permission bits that a new file does not get
	known bool            // umask is known
}

// NewStage returns a Stage in an open directory, which Close closes. A directory may have several stages.
func NewStage(dir *rawfile.File) *Stage {
	return &Stage{dir: dir, prefix: tempName(), names: make(map[string]bool)}
}

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }

// Empty removes the files that were made and not moved.
func (s *Stage) Empty() {
	for name := range s.names {
		_ = s.dir.RemoveAt(name, false)
	}
	clear(s.names)
}

// Close removes the files that were made and not moved, and closes the directory.
func (s *Stage) Close() {
	s.Empty()
	s.dir.Close()
}

// name returns an unused name.
func (s *Stage) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	name := s.prefix + "." + strconv.Itoa(s.made)
	s.names[name] = true
	return name
}

// File makes an empty file with a mode and returns its name in the stage. It learns the umask from
// the first file, so later files mostly need no chmod.
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

// learn finds the umask from a file that was created with all permission bits.
func (s *Stage) learn(f *rawfile.File) (umask fs.FileMode, err error) {
	info, err := f.Stat()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.umask, s.known = 0o777&^info.Mode.Perm(), err == nil
	return s.umask, err
}

// Link makes a link and returns its name in the stage.
func (s *Stage) Link(target string) (name string, err error) {
	name = s.name()
	return name, s.dir.SymlinkAt(target, name)
}

// Move moves a file or link of the stage to its place and replaces anything but a directory.
func (s *Stage) Move(name string, d *Dir, to string) error {
	err := move(s.dir, name, d, to)
	if err == nil {
		delete(s.names, name)
	}
	return err
}

// move moves a file or link, also to another file system.
func move(from *rawfile.File, name string, d *Dir, to string) error {
	err := from.RenameAt(name, d.File, to)
	if rawfile.IsOtherDisk(err) {
		err = carry(from, name, d, to)
	}
	return err
}

// carry copies a file to the file system of its place and moves it there.
func carry(from *rawfile.File, name string, d *Dir, to string) error {
	sweep(d)
	temp := tempName()
	err := copyTo(from, name, d, temp)
	if err == nil {
		err = d.RenameAt(temp, d.File, to)
	}
	if err != nil {
		_ = d.RemoveAt(temp, false)
		return err
	}
	return from.RemoveAt(name, false)
}

func copyTo(dir *rawfile.File, name string, d *Dir, temp string) error {
	info, err := dir.LstatAt(name)
	if err != nil {
		return err
	}
	if info.IsLink() {
		target, err := dir.ReadlinkAt(name)
		if err != nil {
			return err
		}
		return d.SymlinkAt(target, temp)
	}
	from, err := dir.OpenAt(name)
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

// IsTemp reports whether the name is one of a file that carry makes.
func IsTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// sweep removes the files that carry left in a directory when its process was killed.
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
