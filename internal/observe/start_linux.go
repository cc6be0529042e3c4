//go:build amd64 || arm64

package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// firstFile is the descriptor of the first of proc.Spec.Files.
const firstFile = 3

// enterTime is the longest wait for the helper, which only makes a few system calls.
const enterTime = 30 * time.Second

// maxMessage is the largest message of a helper in bytes.
const maxMessage = 4 << 10

// The first byte of a message of the helper. Its end of the socket is closed when it executes the program.
const (
	observed   = 'o' // with the listener of the filter
	unobserved = 'u' // and the reason: the program runs without a filter
	failed     = 'e' // and the reason why the program was not executed
)

// onlyChanges follows the descriptor in the arguments of the helper if only calls that change files are stopped.
const onlyChanges = "c"

// start starts s and observes it, if the system can. The error is one of starting the program, or of limits that
// the system cannot enforce.
func (x *Executor) start(s proc.Spec, limits *action.Limits) (*process, error) {
	if why := Offered(); why != "" {
		if limits != nil {
			return nil, errors.New(why)
		}
		child, err := proc.Start(s)
		return &process{Process: child, unseen: why}, err
	}
	if limits == nil {
		if p, err, ok := x.startTraced(s); ok {
			return p, err
		}
	}
	return x.startByHelper(s, limits)
}

// startByHelper starts s by a helper that installs the filter on itself. It takes longer than startTraced and works
// where that does not.
func (x *Executor) startByHelper(s proc.Spec, limits *action.Limits) (*process, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	with := s
	// The socket comes last and leaves the descriptors of s unchanged.
	fd := strconv.Itoa(firstFile + len(s.Files))
	if limits != nil && limits.OnlyChanges {
		fd += onlyChanges
	}
	with.Argv = slices.Concat([]string{x.Name, Command, fd, s.Program}, s.Argv)
	with.Program, with.Files = x.Self, append(slices.Clip(s.Files), theirs)
	child, err := proc.Start(with)
	theirs.Close()
	if err != nil {
		return nil, err
	}
	p := &process{Process: child, overlook: x.overlook}
	if err := p.entered(ours, x.Root, limits); err != nil {
		child.Kill()
		p.Wait(context.Background())
		return nil, err
	}
	return p, nil
}

func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	// The helper waits for nothing that it sends.
	return os.NewFile(uintptr(fds[0]), "observe"), os.NewFile(uintptr(fds[1]), "observe"), nil
}

// entered listens to the helper until it has executed the program.
func (p *process) entered(socket *os.File, root string, limits *action.Limits) error {
	if err := socket.SetReadDeadline(time.Now().Add(enterTime)); err != nil {
		return err
	}
	for {
		kind, text, fd, err := receive(socket)
		switch {
		case err != nil:
			return fmt.Errorf("observe: no report from the helper: %w", err)
		case kind == observed && fd >= 0:
			l := newListener(fd, root, limits)
			l.finders = newFinders(p.overlook)
			p.listener = l.listen()
		case kind == unobserved && limits != nil:
			return errors.New(text)
		case kind == unobserved:
			p.unseen = text
		case kind == failed:
			return errors.New(text)
		default:
			return nil // the program runs
		}
	}
}

// receive returns the next message of the helper: kind is 0 after the last, fd -1 for none.
func receive(socket *os.File) (kind byte, text string, fd int, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, "", -1, err
	}
	buf, control := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	var n, controls int
	readErr := raw.Read(func(s uintptr) bool {
		n, controls, _, _, err = unix.Recvmsg(int(s), buf, control, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err = cmp.Or(readErr, err); err != nil || n == 0 {
		return 0, "", -1, err
	}
	return buf[0], string(buf[1:n]), descriptor(control[:controls]), nil
}

// descriptor returns the descriptor in a control message, -1 for none.
func descriptor(control []byte) int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

// Enter installs the filter in a program that was started with Command, and executes the wanted program;
// args are the arguments after Command. It returns only on failure, with the reason, which it also sends to Start.
func Enter(args []string) error {
	if len(args) < 3 {
		return errors.New("observe: no program is named")
	}
	number, changes := strings.CutSuffix(args[0], onlyChanges)
	socket, err := strconv.Atoi(number)
	if err != nil || socket < firstFile {
		return fmt.Errorf("observe: %q is no descriptor to report to", args[0])
	}
	syscall.CloseOnExec(socket)
	// Only this thread has the filter, and it executes the program.
	runtime.LockOSThread()
	program, argv, environment := args[1], args[2:], os.Environ()
	path := cmp.Or(program, argv[0])
	if fd, err := install(changes); err != nil {
		send(socket, unobserved, err.Error(), nil)
	} else {
		send(socket, observed, "", unix.UnixRights(fd))
	}
	err = &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, argv, environment)}
	send(socket, failed, err.Error(), nil)
	return err
}

func send(socket int, kind byte, text string, rights []byte) {
	message := string(kind) + text
	_ = unix.Sendmsg(socket, []byte(message[:min(len(message), maxMessage)]), rights, nil, 0) // Start may have ended
}

// Refused returns "", or the reason why nothing can be observed here. The first call installs a filter on a thread,
// which has it until this process ends: with the thread the children that it has forked before for other goroutines
// would end (golang.org/issue/27505).
var Refused = sync.OnceValue(func() string {
	why := Offered()
	if why != "" {
		return why
	}
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // nothing else runs on it
		fd, err := install(false)
		if err != nil {
			why = err.Error()
		} else {
			unix.Close(fd)
		}
		close(done)
		select {}
	}()
	<-done
	return why
})

// Offered returns "", or the reason why nothing can be observed here: Linux 5.5 can continue a call that was
// stopped, older kernels cannot.
func Offered() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return os.NewSyscallError("uname", err).Error()
	}
	release := unix.ByteSliceToString(name.Release[:])
	var major, minor int
	_, _ = fmt.Sscanf(release, "%d.%d", &major, &minor)
	if major < 5 || major == 5 && minor < 5 {
		return fmt.Sprintf("Linux %s cannot show which files a program uses: required 5.5 or newer", release)
	}
	return ""
}
