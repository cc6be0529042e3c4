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

// markPrefix begins the name of the file that marks a temporary directory as made by
// bento. The number of the directory itself follows, so that a mark that was copied,
// unpacked or committed marks nothing. Its maker keeps it locked.
const markPrefix = ".bento-made-"

func markOf(dir rawfile.Info) string { return markPrefix + strconv.FormatUint(dir.Serial(), 36) }

// tempAge is the age from which on a temporary file is one that a killed process left.
const tempAge = time.Hour

// Temp is a temporary directory of this process.
type Temp struct {
	*Dir
	parent     *Dir
	name, mark string
	lock       *rawfile.File
}

// Temp makes an empty temporary directory in d. Those of processes that died are removed
// by Sweep.
func (d *Dir) Temp() (*Temp, error) {
	for range 100 {
		t, err := d.claim(RandomName())
		if err == nil {
			return t, nil
		}
		// A sweeper may have come between two of the steps.
		if !errors.Is(err, rawfile.ErrLocked) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "mkdir", Path: d.Path(), Err: fs.ErrExist}
}

func (d *Dir) claim(name string) (*Temp, error) {
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

// sign puts the mark into the directory and locks it.
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

// Remove removes the directory with all that is in it, and closes it.
func (t *Temp) Remove() {
	t.parent.removeMarked(t.Dir, t.name, t.mark)
	t.lock.Close()
	t.Close()
	t.parent.Close()
}

// removeMarked removes the directory name, which dir is and mark marks. The mark goes
// last: whoever is killed before leaves it to the next sweep.
func (d *Dir) removeMarked(dir *Dir, name, mark string) {
	if empty(dir.file, mark) == nil && dir.Remove(mark) == nil {
		_ = d.RemoveEmpty(name)
	}
}

// empty removes all that is in a directory but what is named keep. What lies on another
// file system stays, and is an error.
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

// Sweep removes the temporary directories of processes that died, and their temporary
// files. It removes nothing that Temp and Replace have not made.
func (d *Dir) Sweep() {
	entries, _ := d.Names()
	for _, e := range entries {
		if e.IsDir() && IsRandomName(e.Name()) {
			d.sweepDir(e.Name())
		}
	}
	d.sweepFiles(entries)
}

// SweepFiles is Sweep for the temporary files alone.
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
		_ = d.RemoveEmpty(name) // its maker was killed before it came to the mark
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
