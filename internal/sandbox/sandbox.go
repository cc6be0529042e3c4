// Package sandbox runs programs that may touch only what a Policy names, as far as
// the kernel can see to it.
//
// On Linux files are confined with Landlock, and the network is taken away with a
// seccomp filter (landlock(7), seccomp(2)). Neither needs rights or other programs,
// both hold for all descendants, and neither can be undone. Elsewhere nothing can be
// enforced, and Offered says so.
//
// A process confines itself: Start runs this same program once more, with Command as
// its first argument, and there Enter takes the rights away and becomes the program
// that was wanted. What is open by then stays open, so Start hands down nothing but
// the three standard streams and the files of its caller.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/proc"
)

// Policy says what a program may touch. The rest of the files it may neither read
// nor change, but it may see that they are there, and change the mode, owner and
// times of those that belong to the user: Landlock has no say in that.
type Policy struct {
	// Read are absolute paths: a file, or a directory with all that is in it, that
	// may be read and run. Those that do not exist are passed over.
	Read []string
	// Write are absolute paths that may be changed too. Each has to exist.
	Write []string
	// Network allows sockets. Without, none of any kind can be made, since one of a
	// local service may be a way to the network as well.
	Network bool
	// Tasks bounds how many processes and threads the program and its descendants may
	// have at once, 0 for no bound. Where a cgroup of the kernel's pids controller can be
	// made it counts exactly them. Elsewhere it is added to what the machine runs at the
	// start and counts all of the user's (RLIMIT_NPROC), which root is not bound by.
	Tasks int
}

// Offer is what the kernel can enforce.
type Offer struct {
	Landlock int  // the version of its interface (ABI), 0 for none
	Seccomp  bool // filters of system calls, for this kind of machine
}

// truncates is the version of Landlock from which a file that may not be written may
// not be cut either. Older ones do not keep a program from destroying.
const truncates = 3

// Lacks says what of a policy the kernel cannot enforce, nothing when it can all.
func (o Offer) Lacks() []string {
	var list []string
	switch {
	case o.Landlock == 0:
		list = append(list, "it cannot keep a program from reading and writing files (no Landlock)")
	case o.Landlock < truncates:
		list = append(list, fmt.Sprintf("it cannot keep a program from truncating files (Landlock %d, from %d on it could)", o.Landlock, truncates))
	}
	if !o.Seccomp {
		list = append(list, "it cannot keep a program from the network (no seccomp filters)")
	}
	return list
}

// Command is the first argument with which a program has to call Enter.
const Command = "__confine"

// Start starts s under p, as far as the kernel offers it. self is the path of a
// program that calls Enter for Command, which is this one or nobody's. The error
// says that the program could not be started or confined; then it does not run.
// A Program among s.Files, /proc/self/fd/3 and so on, may be executed as well. Where nothing can be enforced it is proc.Start.
func Start(s proc.Spec, p Policy, self string) (*Process, error) {
	if Offered() == (Offer{}) {
		child, err := proc.Start(s)
		return &Process{Process: child}, err
	}
	report, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer report.Close()
	group := newGroup(p.Tasks)
	// The pipe comes last, so that the descriptors of s are what s says.
	fd := strconv.Itoa(firstFile + len(s.Files))
	s.Argv = slices.Concat([]string{self, Command, fd, s.Program}, p.args(group), s.Argv)
	s.Program, s.Files = "", append(slices.Clip(s.Files), theirs)
	started, err := proc.Start(s)
	theirs.Close()
	if err != nil {
		group.remove()
		return nil, err
	}
	child := &Process{Process: started, group: group}
	if err := entered(report); err != nil {
		child.Kill()
		child.Wait(context.Background())
		return nil, err
	}
	return child, nil
}

// Process is a confined child.
type Process struct {
	*proc.Process
	group group
}

// Wait waits as that of the proc.Process does. Nothing of the child is left then.
func (p *Process) Wait(ctx context.Context) proc.Result {
	res := p.Process.Wait(ctx)
	p.group.remove()
	return res
}

// firstFile is the descriptor of the first of proc.Spec.Files.
const firstFile = 3

// enterTime bounds the wait for a helper that does nothing but a few system calls.
const enterTime = 30 * time.Second

// maxReport bounds what a helper has to say.
const maxReport = 4 << 10

// entered waits until the helper has become the program, which closes the pipe, or
// says why it could not.
func entered(report *os.File) error {
	if err := report.SetReadDeadline(time.Now().Add(enterTime)); err != nil {
		return err
	}
	said, err := io.ReadAll(io.LimitReader(report, maxReport))
	if err != nil {
		return fmt.Errorf("confine: no word from the helper: %w", err)
	}
	if len(said) > 0 {
		return errors.New(string(said))
	}
	return nil
}

// args writes a policy and its group as arguments, which hold any path; "--" is the
// end.
func (p Policy) args(g group) []string {
	var list []string
	if g != "" {
		list = append(list, "g"+string(g))
	}
	if p.Tasks > 0 {
		list = append(list, "t"+strconv.Itoa(p.Tasks))
	}
	for _, path := range p.Read {
		list = append(list, "r"+path)
	}
	for _, path := range p.Write {
		list = append(list, "w"+path)
	}
	if p.Network {
		list = append(list, "n")
	}
	return append(list, "--")
}

// parse reads what args wrote, and gives the rest.
func parse(args []string) (p Policy, g group, argv []string, err error) {
	for i, arg := range args {
		switch {
		case arg == "--" && i+1 < len(args):
			return p, g, args[i+1:], nil
		case strings.HasPrefix(arg, "g/"):
			g = group(arg[1:])
		case strings.HasPrefix(arg, "t"):
			if p.Tasks, err = strconv.Atoi(arg[1:]); err != nil || p.Tasks <= 0 {
				return p, g, nil, fmt.Errorf("argument %q: expected t and a number", arg)
			}
		case arg == "n":
			p.Network = true
		case strings.HasPrefix(arg, "r/"):
			p.Read = append(p.Read, arg[1:])
		case strings.HasPrefix(arg, "w/"):
			p.Write = append(p.Write, arg[1:])
		default:
			return p, g, nil, fmt.Errorf("argument %q: expected g/PATH, tNUMBER, r/PATH, w/PATH, n or --", arg)
		}
	}
	return p, g, nil, errors.New("no program is named")
}

// System are the places where a system keeps what programs need to run. None of
// them is a user's.
func System() []string {
	return []string{
		"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/var/lib",
		"/proc", "/sys",
		"/nix", "/gnu", "/snap", "/home/linuxbrew/.linuxbrew", "/run/current-system",
		"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", // where /etc/resolv.conf may lead
	}
}

// devices are files that every program may read and write: they hold nothing.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}
