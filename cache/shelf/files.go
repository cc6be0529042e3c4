package shelf

import (
	"errors"
	"io/fs"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// openFile opens a file. What is none, or is not there, is ErrAbsent.
func (s *Shelf) openFile(kind int, sum [32]byte, suffix string) (f *rawfile.File, info rawfile.Info, err error) {
	err = s.in(kind, sum, false, func(dir *owndir.Dir, name string) (err error) {
		f, info, err = dir.Open(name + suffix)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrAbsent
	}
	return f, info, err
}

func (s *Shelf) stat(kind int, sum [32]byte, suffix string) (info rawfile.Info, err error) {
	err = s.in(kind, sum, false, func(dir *owndir.Dir, name string) (err error) {
		info, err = dir.Stat(name + suffix)
		return err
	})
	return info, err
}

// touch stamps a file as used, if that is allowed, and reports whether it is there.
func (s *Shelf) touch(kind int, sum [32]byte, suffix string, now time.Time) (there bool) {
	_ = s.in(kind, sum, false, func(dir *owndir.Dir, name string) error {
		there = dir.Touch(name+suffix, now)
		return nil
	})
	return there
}

func (s *Shelf) remove(kind int, sum [32]byte, suffix string) error {
	return s.in(kind, sum, false, func(dir *owndir.Dir, name string) error { return dir.Remove(name + suffix) })
}

// draft is a file that is being written in tmp.
type draft struct {
	*rawfile.File
	name string
}

// create makes a file in tmp.
func (s *Shelf) create() (*draft, error) {
	d, err := s.tryCreate()
	if errors.Is(err, fs.ErrNotExist) { // somebody has removed the cache since it was opened
		s.now.Store(nil)
		d, err = s.tryCreate()
	}
	return d, err
}

func (s *Shelf) tryCreate() (d *draft, err error) {
	err = s.with(true, func(f *format) error {
		dir, done, err := f.temp(true)
		if err != nil {
			return err
		}
		defer done()
		for {
			d = &draft{name: owndir.RandomName()}
			if d.File, err = dir.Create(d.name, 0o444); !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	})
	return d, err
}

// publish moves a written file to its place, unless err says that it was not written
// well; then, or when that fails, it is removed.
func (s *Shelf) publish(d *draft, kind int, sum [32]byte, suffix string, err error) error {
	return s.end(d, err, func(f *format, tmp *owndir.Dir) error {
		err := s.moveTo(tmp, d, place{kind, sum, suffix})
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the directory
			f.kinds[kind].Store(nil)
			f.shards[kind][sum[0]].Store(nil)
			err = s.moveTo(tmp, d, place{kind, sum, suffix})
		}
		return err
	})
}

type place struct {
	kind   int
	sum    [32]byte
	suffix string
}

func (s *Shelf) moveTo(tmp *owndir.Dir, d *draft, to place) error {
	return s.in(to.kind, to.sum, true, func(dir *owndir.Dir, name string) error {
		return tmp.Move(d.name, dir, name+to.suffix)
	})
}

// end closes a written file and has move move it out of tmp.
func (s *Shelf) end(d *draft, err error, move func(f *format, tmp *owndir.Dir) error) error {
	if info, e := d.Stat(); e == nil {
		s.added.Add(blocks(info.Size))
	}
	if e := d.Close(); err == nil {
		err = e
	}
	return s.with(false, func(f *format) error {
		tmp, done, e := f.temp(false)
		if e != nil {
			return e
		}
		defer done()
		if err == nil {
			err = move(f, tmp)
		}
		if err != nil {
			_ = tmp.Remove(d.name)
		}
		return err
	})
}
