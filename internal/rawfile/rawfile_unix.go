//go:build unix

package rawfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/killpoint"
)

// File is an open file or directory.
type File struct {
	fd     int
	name   string // for errors
	locked bool   // by TryLock
}

type identity struct{ dev, ino uint64 }

func (a identity) same(b identity) bool { return a == b }

func (a identity) serial() uint64 { return a.ino }

func (a identity) disk() uint64 { return a.dev }

func (a identity) sameDisk(b identity) bool { return a.dev == b.dev }

// OpenDir opens the directory at path. It follows links.
func OpenDir(path string) (*File, error) {
	return openAt(unix.AT_FDCWD, path, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// OpenDirAt opens the directory name in f; a link is an error.
func (f *File) OpenDirAt(name string) (*File, error) {
	return openAt(f.fd, name, f.join(name), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// OpenAt opens the file name in the directory f for reading; a link is an error. It opens a named
// pipe or a device without waiting; Stat reports the kind.
func (f *File) OpenAt(name string) (*File, error) {
	return openAt(f.fd, name, f.join(name), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// OpenFileAt opens name with the flags of package os. It does not wait for the other end of a named pipe.
func (f *File) OpenFileAt(name string, flags int, perm fs.FileMode) (*File, error) {
	return openAt(f.fd, name, f.join(name), flags|unix.O_NONBLOCK|unix.O_NOFOLLOW, perm)
}

// CreateAt makes the file name in the directory f for reading and writing. It returns an error when
// name exists.
func (f *File) CreateAt(name string, perm fs.FileMode) (*File, error) {
	return openAt(f.fd, name, f.join(name), unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, perm)
}

// UpdateAt opens the file name in the directory f for reading and writing, and makes a missing one.
// It does not truncate the file. A link is an error, as for OpenAt.
func (f *File) UpdateAt(name string, perm fs.FileMode) (*File, error) {
	return openAt(f.fd, name, f.join(name), unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
}

// Again opens the directory f a second time.
func (f *File) Again() (*File, error) {
	return openAt(f.fd, ".", f.name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// Std turns f into an *os.File, which then owns the descriptor.
func (f *File) Std() *os.File {
	file := os.NewFile(uintptr(f.fd), f.name)
	f.fd = -1
	return file
}

// Open opens the file at path for reading, as OpenAt does.
func Open(path string) (*File, error) {
	return openAt(unix.AT_FDCWD, path, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

// Of returns the File of an open descriptor, which it then owns.
func Of(fd int, name string) *File { return &File{fd: fd, name: name} }

// Lstat returns the information about path; it does not follow a link.
func Lstat(path string) (Info, error) {
	info, err := lstat(unix.AT_FDCWD, path)
	if err != nil {
		err = &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return info, err
}

func openAt(dir int, name, full string, flags int, perm fs.FileMode) (*File, error) {
	f := &File{fd: -1, name: full}
	if flags&unix.O_CREAT != 0 {
		killpoint.Point()
	}
	return f, f.do("open", func() (err error) {
		f.fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, uint32(perm.Perm()))
		return err
	})
}

// do repeats a system call until no signal interrupts it.
func (f *File) do(op string, call func() error) error {
	for {
		switch err := call(); {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return &fs.PathError{Op: op, Path: f.name, Err: err}
		}
	}
}

func (f *File) join(name string) string { return f.name + "/" + name }

// at makes a system call on name in the directory f.
func (f *File) at(op, name string, call func() error) error {
	err := call()
	for errors.Is(err, unix.EINTR) {
		err = call()
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: f.join(name), Err: err}
	}
	return nil
}

// Name returns the path of the file, below that of its directory.
func (f *File) Name() string { return f.name }

// Fd returns the descriptor.
func (f *File) Fd() uintptr { return uintptr(f.fd) }

// Close closes the file and releases its lock, whatever other processes have the file open.
func (f *File) Close() error {
	if f.fd < 0 {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	if f.locked { // a child that has not executed its program yet has the file open, too
		_ = unix.Flock(f.fd, unix.LOCK_UN)
	}
	err := unix.Close(f.fd) // EINTR closes it too
	f.fd = -1
	if err != nil && !errors.Is(err, unix.EINTR) {
		return &fs.PathError{Op: "close", Path: f.name, Err: err}
	}
	return nil
}

// Sync waits until the content of the file is on the disk.
func (f *File) Sync() error { return f.do("sync", func() error { return unix.Fsync(f.fd) }) }

// Read implements io.Reader.
func (f *File) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = f.do("read", func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (n int, err error) { return killpoint.Write(f.write, p) }

func (f *File) write(p []byte) (n int, err error) {
	for n < len(p) {
		err = f.do("write", func() error {
			m, err := unix.Write(f.fd, p[n:])
			n += max(m, 0)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(p []byte, at int64) (n int, err error) {
	killpoint.Point()
	for n < len(p) {
		err = f.do("write", func() error {
			m, err := unix.Pwrite(f.fd, p[n:], at+int64(n))
			n += max(m, 0)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		err = f.do("read", func() error {
			m, err := unix.Pread(f.fd, p[n:], at+int64(n))
			if m <= 0 && err == nil {
				err = io.EOF
			}
			n += max(m, 0)
			return err
		})
		if errors.Is(err, io.EOF) {
			return n, io.EOF
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (at int64, err error) {
	err = f.do("seek", func() (err error) {
		at, err = unix.Seek(f.fd, offset, whence)
		return err
	})
	return at, err
}

// Rewind sets the offset of the next Read or Write to 0.
func (f *File) Rewind() error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// Chmod sets the permission bits.
func (f *File) Chmod(mode fs.FileMode) error {
	killpoint.Point()
	return f.do("chmod", func() error { return unix.Fchmod(f.fd, uint32(mode.Perm())) })
}

// Stat returns the information about the file.
func (f *File) Stat() (info Info, err error) {
	var st unix.Stat_t
	if err = f.do("stat", func() error { return unix.Fstat(f.fd, &st) }); err == nil {
		info = infoOf(&st)
	}
	return info, err
}

// LstatAt returns the information about name in the directory f.
func (f *File) LstatAt(name string) (Info, error) {
	info, err := lstat(f.fd, name)
	if err != nil {
		err = &fs.PathError{Op: "lstat", Path: f.join(name), Err: err}
	}
	return info, err
}

func lstat(dir int, name string) (info Info, err error) {
	var st unix.Stat_t
	for {
		switch err = unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case err == nil:
			return infoOf(&st), nil
		case !errors.Is(err, unix.EINTR):
			return info, err
		}
	}
}

func infoOf(st *unix.Stat_t) Info {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return Info{
		Mode: mode, Size: st.Size, Modified: time.Unix(st.Mtim.Unix()),
		Changed: time.Unix(st.Ctim.Unix()).UnixNano(),
		id:      identity{dev: uint64(st.Dev), ino: st.Ino}, links: uint64(st.Nlink), owner: st.Uid, owned: true, setgid: st.Mode&unix.S_ISGID != 0,
	}
}

func is(err error, errno syscall.Errno) bool { return errors.Is(err, errno) }
