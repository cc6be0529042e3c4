// Package sandbox runs programs that may access only what a Policy names, as far as the kernel can
// enforce it.
//
// On Linux, Landlock confines files and a seccomp filter denies the network (landlock(7),
// seccomp(2)). Neither needs privileges or other programs, both apply to all descendants, and
// neither can be undone. Other systems enforce nothing, as Offered reports.
//
// A process confines itself: Start runs this same program with Command as its first argument; there
// Enter drops the rights and executes the wanted program. Files that are open then stay open, so
// Start passes on only the three standard streams and the files of its caller.
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

// Policy describes the files and the network that a program may access. The program can neither read
// nor change other files, but it may see that they exist, and change mode, owner and times of those
// that the user owns: Landlock does not control that.
type Policy struct {
	// Read are absolute paths that may be read and executed: a file, or a directory with its
	// content. Missing paths are skipped.
	Read []string
	// Write are absolute paths that may be changed too. Each must exist.
	Write []string
	// Hide are absolute paths of directories that the program sees as empty, except the paths of
	// Write in them, and where it can create nothing. It needs a mount namespace
	// (mount_namespaces(7)), which many containers forbid.
	Hide []string
	// Network allows sockets. Without it no socket of any kind can be made, since a local service
	// may lead to the network as well.
	Network bool
	// Tasks limits the processes and threads of the program and its descendants, 0 for no limit. If a
	// cgroup of the kernel's pids controller can be made, the limit is exact. Otherwise the limit is
	// Tasks plus the number on the machine at the start, and applies to all processes of the user
	// (RLIMIT_NPROC), but not to root.
	Tasks int
}

// Offer is what the kernel can enforce.
type Offer struct {
	Landlock int  // ABI version, 0 for none
	Seccomp  bool // filters of system calls, for this architecture
}

// truncates is the first version of Landlock that prevents truncating a read-only file. Older ones do
// not protect the content of files.
const truncates = 3

// Lacks returns the parts of a policy that the kernel cannot enforce, nil if it can enforce all.
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

// Command is the first argument of a program that must call Enter.
const Command = "__confine"

// Start starts s under p, as far as the kernel supports it. self is the path of a program that calls
// Enter for Command. It returns an error when the program could not be started or confined; then it
// does not run. A Program among s.Files, /proc/self/fd/3 and so on, may be executed too. The program
// has no other descriptors than its standard ones and s.Files. If the kernel can enforce no part,
// Start is proc.Start.
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
	// The pipe comes last and leaves the descriptors of s unchanged.
	fd := strconv.Itoa(firstFile + len(s.Files))
	command := func() []string {
		return slices.Concat([]string{self, Command, fd, s.Program}, p.args(group), s.Argv)
	}
	with := s
	with.Argv, with.Program, with.Files = command(), "", append(slices.Clip(s.Files), theirs)
	with.Mounts = len(p.Hide) > 0
	started, err := proc.Start(with)
	if err != nil && with.Mounts {
		p.Hide, with.Mounts = nil, false // without the namespace the mounts would be visible everywhere
		with.Argv = command()
		started, err = proc.Start(with)
	}
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

// Wait is proc.Process.Wait. It also removes the child's group.
func (p *Process) Wait(ctx context.Context) proc.Result {
	res := p.Process.Wait(ctx)
	p.group.remove()
	return res
}

// firstFile is the descriptor of the first of proc.Spec.Files.
const firstFile = 3

// enterTime is the longest wait for the helper, which only makes a few system calls.
const enterTime = 30 * time.Second

// maxReport is the largest report of a helper in bytes.
const maxReport = 4 << 10

// entered waits until the helper has executed the program, which closes the pipe, or has reported
// why it could not.
func entered(report *os.File) error {
	if err := report.SetReadDeadline(time.Now().Add(enterTime)); err != nil {
		return err
	}
	reported, err := io.ReadAll(io.LimitReader(report, maxReport))
	if err != nil {
		return fmt.Errorf("confine: no report from the helper: %w", err)
	}
	if len(reported) > 0 {
		return errors.New(string(reported))
	}
	return nil
}

// args encodes a policy and its group as arguments with any bytes; "--" ends them.
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
	for _, path := range p.Hide {
		list = append(list, "h"+path)
	}
	if p.Network {
		list = append(list, "n")
	}
	return append(list, "--")
}

// parse decodes the arguments of args, and returns the rest.
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
		case strings.HasPrefix(arg, "h/"):
			p.Hide = append(p.Hide, arg[1:])
		case strings.HasPrefix(arg, "w/"):
			p.Write = append(p.Write, arg[1:])
		default:
			return p, g, nil, fmt.Errorf("argument %q: expected g/PATH, tNUMBER, r/PATH, w/PATH, h/PATH, n or --", arg)
		}
	}
	return p, g, nil, errors.New("no program is named")
}

// System returns the directories with the files that programs need to run. None contains data of
// users.
func System() []string {
	return []string{
		"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/var/lib",
		"/proc", "/sys",
		"/nix", "/gnu", "/snap", "/home/linuxbrew/.linuxbrew", "/run/current-system",
		"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", // targets of /etc/resolv.conf
	}
}

// devices returns the files that every program may read and write: they have no data.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}
