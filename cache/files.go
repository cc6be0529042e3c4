package cache

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// openFile opens a regular file. It returns ErrMiss for anything else.
func (s *Disk) openFile(kind int, sum [32]byte, suffix string) (f *rawfile.File, info rawfile.Info, err error) {
	err = s.in(kind, sum, false, func(dir *owndir.Dir, name string) (err error) {
		f, info, err = dir.Open(name + suffix)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrMiss
	}
	return f, info, err
}

// stat returns the information about a file.
func (s *Disk) stat(kind int, sum [32]byte, suffix string) (info rawfile.Info, err error) {
	err = s.below(kind, sum, suffix, func(all *owndir.Dir, path string) (err error) {
		info, err = all.Stat(path)
		return err
	})
	return info, err
}

// touch sets the last use of a file, if permitted, and reports whether the file exists.
func (s *Disk) touch(kind int, sum [32]byte, suffix string, now time.Time) (there bool) {
	_ = s.below(kind, sum, suffix, func(all *owndir.Dir, path string) error {
		if there = all.Touch(path, now); !there {
			return fs.ErrNotExist
		}
		return nil
	})
	return there
}

// below calls do with the directory of all shards and the path of a file in it. It opens no shard. Open
// shards for many files would fill the table of descriptors. While the kernel enlarges the table, a
// process with several threads waits 10 ms and more.
func (s *Disk) below(kind int, sum [32]byte, suffix string, do func(all *owndir.Dir, path string) error) error {
	return s.with(false, func(f *format) error {
		all, done, err := f.kind(kind, false)
		if err != nil {
			return err
		}
		defer done()
		path := make([]byte, 0, 2*len(sum)+1+len(compressed))
		path = append(hex.AppendEncode(path, sum[:1]), '/')
		checked := &f.checked[kind][sum[0]]
		if !checked.Load() {
			if err := all.Check(string(path[:2])); err != nil {
				return err
			}
		}
		err = do(all, string(append(hex.AppendEncode(path, sum[1:]), suffix...)))
		if err == nil {
			checked.Store(true) // not of a missing shard, which anyone may make yet
		}
		return err
	})
}

func (s *Disk) remove(kind int, sum [32]byte, suffix string) error {
	return s.in(kind, sum, false, func(dir *owndir.Dir, name string) error { return dir.Remove(name + suffix) })
}

// draft is a file that is being written in tmp.
type draft struct {
	*rawfile.File
	name string
}

// create makes a file in tmp.
func (s *Disk) create() (*draft, error) {
	d, err := s.tryCreate()
	if errors.Is(err, fs.ErrNotExist) { // the cache was removed since it was opened
		s.newest.Store(nil)
		d, err = s.tryCreate()
	}
	return d, err
}

func (s *Disk) tryCreate() (d *draft, err error) {
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

// justNow is the largest difference between the time of a written file and its use for which publish does
// not set the time. That saves a system call.
const justNow = 20 * time.Millisecond

// publish moves a written file to its place and sets its last use. If err is not nil, writing has failed,
// and publish removes the file. It also removes the file on an error of its own.
func (s *Disk) publish(d *draft, to place, used time.Time, err error) error {
	info, e := d.Stat()
	if e == nil {
		s.added.Add(blocks(info.Size)) // counted first, in case the process is killed
	}
	if err == nil && (e != nil || used.Sub(info.Modified).Abs() > justNow) {
		err = d.Touch(used)
	}
	return s.end(d, err, func(f *format, tmp *owndir.Dir) error {
		err := s.moveTo(tmp, d, to)
		if errors.Is(err, fs.ErrNotExist) { // the directory was removed
			f.kinds[to.kind].Store(nil)
			f.shards[to.kind][to.sum[0]].Store(nil)
			err = s.moveTo(tmp, d, to)
		}
		return err
	})
}

// note replaces one of the store's own files, or removes the old file if that fails. It makes no file in a
// store without entries.
func (s *Disk) note(name string, data []byte) {
	if _, err := s.current(false); err != nil {
		return
	}
	d, err := s.create()
	if err == nil {
		_, err = d.Write(data)
		err = s.end(d, err, func(f *format, tmp *owndir.Dir) error { return tmp.MoveOver(d.name, f.Dir, name) })
	}
	if err != nil {
		s.forget(name)
	}
}

// forget removes one of the store's own files.
func (s *Disk) forget(name string) {
	_ = s.with(false, func(f *format) error { return f.Remove(name) })
}

// noted returns the content of such a file, of at most limit bytes. It ignores a larger file, and a file
// with a second hard link, which any user may have made.
func (s *Disk) noted(name string, limit int) (data []byte, ok bool) {
	err := s.with(false, func(f *format) error {
		file, info, err := f.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if ok = info.Size <= int64(limit) && info.Links() <= 1; ok {
			data = make([]byte, info.Size)
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

func (s *Disk) moveTo(tmp *owndir.Dir, d *draft, to place) error {
	return s.in(to.kind, to.sum, true, func(dir *owndir.Dir, name string) error {
		return tmp.Move(d.name, dir, name+to.suffix)
	})
}

// end closes a written file and calls move to move it out of tmp.
func (s *Disk) end(d *draft, err error, move func(f *format, tmp *owndir.Dir) error) error {
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
