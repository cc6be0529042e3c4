package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Root is an open directory where Readers start. It is safe for concurrent use.
type Root struct {
	path  string
	fd    int
	dev   uint64
	ino   uint64
	local uint64 // its file system if it is local, else 0
}

func OpenRoot(root string) (*Root, error) {
	fd, err := openAt(unix.AT_FDCWD, root, unix.O_DIRECTORY)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	p := &Root{path: root, fd: fd}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		p.dev, p.ino = st.Dev, st.Ino
		if local(fd) {
			p.local = st.Dev
		}
	}
	return p, nil
}

// ListStamp returns the stamp of a directory. settled reports whether every later change of its list
// of names changes the stamp: the file system is local, and the last change was long ago.
func ListStamp(dir string) (s Stamp, settled bool) {
	looked := time.Now().UnixNano()
	p, err := OpenRoot(dir)
	if err != nil {
		return s, false
	}
	defer p.Close()
	var e Entry
	if err := p.Reader().StatPath("", &e); err != nil {
		return s, false
	}
	return e.Stamp(), p.local != 0 && e.LongAgo(looked)
}

// IsThere reports whether the path of the directory still leads to it.
func (p *Root) IsThere() bool {
	var st unix.Stat_t
	return unix.Stat(p.path, &st) == nil && st.Dev == p.dev && st.Ino == p.ino
}

// Close closes the directory. Later reads fail.
func (p *Root) Close() {
	unix.Close(p.fd)
	p.fd = -1 // another file may soon get the number
}

// Reader reads one directory at a time. It reuses its buffers, so that a file costs one system call
// and no allocation.
type Reader struct {
	root   *Root
	fd     int
	prompt bool // the open directory is local, so no call waits for another machine
	buf    []byte
	names  []byte // each followed by a NUL
	Items  []Item
	name   []byte // argument of a call, followed by a NUL
}

func (p *Root) Reader() *Reader {
	return &Reader{root: p, fd: -1}
}

// Open opens the directory rel, "" for the root. It follows no link in the last element. dev is the
// known file system of the directory, else 0.
func (s *Reader) Open(rel string, dev uint64) error {
	fd, err := openBelow(s.root.fd, rel, unix.O_DIRECTORY)
	s.fd, s.prompt = fd, s.isPrompt(dev)
	return err
}

// isPrompt reports whether a file system is local, so that no call waits for another machine.
func (s *Reader) isPrompt(dev uint64) bool { return dev == s.root.local && dev != 0 }

func (s *Reader) Close() {
	unix.Close(s.fd)
	s.fd = -1
}

// Sizes of the directory buffer in bytes: small until a directory has many names.
const (
	fewNames  = 4 << 10
	manyNames = 32 << 10
)

// List reads the names of the open directory.
func (s *Reader) List() error {
	s.names, s.Items = s.names[:0], s.Items[:0]
	if s.buf == nil {
		s.buf = make([]byte, fewNames)
	}
	for {
		n, err := unix.Getdents(s.fd, s.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			return s.resolve()
		}
		s.take(s.buf[:n])
		if n > fewNames/2 && len(s.buf) == fewNames {
			s.buf = make([]byte, manyNames)
		}
	}
}

// take reads a buffer of struct linux_dirent64: inode and offset of 8 bytes, then
// record length (2), type (1), name and NUL.
func (s *Reader) take(buf []byte) {
	const lenAt, typeAt, nameAt = 16, 18, 19
	for len(buf) > nameAt {
		size := int(binary.NativeEndian.Uint16(buf[lenAt:]))
		if size <= nameAt || size > len(buf) {
			return
		}
		name := buf[nameAt:size]
		name = name[:max(0, bytes.IndexByte(name, 0))]
		if kind := kindOfType(buf[typeAt]); !isDots(name) {
			s.Items = append(s.Items, Item{off: uint32(len(s.names)), len: uint32(len(name)), Kind: kind})
			s.names = append(append(s.names, name...), 0)
		}
		buf = buf[size:]
	}
}

func isDots(name []byte) bool {
	return len(name) == 0 || name[0] == '.' && (len(name) == 1 || len(name) == 2 && name[1] == '.')
}

// kindOfType returns 0 if the file system reports no type.
func kindOfType(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return File
	case unix.DT_LNK:
		return Link
	case unix.DT_DIR:
		return Dir
	case unix.DT_UNKNOWN:
		return 0
	}
	return Special
}

// resolve finds the kinds of entries without a type. An entry without a result stays Special, and
// fails in stat.
func (s *Reader) resolve() error {
	for i := range s.Items {
		if s.Items[i].Kind == 0 {
			e := Entry{Kind: Special}
			_ = s.Stat(&s.Items[i], &e)
			s.Items[i].Kind = e.Kind
		}
	}
	return nil
}

// Stat sets all fields of e but its path.
func (s *Reader) Stat(it *Item, e *Entry) error {
	return s.stat(s.fd, &s.names[it.off], unix.AT_SYMLINK_NOFOLLOW, e)
}

// StatName is Stat for a name that may be unlisted.
func (s *Reader) StatName(name string, e *Entry) error {
	s.name = append(append(s.name[:0], name...), 0)
	return s.stat(s.fd, &s.name[0], unix.AT_SYMLINK_NOFOLLOW, e)
}

// StatSelf is Stat for the open directory itself.
func (s *Reader) StatSelf(e *Entry) error {
	s.name = append(s.name[:0], 0)
	err := s.stat(s.fd, &s.name[0], unix.AT_EMPTY_PATH, e)
	s.prompt = err == nil && s.isPrompt(e.Dev)
	return err
}

// StatPath is Stat for a path relative to the root, "" for the root itself.
func (s *Reader) StatPath(rel string, e *Entry) error {
	s.name = append(append(s.name[:0], rel...), 0)
	if rel == "" {
		return s.stat(s.root.fd, &s.name[0], unix.AT_EMPTY_PATH, e)
	}
	return s.stat(s.root.fd, &s.name[0], unix.AT_SYMLINK_NOFOLLOW, e)
}

// StatBelow is StatPath for a path in a directory of the file system dev.
func (s *Reader) StatBelow(rel string, dev uint64, e *Entry) error {
	s.name = append(append(s.name[:0], rel...), 0)
	return s.statWith(s.isPrompt(dev), s.root.fd, &s.name[0], unix.AT_SYMLINK_NOFOLLOW, e)
}

// stat reads the stat of name, which ends in a NUL, in the directory fd.
func (s *Reader) stat(fd int, name *byte, flags int, e *Entry) error {
	return s.statWith(s.prompt && fd == s.fd, fd, name, flags, e)
}

func (s *Reader) statWith(prompt bool, fd int, name *byte, flags int, e *Entry) error {
	return statAt(prompt, fd, name, flags, e)
}

// Stat sets all fields of e but its path, which is relative to the directory. Unlike Reader.Stat it
// needs no buffer: it is for single files.
func (p *Root) Stat(e *Entry) error {
	var name [256]byte // most paths are shorter, and it stays on the stack
	if e.Path == "." || path.IsAbs(e.Path) || len(e.Path) >= len(name) || strings.IndexByte(e.Path, 0) >= 0 {
		return lstat(p.path, e)
	}
	copy(name[:], e.Path)
	return statAt(false, p.fd, &name[0], unix.AT_SYMLINK_NOFOLLOW, e)
}

func statAt(prompt bool, fd int, name *byte, flags int, e *Entry) error {
	var st unix.Statx_t
	for {
		switch errno := statx(prompt, fd, name, flags, &st); errno {
		case 0:
			fillStatx(e, &st)
			return nil
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM: // an old kernel or container runtime
			return oldStat(fd, unix.BytePtrToString(name), flags, e)
		default:
			return errno
		}
	}
}

// statx does not notify the scheduler before a prompt call, which cannot block for long: that would
// cost a tenth of a walk.
func statx(prompt bool, fd int, name *byte, flags int, st *unix.Statx_t) (errno syscall.Errno) {
	if prompt {
		_, _, errno = unix.RawSyscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(name)),
			uintptr(flags), unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
		return errno
	}
	_, _, errno = unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(name)),
		uintptr(flags), unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
	return errno
}

func fillStatx(e *Entry, st *unix.Statx_t) {
	e.Kind = kindOfMode(uint32(st.Mode))
	e.Mode = os.FileMode(st.Mode & 0o777)
	e.Size = int64(st.Size)
	e.Mtime = st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec)
	e.Ctime = st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec)
	e.Ino, e.Dev, e.Links = st.Ino, unix.Mkdev(st.Dev_major, st.Dev_minor), st.Nlink
}

func oldStat(fd int, name string, flags int, e *Entry) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, flags); err != nil {
		return err
	}
	fillStat(e, &st)
	return nil
}

func fillStat(e *Entry, st *unix.Stat_t) {
	e.Kind = kindOfMode(st.Mode)
	e.Mode = os.FileMode(st.Mode & 0o777)
	e.Size = st.Size
	e.Mtime, e.Ctime = st.Mtim.Nano(), st.Ctim.Nano()
	e.Ino, e.Dev, e.Links = st.Ino, uint64(st.Dev), uint32(st.Nlink)
}

func kindOfMode(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFLNK:
		return Link
	case unix.S_IFDIR:
		return Dir
	}
	return Special
}

// openBelow is openat for paths of any length: it opens a path that is too long for the kernel
// directory by directory.
func openBelow(fd int, rel string, flags int) (int, error) {
	const most = unix.PathMax - 1
	start := fd
	for len(rel) > most {
		cut := strings.LastIndexByte(rel[:most], '/')
		if cut < 0 {
			break // one name of that length: the kernel reports the error
		}
		next, err := openAt(fd, rel[:cut], unix.O_DIRECTORY)
		if fd != start {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, rel = next, rel[cut+1:]
	}
	if rel == "" {
		rel = "."
	}
	got, err := openAt(fd, rel, flags|unix.O_NOFOLLOW)
	if fd != start {
		unix.Close(fd)
	}
	return got, err
}

func openAt(fd int, path string, flags int) (int, error) {
	for {
		got, err := unix.Openat(fd, path, flags|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return got, err
		}
	}
}

// Read returns the content of a regular file of the open directory, "" when there is none. It
// ignores a link, as git does.
func (s *Reader) Read(name string, limit int64) (string, error) {
	fd, err := openAt(s.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return ReadRegular(f, limit)
}
