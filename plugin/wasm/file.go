package wasm

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasisys "github.com/tetratelabs/wazero/sys"

	"github.com/bentobuild/bento/internal/rawfile"
)

// file is an open file or directory of a jail.
type file struct {
	sys.UnimplementedFile
	f          *rawfile.File // perhaps the root of the jail, which stays open
	closed     bool
	at         int64  // offset of the next Read or Write
	name       string // resolved, below the root of the jail
	jail       *jail
	dir        bool
	write, add bool
	listed     bool
	list       []sys.Dirent // the entries that Readdir has not returned yet
}

// maxListed is how many entries of a directory a module sees.
const maxListed = 1 << 20

func (f *file) stat() (wasisys.Stat_t, sys.Errno) {
	info, err := f.f.Stat()
	if err != nil {
		return wasisys.Stat_t{}, errno(err)
	}
	return statOf(info), 0
}

// Dev implements sys.File.
func (f *file) Dev() (uint64, sys.Errno) {
	st, e := f.stat()
	return st.Dev, e
}

// Ino implements sys.File.
func (f *file) Ino() (wasisys.Inode, sys.Errno) {
	st, e := f.stat()
	return st.Ino, e
}

// IsDir implements sys.File.
func (f *file) IsDir() (bool, sys.Errno) { return f.dir, 0 }

// IsAppend implements sys.File.
func (f *file) IsAppend() bool { return f.add }

// Stat implements sys.File.
func (f *file) Stat() (wasisys.Stat_t, sys.Errno) { return f.stat() }

// Read implements sys.File.
func (f *file) Read(b []byte) (int, sys.Errno) {
	n, err := f.f.Read(b)
	f.at += int64(n)
	return n, ioErrno(err)
}

// Pread implements sys.File.
func (f *file) Pread(b []byte, at int64) (int, sys.Errno) {
	if at < 0 {
		return 0, sys.EINVAL
	}
	n, err := f.f.ReadAt(b, at)
	return n, ioErrno(err)
}

func ioErrno(err error) sys.Errno {
	if err == nil || errors.Is(err, io.EOF) {
		return 0
	}
	return errno(err)
}

// position is an offset in a file. With int64 in its place, go vet would take Seek for that of io.Seeker.
type position = int64

// Seek implements sys.File.
func (f *file) Seek(offset position, whence int) (int64, sys.Errno) {
	if f.dir {
		if offset == 0 && whence == io.SeekStart {
			f.listed, f.list = false, nil
			return 0, 0
		}
		return 0, sys.EISDIR
	}
	n, err := f.f.Seek(offset, whence)
	if err == nil {
		f.at = n
	}
	return n, errno(err)
}

// Readdir implements sys.File. It leaves out hidden names.
func (f *file) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if !f.listed {
		if e := f.fill(); e != 0 {
			return nil, e
		}
	}
	if n <= 0 || n > len(f.list) {
		n = len(f.list)
	}
	list := f.list[:n]
	f.list = f.list[n:]
	return list, 0
}

func (f *file) fill() sys.Errno {
	f.jail.observed.names(f.name)
	entries, err := f.f.ReadDirTo(maxListed)
	if err != nil {
		return errno(err)
	}
	for _, e := range entries {
		if f.jail.write || !isHidden(e.Name()) {
			f.list = append(f.list, sys.Dirent{Name: e.Name(), Type: e.Type()})
		}
	}
	slices.SortFunc(f.list, func(a, b sys.Dirent) int { return strings.Compare(a.Name, b.Name) })
	f.listed = true
	return 0
}

// Write implements sys.File.
func (f *file) Write(b []byte) (int, sys.Errno) {
	if !f.write {
		return 0, sys.EBADF
	}
	if e := f.jail.budget.spend(len(b), f.at+int64(len(b))); e != 0 {
		return 0, e
	}
	n, err := f.f.Write(b)
	f.at += int64(n)
	return n, errno(err)
}

// Pwrite implements sys.File.
func (f *file) Pwrite(b []byte, at int64) (int, sys.Errno) {
	if !f.write || f.add {
		return 0, sys.EBADF
	}
	if e := f.jail.budget.spend(len(b), at+int64(len(b))); e != 0 {
		return 0, e
	}
	n, err := f.f.WriteAt(b, at)
	return n, errno(err)
}

// Truncate implements sys.File.
func (f *file) Truncate(size int64) sys.Errno {
	if !f.write {
		return sys.EBADF
	}
	if size < 0 {
		return sys.EINVAL
	}
	if e := f.jail.budget.spend(0, size); e != 0 {
		return e
	}
	return errno(f.f.Truncate(size))
}

// Sync implements sys.File. The outputs of a task need not survive a crash.
func (f *file) Sync() sys.Errno { return 0 }

// Datasync implements sys.File.
func (f *file) Datasync() sys.Errno { return 0 }

// Close implements sys.File.
func (f *file) Close() sys.Errno {
	if f.closed {
		return 0
	}
	f.closed = true
	f.jail.budget.open--
	if f.f == f.jail.root {
		return 0
	}
	return errno(f.f.Close())
}
