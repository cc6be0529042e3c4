package shelf

import (
	"errors"
	"io"
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
		s.newest.Store(nil)
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

// publish moves a written file to its place, as used then, unless err says that it was
// not written well; then, or when that fails, it is removed.
func (s *Shelf) publish(d *draft, to place, used time.Time, err error) error {
	if info, e := d.Stat(); e == nil {
		s.added.Add(blocks(info.Size)) // before it counts on the disk, should we be killed
	}
	if e := d.Touch(used); err == nil {
		err = e
	}
	return s.end(d, err, func(f *format, tmp *owndir.Dir) error {
		err := s.moveTo(tmp, d, to)
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the directory
			f.kinds[to.kind].Store(nil)
			f.shards[to.kind][to.sum[0]].Store(nil)
			err = s.moveTo(tmp, d, to)
		}
		return err
	})
}

// note puts a file of the shelf's own in place of what was there, or removes what was
// there when it cannot. Where nothing was ever stored, none is made.
func (s *Shelf) note(name string, data []byte) {
	if _, err := s.current(false); err != nil {
		return
	}
	d, err := s.create()
	if err == nil {
		_, err = d.Write(data)
		err = s.end(d, err, func(f *format, tmp *owndir.Dir) error { return tmp.Move(d.name, f.Dir, name) })
	}
	if err != nil {
		s.forget(name)
	}
}

// forget removes a file of the shelf's own.
func (s *Shelf) forget(name string) {
	_ = s.with(false, func(f *format) error { return f.Remove(name) })
}

// noted returns what such a file holds, which is so many bytes. One with another size or a
// second name, which may be anybody's, is none.
func (s *Shelf) noted(name string, size int) (data []byte, ok bool) {
	err := s.with(false, func(f *format) error {
		file, info, err := f.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if ok = info.Size == int64(size) && info.Links() <= 1; ok {
			data = make([]byte, size)
			_, err = io.ReadFull(file, data)
		}
		return err
	})
	return data, ok && err == nil
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
