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
// the groups that are left. It lives in a session of its own. A second call does
// nothing.
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
// ends the groups that are left: SIGTERM, GuardGrace, SIGKILL.
func Watch(in io.Reader) {
	groups := make(map[int]bool)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if len(line) < 2 {
			continue
		}
		if pid, err := strconv.Atoi(line[1:]); err == nil && pid > 1 {
			groups[pid] = line[0] == '+'
		}
	}
	endGroups(groups)
}

func endGroups(groups map[int]bool) {
	signal := func(sig unix.Signal) (left bool) {
		for pid, there := range groups {
			if there && unix.Kill(-pid, sig) == nil {
				left = true
			}
		}
		return left
	}
	if !signal(unix.SIGTERM) {
		return
	}
	for end := time.Now().Add(GuardGrace); time.Now().Before(end) && signal(0); {
		time.Sleep(10 * time.Millisecond)
	}
	signal(unix.SIGKILL)
}
