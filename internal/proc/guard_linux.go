package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GuardGrace is the time between SIGTERM and SIGKILL that a guard gives.
const GuardGrace = time.Second

// Guard starts argv (argv[0] is what the program is called, path what is run), a
// program that calls Watch with its standard input. From then on it is told of
// every child's group, and when this process dies, however that happens, it ends
// the groups that are left, and what has left them and carries a mark of this process.
// It lives in a session of its own. A second call does nothing.
func Guard(path string, argv ...string) error {
	kin.mu.Lock()
	defer kin.mu.Unlock()
	if kin.guard != nil {
		return nil
	}
	kin.adopt()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return err
	}
	defer null.Close()
	guard, err := os.StartProcess(path, argv, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{r, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return err
	}
	kin.strangers[guard.Pid] = true
	kin.guard = w // held until this process ends
	kin.tell('=', os.Getpid())
	for pid := range kin.leaders {
		kin.tell('+', pid)
	}
	return guard.Release()
}

// tell tells the guard, if there is one, of a child that came or went. The pipe has
// room for thousands of these.
func (k *family) tell(what byte, pid int) {
	if k.guard != nil {
		fmt.Fprintf(k.guard, "%c%d\n", what, pid)
	}
}

// Watch is the guard: it reads what its parent tells until that is gone, and then
// ends what is left: SIGTERM, GuardGrace, SIGKILL.
func Watch(in io.Reader) {
	left := remains{groups: make(map[int]bool)}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if len(line) < 2 {
			continue
		}
		pid, err := strconv.Atoi(line[1:])
		switch {
		case err != nil || pid <= 1:
		case line[0] == '=':
			left.of = pid
		default:
			left.groups[pid] = line[0] == '+'
		}
	}
	left.end()
}

// remains is what a process that died may have left behind.
type remains struct {
	of     int          // its pid
	groups map[int]bool // its children's, and whether they were there at last
}

func (r *remains) end() {
	if !r.signal(unix.SIGTERM) {
		return
	}
	for end := time.Now().Add(GuardGrace); time.Now().Before(end) && r.signal(0); {
		time.Sleep(10 * time.Millisecond)
	}
	r.signal(unix.SIGKILL)
}

// signal sends sig to all that is left, and tells whether there was anything.
func (r *remains) signal(sig unix.Signal) (left bool) {
	for pid, there := range r.groups {
		if there && unix.Kill(-pid, sig) == nil {
			left = true
		}
	}
	for _, pid := range r.marked() {
		if unix.Kill(pid, sig) == nil {
			left = true
		}
	}
	return left
}

// marked gives the processes that carry a mark of the one that died.
func (r *remains) marked() (pids []int) {
	names, err := os.ReadDir("/proc")
	if err != nil || r.of == 0 {
		return nil
	}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err == nil && pid != os.Getpid() && int(readMark(pid)>>32) == r.of {
			pids = append(pids, pid)
		}
	}
	return pids
}
