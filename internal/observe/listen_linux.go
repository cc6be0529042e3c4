//go:build amd64 || arm64

package observe

import (
	"encoding/binary"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
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
	fd      int
	end     *os.File // closed to end the goroutine
	done    sync.WaitGroup
	notes   *notes
	paths   *paths
	limits  *action.Limits // nil for none
	gits    bool           // git was executed: see looksAtAll
	finders finders
	sockets sockets
	pipes   map[string]bool // named pipes that the command has made
	seen    map[string]bool // uses of paths as the calls named them: most calls repeat an earlier one
	key     []byte
	buf     []byte
}

// newListener returns a listener of the filter fd, which denies calls beyond limits. It notes nothing before listen.
func newListener(fd int, root string, limits *action.Limits) *listener {
	return &listener{fd: fd, notes: newNotes(root), paths: newPaths(), limits: limits, sockets: newSockets(), pipes: make(map[string]bool), seen: make(map[string]bool), buf: make([]byte, maxPath)}
}

// listen notes the calls until the last process has ended.
func (l *listener) listen() *listener {
	fd := l.fd
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifSetFlags, syncWakeUp) // Linux 6.6; it only saves time
	read, write, err := os.Pipe()
	if err != nil {
		l.notes.unseen[err.Error()] = true
		unix.Close(fd)
		return l
	}
	l.end = write
	if l.limits != nil && l.limits.OnlyChanges {
		l.notes.unseen["only what changes files was observed"] = true
	}
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
	for path, was := range l.notes.was {
		if f := look(path); !f.absent && f.identity == was {
			l.notes.unchanged(path)
		}
	}
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

// next notes one call, which continues afterwards unless it is denied.
func (l *listener) next() {
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), notifRecv, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return // the caller was killed
	}
	l.notes.calls++
	a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if l.note(&n) {
		a = answer{id: n.id, err: -int32(unix.EACCES)}
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(l.fd), notifSend, uintptr(unsafe.Pointer(&a))) // killed meanwhile
}

// note notes a call, and reports whether it is denied.
func (l *listener) note(n *notification) (denied bool) {
	c, ok := table[uint32(n.nr)]
	switch {
	case n.arch != nativeArch || !ok:
		l.notes.unseen["a program uses another interface of the kernel, such as a 32-bit one"] = true
		return false
	case len(c.operands) == 0:
		l.noteOther(n, c)
		return false
	case n.nr == unix.SYS_RENAMEAT2 && n.args[4]&unix.RENAME_EXCHANGE != 0:
		l.notes.unseen["a program exchanges two files by one call"] = true // both are read, written and still there
	}
	var found [2]found
	for i, o := range c.operands {
		u := usage{Use: o.use, keep: o.keep, executes: c.special == executes, dir: makesDir(n.nr)}
		switch c.special {
		case opens:
			u = usageOfOpen(n.args[c.flags])
		case opens2:
			u = usageOfOpen(l.word(n.pid, n.args[c.flags]))
		case atFlags:
			u.keep = n.args[c.flags]&unix.AT_SYMLINK_NOFOLLOW != 0
		case makes, symlinks:
			u.makes = i == len(c.operands)-1
		}
		if u.Use&(action.Write|action.Remove) == 0 && l.looksAtAll(n, c) {
			continue
		}
		found[i] = l.operand(n, o, u)
		if found[i].denied {
			return true
		}
		if makesNode(n.nr) {
			l.pipes[found[i].path] = true
		}
		if found[i].absent && u.Use&action.Remove != 0 {
			return false // the call fails
		}
	}
	switch {
	case c.special == symlinks:
		l.forgetSeen()
	case c.special == renames && found[0].path != "" && found[1].path != "":
		l.notes.rename(found[0].path, found[1].path, found[0].mode.IsDir())
	case c.special == executes:
		l.noteFinder(n, c, found[0])
		return l.noteProgram(n, found[0], 0)
	}
	return false
}

// noteOther notes a call that names no file.
func (l *listener) noteOther(n *notification, c call) {
	switch c.special {
	case leaves:
		l.notes.unseen["a program changed its root directory or its mounts"] = true
	case handles:
		l.notes.unseen["a program opens files without their paths"] = true
	case clones:
		l.noteClone(n)
	case binds:
		l.noteBind(n)
	case listens:
		l.noteListen(n)
	case connects:
		l.noteConnect(n)
	}
}

// usage says how a call uses a path.
type usage struct {
	action.Use
	keep     bool // a link in the last place is used itself
	makes    bool // the call fails if there is something
	executes bool
	dir      bool   // it makes a directory
	finder   string // the directory in which a finder works that makes the call; "" for another program
}

// usageOfOpen returns what flags of open(2) do.
func usageOfOpen(flags uint64) usage {
	u := usage{Use: action.Read, keep: flags&unix.O_NOFOLLOW != 0} // O_PATH, too: it can be opened again by /proc/self/fd
	switch {
	case flags&unix.O_DIRECTORY != 0:
		u.Use = action.Stat // a file that O_TMPFILE makes there has no name
	case flags&unix.O_PATH != 0:
	case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		u.Use, u.keep, u.makes = action.Write, true, true
	case flags&unix.O_TRUNC != 0:
		u.Use = action.Write
	case flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_CREAT != 0:
		u.Use |= action.Write // the old content stays, if there is one
	}
	return u
}

// operand notes a use of one path of a call.
func (l *listener) operand(n *notification, o operand, u usage) found {
	name := ""
	if o.path != none {
		var ok bool
		if name, ok = l.text(n.pid, n.args[o.path]); !ok {
			return found{} // the kernel cannot read it either, or the caller was killed
		}
	}
	return l.named(n, o.dir, name, u)
}

// named notes a use of the path name, which starts in the directory of an argument.
func (l *listener) named(n *notification, argument int, name string, u usage) found {
	if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/dev/fd/") {
		name = throughProcess(n.pid, name)
	}
	dir := ""
	if name == "" || name[0] != '/' {
		if dir = l.dir(n, argument); dir == "" {
			return found{}
		}
	}
	u.finder = l.finders.dirOf(n.pid, u)
	return l.use(dir, name, u)
}

// use notes a use of the path name in dir.
func (l *listener) use(dir, name string, u usage) found {
	changes := u.Use&(action.Write|action.Remove) != 0
	if !changes && !(u.executes && l.finders.overlook != nil) && l.repeats(dir, name, u) {
		return found{}
	}
	if len(dir)+len(name) >= maxPath {
		l.notes.unseen["a program uses a file whose whole path has more than 4096 bytes"] = true
		return found{}
	}
	f := l.paths.find(dir, name, u.keep, func(link string) {
		if within(l.notes.root, link) {
			l.notes.add(link, action.Read, false)
		}
	})
	switch {
	case u.Use == action.Remove && f.absent: // it is missing, as the caller wants it
	case changes && (f.lost || u.makes && !f.absent), u.Use&action.Remove != 0 && f.absent:
		u.Use = action.Stat // the call fails
	case changes && f.absent:
		u.Use = action.Write
	case u.Use&action.Write != 0 && f.mode.IsDir():
		u.Use = action.Stat // only its mode changes
	}
	if changes && !f.absent && !f.mode.IsRegular() {
		l.paths.forget() // what changes its name may be a directory or a link
		if f.mode&fs.ModeSymlink != 0 {
			l.forgetSeen()
		}
	}
	if f.denied = l.denies(f, u); f.denied {
		delete(l.seen, string(l.key)) // the same call is denied again
		return f
	}
	if !l.finders.overlooks(f, u) {
		l.add(f, u.Use)
	}
	return f
}

// denies reports whether the limits deny a use of what was found, and notes that.
func (l *listener) denies(f found, u usage) bool {
	if l.limits == nil || f.path == "" || !within(l.notes.root, f.path) {
		return false
	}
	change := u.Use&(action.Write|action.Remove) != 0
	reads := u.Use&action.Read != 0 && !f.absent && f.mode&(fs.ModeDir|fs.ModeSymlink) == 0
	if !change && !reads || l.limits.Allows(f.path, change, u.dir || f.mode.IsDir()) {
		return false
	}
	l.notes.deny(f.path, u.Use, f.absent)
	return true
}

// add notes a use of what was found.
func (l *listener) add(f found, use action.Use) {
	if f.mode&fs.ModeNamedPipe != 0 && use&(action.Read|action.Write) != 0 && !l.pipes[f.path] {
		l.notes.servers["a program uses "+f.path+", a named pipe that the task did not make"] = true
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
		if use&(action.Write|action.Remove) != 0 && !f.absent {
			l.notes.willChange(f.path, f.identity)
		}
		l.notes.add(f.path, use, f.absent)
	}
}

// repeats reports whether a call is as one before, which needs no second note.
func (l *listener) repeats(dir, name string, u usage) bool {
	kind := byte(u.Use)
	if u.keep {
		kind |= 0x80
	}
	if u.executes {
		kind |= 0x40
	}
	l.key = append(append(append(append(l.key[:0], kind), dir...), 0), name...)
	if u.finder != "" {
		l.key = append(append(l.key, 0), u.finder...)
	}
	if l.seen[string(l.key)] {
		return true
	}
	if len(l.seen) >= maxFiles {
		l.forgetSeen()
	}
	l.seen[string(l.key)] = true
	return false
}

// forgetSeen forgets the calls, whose paths may lead elsewhere now. A new map, since clear takes as long as the
// map was ever large.
func (l *listener) forgetSeen() { l.seen = make(map[string]bool) }

// dir returns the directory that relative paths of a call start in, "" if it has none.
func (l *listener) dir(n *notification, argument int) string {
	l.key = append(strconv.AppendUint(append(l.key[:0], "/proc/"...), uint64(n.pid), 10), "/cwd\x00"...)
	if argument != cwd && int32(n.args[argument]) != unix.AT_FDCWD {
		l.key = append(strconv.AppendInt(append(l.key[:len(l.key)-4], "fd/"...), int64(int32(n.args[argument])), 10), 0)
	}
	size, _, errno := unix.Syscall6(unix.SYS_READLINKAT, ^uintptr(99), uintptr(unsafe.Pointer(&l.key[0])), uintptr(unsafe.Pointer(&l.buf[0])), uintptr(len(l.buf)), 0, 0)
	switch {
	case errno == unix.ENAMETOOLONG:
		l.notes.unseen["a program works in a directory whose path has more than 4096 bytes"] = true
		return ""
	case errno == unix.EACCES || errno == unix.EPERM:
		l.notes.unseen["a program keeps its memory from being read"] = true
		return ""
	case errno != 0 || l.buf[0] != '/': // a pipe, for example
		return ""
	}
	dir := string(l.buf[:size])
	if strings.HasSuffix(dir, " (deleted)") && look(dir).absent {
		return "" // nothing can be found there
	}
	return dir
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
