package workdir

import (
	"cmp"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/rawfile"
)

// tempPrefix begins the names of files on their way to their place.
const tempPrefix = ".bento-tmp-"

// A temporary file that is older was left by a process that was killed.
const abandonedAge = time.Hour

// Stage is a directory where files and links are made before they are moved to
// their place, in one step each.
type Stage struct {
	dir    *rawfile.File
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
	f, err := rawfile.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &Stage{dir: f, prefix: tempName(), names: make(map[string]bool)}, nil
}

func tempName() string { return tempPrefix + strconv.FormatUint(rand.Uint64(), 36) }

// Close removes what was made and not moved.
func (s *Stage) Close() {
	for name := range s.names {
		_ = s.dir.RemoveAt(name, false)
	}
	s.dir.Close()
}

// name gives a name that is not in use.
func (s *Stage) name() string {
	s.made++
	name := s.prefix + "." + strconv.Itoa(s.made)
	s.names[name] = true
	return name
}

// File makes an empty file and gives its name in the stage.
func (s *Stage) File() (f *rawfile.File, name string, err error) {
	name = s.name()
	f, err = s.dir.CreateAt(name, 0o600)
	return f, name, err
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

// sweep removes what killed processes left of carry in a directory.
func sweep(d *Dir) {
	entries, _ := d.ReadDir()
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > abandonedAge {
			_ = d.RemoveAt(e.Name(), false)
		}
	}
}
