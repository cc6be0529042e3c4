package workdir

import (
	"cmp"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

// tempPrefix begins the names of files on their way to their place.
const tempPrefix = ".bento-tmp-"

// A temporary file that is older was left by a process that was killed.
const abandonedAge = time.Hour

// Stage is a directory where files and links are made before they are moved to
// their place, in one step each.
type Stage struct {
	dir    *Dir
	prefix string
	made   int
	names  map[string]bool // what is in it
}

// OpenStage opens the directory at path, and makes it when missing. Several stages
// may share one.
func OpenStage(path string) (*Stage, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Stage{dir: &Dir{Root: r}, prefix: tempName(), names: make(map[string]bool)}, nil
}

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }

// Close removes what was made and not moved.
func (s *Stage) Close() {
	for name := range s.names {
		_ = s.dir.Remove(name)
	}
	s.dir.close()
}

// name gives a name that is not in use.
func (s *Stage) name() string {
	s.made++
	name := s.prefix + "." + strconv.Itoa(s.made)
	s.names[name] = true
	return name
}

// File makes an empty file and gives its name in the stage.
func (s *Stage) File() (f *os.File, name string, err error) {
	name = s.name()
	f, err = create(s.dir, name)
	return f, name, err
}

// Link makes a link and gives its name in the stage.
func (s *Stage) Link(target string) (name string, err error) {
	name = s.name()
	return name, s.dir.Symlink(target, name)
}

// Move puts what File or Link made into place, over what is there unless that is a
// directory.
func (s *Stage) Move(name string, d *Dir, to string) error {
	err := renameAt(s.dir, name, d, to)
	if isOtherDisk(err) {
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
		err = d.Rename(temp, to)
	}
	if err != nil {
		_ = d.Remove(temp)
		return err
	}
	return s.dir.Remove(name)
}

func (s *Stage) copyTo(name string, d *Dir, temp string) error {
	fi, err := s.dir.Lstat(name)
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := s.dir.Readlink(name)
		if err != nil {
			return err
		}
		return d.Symlink(target, temp)
	}
	from, err := s.dir.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := create(d, temp)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return cmp.Or(err, f.Chmod(fi.Mode().Perm()), f.Close())
}

func create(d *Dir, name string) (*os.File, error) {
	return d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// sweep removes what killed processes left of carry in a directory.
func sweep(d *Dir) {
	entries, _ := fs.ReadDir(d.FS(), ".")
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > abandonedAge {
			_ = d.Remove(e.Name())
		}
	}
}
