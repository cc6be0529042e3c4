package owndir

import (
	"cmp"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
)

// markPrefix is the start of the name of the file that identifies a temporary directory as bento's.
// The inode number of the directory follows, so that a copied, unpacked or committed mark is
// invalid. The maker of the directory keeps the file locked.
const markPrefix = ".bento-made-"

func markOf(dir rawfile.Info) string { return markPrefix + strconv.FormatUint(dir.Serial(), 36) }

// tempAge is the age of a temporary file left from a killed process.
const tempAge = time.Hour

// Temp is a temporary directory of this process.
type Temp struct {
	*Dir
	parent     *Dir
	name, mark string
	lock       *rawfile.File
}

// Temp makes an empty temporary directory in d. Sweep removes those of dead processes.
func (d *Dir) Temp() (*Temp, error) {
	for range 100 {
		t, err := d.claim(RandomName())
		if err == nil {
			return t, nil
		}
		// A concurrent Sweep may have removed the directory between two steps.
		if !errors.Is(err, rawfile.ErrLocked) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "mkdir", Path: d.Path(), Err: fs.ErrExist}
}

func (d *Dir) claim(name string) (*Temp, error) {
	if err := d.guest(); err != nil {
		return nil, err
	}
	if err := d.file.MkdirAt(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := d.Enter(name, false)
	if err != nil {
		return nil, err
	}
	t := &Temp{Dir: dir, name: name}
	if err = t.sign(); err == nil {
		t.parent, err = d.Clone()
	}
	if err != nil {
		if t.lock != nil {
			_ = dir.Remove(t.mark)
			t.lock.Close()
		}
		dir.Close()
		_ = d.RemoveEmpty(name)
		return nil, err
	}
	return t, nil
}

// sign makes the mark in the directory and locks it.
func (t *Temp) sign() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	t.mark = markOf(info)
	if t.lock, err = t.Create(t.mark, 0o666); err != nil {
		t.lock = nil
		return err
	}
	if err := t.lock.TryLock(); err != nil {
		return err
	}
	_, err = t.Stat(t.mark)
	return err
}

// Remove removes the directory with its content, and closes it.
func (t *Temp) Remove() {
	t.parent.removeMarked(t.Dir, t.name, t.mark)
	t.lock.Close()
	t.Close()
	t.parent.Close()
}

// RemoveAll removes the directory name, which must exist, with its content.
func (d *Dir) RemoveAll(name string) error {
	here, err := d.file.Stat()
	if err != nil {
		return err
	}
	return cmp.Or(emptyBelow(d.file, name, here), d.RemoveEmpty(name))
}

// removeMarked removes the directory name, opened as dir, and its mark. It removes the mark last: if
// the process is killed before, the next Sweep continues.
func (d *Dir) removeMarked(dir *Dir, name, mark string) {
	if empty(dir.file, mark) == nil && dir.Remove(mark) == nil {
		_ = d.RemoveEmpty(name)
	}
}

// empty removes the content of a directory except the entry keep. It keeps content on another file
// system, and returns an error for it.
func empty(f *rawfile.File, keep string) error {
	here, err := f.Stat()
	if err != nil {
		return err
	}
	entries, err := f.ReadDir()
	for _, e := range entries {
		if e.Name() == keep {
			continue
		}
		var below error
		if e.IsDir() {
			below = emptyBelow(f, e.Name(), here)
		}
		err = cmp.Or(err, below, f.RemoveAt(e.Name(), e.IsDir()))
	}
	return err
}

func emptyBelow(f *rawfile.File, name string, here rawfile.Info) error {
	sub, err := f.OpenDirAt(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if info, err := sub.Stat(); err != nil || !rawfile.SameDisk(info, here) {
		return &fs.PathError{Op: "remove", Path: sub.Name(), Err: fs.ErrPermission}
	}
	return empty(sub, "")
}

// Sweep removes the temporary directories and files of dead processes. It removes nothing that Temp
// and Replace have not made.
func (d *Dir) Sweep() {
	entries, _ := d.Names()
	for _, e := range entries {
		if e.IsDir() && IsRandomName(e.Name()) {
			d.sweepDir(e.Name())
		}
	}
	d.sweepFiles(entries)
}

// SweepFiles is Sweep for temporary files only.
func (d *Dir) SweepFiles() {
	entries, _ := d.Names()
	d.sweepFiles(entries)
}

func (d *Dir) sweepDir(name string) {
	dir, err := d.Enter(name, false)
	if err != nil {
		return
	}
	defer dir.Close()
	info, err := dir.file.Stat()
	if err != nil {
		return
	}
	lock, _, err := dir.Open(markOf(info))
	if errors.Is(err, fs.ErrNotExist) {
		_ = d.RemoveEmpty(name) // its maker was killed before it made the mark
		return
	}
	if err != nil {
		return
	}
	defer lock.Close()
	if lock.TryLock() == nil {
		d.removeMarked(dir, name, markOf(info))
	}
}

func (d *Dir) sweepFiles(entries []fs.DirEntry) {
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), TempPrefix)
		if !ok || !IsRandomName(rest) {
			continue
		}
		info, err := d.Stat(e.Name())
		if err == nil && info.Mode.IsRegular() && d.trusts(info) && time.Since(info.Modified) > tempAge {
			_ = d.Remove(e.Name())
		}
	}
}
