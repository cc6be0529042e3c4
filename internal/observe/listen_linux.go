//go:build amd64 || arm64

package observe

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

// The requests of a listener (linux/seccomp.h).
const (
	notifRecv     = 0xc0502100
	notifSend     = 0xc0182101
	notifSetFlags = 0x40082104
	syncWakeUp    = 1 // the answer wakes the caller on this processor
)

// notification is struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// listener notes the calls of one execution, in one goroutine.
type listener struct {
	fd    int
	end   *os.File // closed to end the goroutine
	done  sync.WaitGroup
	notes *notes
	paths *paths
	seen  map[string]bool // uses of paths as the calls named them: most calls repeat an earlier one
	key   []byte
	buf   []byte
}

// listen notes the calls that fd delivers until the last process has ended.
func listen(fd int, root string) *listener {
	l := &listener{fd: fd, notes: newNotes(root), paths: newPaths(), seen: make(map[string]bool), buf: make([]byte, maxPath)}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifSetFlags, syncWakeUp) // Linux 6.6; it only saves time
	read, write, err := os.Pipe()
	if err != nil {
		l.notes.unseen[err.Error()] = true
		unix.Close(fd)
		return l
	}
	l.end = write
	l.done.Go(func() {
		// The goroutine waits in system calls most of the time.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer unix.Close(fd)
		defer read.Close()
		l.serve(int(read.Fd()))
	})
	return l
}

// stop ends the notes. A process that is still there can use no file any more.
func (l *listener) stop() {
	if l == nil || l.end == nil {
		return
	}
	l.end.Close()
	l.done.Wait()
}

func (l *listener) serve(end int) {
	fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(end), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil {
			continue // interrupted
		}
		switch {
		case fds[0].Revents&unix.POLLIN != 0:
			l.next()
		case fds[0].Revents != 0, fds[1].Revents != 0:
			return
		}
	}
}

// next notes one call, which continues afterwards.
func (l *listener) next() {
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), notifRecv, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return // the caller was killed
	}
	l.note(&n)
	a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), notifSend, uintptr(unsafe.Pointer(&a))) // killed meanwhile
}

func (l *listener) note(n *notification) {
	c, ok := table[uint32(n.nr)]
	switch {
	case n.arch != nativeArch || !ok:
		l.notes.unseen["a program uses another interface of the kernel, such as a 32-bit one"] = true
		return
	case c.special == leaves:
		l.notes.unseen["a program changed its root directory or its mounts"] = true
		return
	case c.special == clones:
		l.noteClone(n)
		return
	}
	var found [2]found
	for i, o := range c.operands {
		use := o.use
		switch c.special {
		case opens:
			use, o.keep = useOfOpen(n.args[c.flags])
		case opens2:
			use, o.keep = useOfOpen(l.word(n.pid, n.args[c.flags]))
		case atFlags:
			o.keep = n.args[c.flags]&unix.AT_SYMLINK_NOFOLLOW != 0
		}
		found[i] = l.operand(n, o, use, c.special == makes && i == len(c.operands)-1)
		if found[i].absent && use&action.Remove != 0 {
			return // the call fails
		}
	}
	switch {
	case c.special == renames && found[0].path != "" && found[1].path != "":
		l.notes.rename(found[0].path, found[1].path, found[0].mode.IsDir())
	case c.special == executes:
		l.noteProgram(found[0], 0)
	}
}

// useOfOpen returns what flags of open(2) do, and whether a link in the last place is used itself.
func useOfOpen(flags uint64) (action.Use, bool) {
	keep := flags&unix.O_NOFOLLOW != 0
	switch {
	case flags&unix.O_PATH != 0:
		return action.Stat, keep
	case flags&unix.O_TRUNC != 0:
		return action.Write, keep
	case flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_CREAT != 0:
		return action.Read | action.Write, keep // the old content stays, if there is one
	default:
		return action.Read, keep
	}
}

// operand notes a use of one path of a call. A call that makes fails if there is something.
func (l *listener) operand(n *notification, o operand, use action.Use, makes bool) found {
	name := ""
	if o.path != none {
		var ok bool
		if name, ok = l.text(n.pid, n.args[o.path]); !ok {
			return found{} // the kernel cannot read it either, or the caller was killed
		}
	}
	dir := ""
	if name == "" || name[0] != '/' {
		if dir = l.dir(n, o.dir); dir == "" {
			return found{}
		}
	}
	return l.use(dir, name, use, o.keep, makes)
}

// use notes a use of the path name in dir.
func (l *listener) use(dir, name string, use action.Use, keep, makes bool) found {
	changes := use&(action.Write|action.Remove) != 0
	if !changes {
		l.key = append(l.key[:0], byte(use))
		if keep {
			l.key[0] |= 0x80
		}
		l.key = append(append(append(l.key, dir...), 0), name...)
		if l.seen[string(l.key)] {
			return found{}
		}
		l.seen[string(l.key)] = true
	}
	f := l.paths.find(dir, name, keep, func(link string) {
		if within(l.notes.root, link) {
			l.notes.add(link, action.Read, false)
		}
	})
	switch {
	case changes && makes && !f.absent, use&action.Remove != 0 && f.absent:
		use = action.Stat // the call fails
	case changes && f.absent:
		use = action.Write
	}
	if use&(action.Write|action.Remove) != 0 && !f.absent && !f.mode.IsRegular() {
		l.paths.forget() // what changes its name may be a directory or a link
	}
	switch {
	case f.path == "":
	case !within(l.notes.root, f.path):
		if use&action.Read != 0 && !f.absent && f.mode.IsRegular() {
			l.notes.addOutside(f.path)
		}
	case use == action.Read && f.mode.IsDir():
		l.notes.add(f.path, action.Stat, false) // it may be listed, which is another call
	default:
		l.notes.add(f.path, use, f.absent)
	}
	return f
}

// dir returns the directory that relative paths of a call start in, "" if it has none.
func (l *listener) dir(n *notification, argument int) string {
	l.key = append(strconv.AppendUint(append(l.key[:0], "/proc/"...), uint64(n.pid), 10), "/cwd\x00"...)
	if argument != cwd && int32(n.args[argument]) != unix.AT_FDCWD {
		l.key = append(strconv.AppendInt(append(l.key[:len(l.key)-4], "fd/"...), int64(int32(n.args[argument])), 10), 0)
	}
	size, _, errno := unix.Syscall6(unix.SYS_READLINKAT, ^uintptr(99), uintptr(unsafe.Pointer(&l.key[0])), uintptr(unsafe.Pointer(&l.buf[0])), uintptr(len(l.buf)), 0, 0)
	if errno != 0 || l.buf[0] != '/' {
		return ""
	}
	return string(l.buf[:size])
}

// word returns the 64 bits at an address of a process, 0 if they cannot be read.
func (l *listener) word(pid uint32, address uint64) uint64 {
	if l.memory(pid, address, l.buf[:8]) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(l.buf)
}

// noteClone notes a process that sees other files.
func (l *listener) noteClone(n *notification) {
	if l.word(n.pid, n.args[0])&(unix.CLONE_NEWNS|unix.CLONE_NEWUSER) != 0 {
		l.notes.unseen["a program changed its root directory or its mounts"] = true
	}
}
