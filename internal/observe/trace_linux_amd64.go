package observe

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
)

// startTraced starts s, and has the child install the filter before the first instruction of its program: this process
// traces it meanwhile, and makes system calls in its place. That needs no further program to start. ok is false if
// the child cannot be traced: then nothing was started.
func (x *Executor) startTraced(s proc.Spec) (p *process, err error, ok bool) {
	p = &process{}
	var failure error
	s.Entered = func(pid, pidfd int) {
		t := tracee{pid: pid}
		var fd int
		var refused error
		if fd, refused, failure = t.install(pidfd); refused != nil {
			p.unseen = refused.Error()
		} else if failure == nil {
			l := newListener(fd, x.Root, nil)
			l.finders = newFinders(x.overlook)
			program := cmp.Or(s.Program, s.Argv[0])
			l.noteFirst(pid, program)
			l.finders.becomes(uint32(pid), program, s.Argv)
			p.listener = l.listen()
		}
		if failure == nil {
			failure = t.release()
		}
		switch {
		case errors.Is(failure, errEnded), errors.Is(failure, unix.ESRCH): // as a signal wanted
			p.unseen, failure = errEnded.Error(), nil
		case failure != nil:
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	p.Process, err = proc.StartUnwatched(s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err, true
	case err != nil: // perhaps that of ptrace(2)
		return nil, nil, false
	case failure != nil: // such as for a program that may not be read
		p.Wait(context.Background())
		return nil, nil, false
	}
	return p, nil, true
}

// tracee is a child that stands before the first instruction of its program. Its methods are for the thread that
// has started it.
type tracee struct {
	pid     int
	first   unix.PtraceRegs // the registers there
	text    uint64          // the instructions there
	signals []unix.Signal   // those that it has not received yet
}

// stub is "syscall" and "int3".
const (
	stub     = 0xcc050f
	stubMask = 0xffffff
)

const codeSegment64 = 0x33

// install installs the filter in the child and returns its listener. refused is the reason why the system does not
// allow that; after a failure the child cannot continue.
func (t *tracee) install(pidfd int) (fd int, refused, failure error) {
	if failure = t.enter(); failure != nil {
		return -1, nil, failure
	}
	fprog, failure := t.place(filter(false))
	if failure != nil {
		return -1, nil, failure
	}
	call := func(nr uintptr, args ...uint64) int64 {
		var result int64
		if failure == nil {
			result, failure = t.call(nr, args...)
		}
		return result
	}
	set := func(flags uintptr) (int, unix.Errno) {
		fd := call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uint64(flags), fprog)
		return int(fd), unix.Errno(max(0, -fd))
	}
	theirs, refused := installBy(set, func() error {
		if errno := call(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); errno != 0 {
			return unix.Errno(-errno)
		}
		return nil
	})
	if failure != nil || refused != nil {
		return -1, refused, failure
	}
	if fd, failure = unix.PidfdGetfd(pidfd, theirs, 0); failure != nil {
		return -1, nil, failure
	}
	if call(unix.SYS_CLOSE, uint64(theirs)); failure != nil {
		unix.Close(fd)
	}
	return fd, nil, failure
}

// enter waits until the child stands there, and places stub.
func (t *tracee) enter() error {
	if err := t.wait(); err != nil {
		return err
	}
	if err := unix.PtraceGetRegs(t.pid, &t.first); err != nil {
		return err
	}
	if t.first.Cs != codeSegment64 {
		return errors.New("it is a 32-bit program")
	}
	var word [8]byte
	if _, err := unix.PtracePeekText(t.pid, uintptr(t.first.Rip), word[:]); err != nil {
		return err
	}
	t.text = binary.LittleEndian.Uint64(word[:])
	return t.write(t.text&^stubMask | stub)
}

// write replaces the instructions there.
func (t *tracee) write(text uint64) error {
	_, err := unix.PtracePokeText(t.pid, uintptr(t.first.Rip), binary.LittleEndian.AppendUint64(nil, text))
	return err
}

// place writes a filter to the unused memory below the stack of the child, and returns the address of its
// struct sock_fprog.
func (t *tracee) place(program []unix.SockFilter) (uint64, error) {
	const header, margin = 16, 256
	size := len(program) * int(unsafe.Sizeof(program[0]))
	at := (t.first.Rsp - uint64(header+size+margin)) &^ 15
	memory := binary.LittleEndian.AppendUint64(nil, uint64(len(program)))
	memory = binary.LittleEndian.AppendUint64(memory, at+header)
	memory = append(memory, unsafe.Slice((*byte)(unsafe.Pointer(&program[0])), size)...)
	local := []unix.Iovec{{Base: &memory[0], Len: uint64(len(memory))}}
	n, err := unix.ProcessVMWritev(t.pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(memory)}}, 0)
	if err == nil && n < len(memory) {
		err = errors.New("its stack is too small")
	}
	return at, err
}

// call makes a system call in the child and returns its result, a negative errno for an error.
func (t *tracee) call(nr uintptr, args ...uint64) (int64, error) {
	regs := t.first
	regs.Orig_rax, regs.Rax = ^uint64(0), uint64(nr) // no call that is to be repeated
	for i, to := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8}[:len(args)] {
		*to = args[i]
	}
	if err := unix.PtraceSetRegs(t.pid, &regs); err != nil {
		return 0, err
	}
	if err := unix.PtraceCont(t.pid, 0); err != nil {
		return 0, err
	}
	if err := t.wait(); err != nil {
		return 0, err
	}
	err := unix.PtraceGetRegs(t.pid, &regs)
	return int64(regs.Rax), err
}

// The parts of siginfo_t of waitid(2).
const (
	trapped        = 4 // CLD_TRAPPED
	offsetOfStatus = 24
)

// errEnded is the error of a child that was killed meanwhile.
var errEnded = errors.New("it ended before its first instruction")

// wait waits until the child has stopped at the end of stub, or before its first instruction. Signals that come
// meanwhile wait until release.
func (t *tracee) wait() error {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, t.pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		signal := unix.Signal(*(*int32)(unsafe.Add(unsafe.Pointer(&info), offsetOfStatus)))
		switch {
		case info.Code != trapped:
			return errEnded
		case signal == unix.SIGTRAP:
			return nil
		}
		t.signals = append(t.signals, signal)
		if err := unix.PtraceCont(t.pid, 0); err != nil {
			return err
		}
	}
}

// release lets the child continue as if nothing had happened.
func (t *tracee) release() error {
	if err := t.write(t.text); err != nil {
		return err
	}
	if err := unix.PtraceSetRegs(t.pid, &t.first); err != nil {
		return err
	}
	for _, s := range t.signals {
		_ = unix.Kill(t.pid, s) // it waits until the child goes on, which may end soon
	}
	return unix.PtraceDetach(t.pid)
}
