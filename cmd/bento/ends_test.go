//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// endOf is a way in which a run ends.
type endOf struct {
	name    string
	program string         // default: bento
	task    string         // the arguments of bento run
	sig     syscall.Signal // sent to bento once the task has started
	exit    int
	again   bool // repeats the signal until bento has ended
	killed  bool // bento dies without the chance to end its tasks
}

var ends = []endOf{
	{name: "success", task: "good", exit: exitOK},
	{name: "failure", task: "bad", exit: exitTask},
	{name: "timeout", task: "slow", exit: exitTask},
	{name: "interrupt", task: "wait", sig: syscall.SIGINT, exit: exitInterrupted},
	{name: "interrupt twice", task: "wait", sig: syscall.SIGINT, again: true, exit: -1, killed: true},
	{name: "terminate", task: "wait", sig: syscall.SIGTERM, exit: exitInterrupted},
	{name: "hangup", task: "wait", sig: syscall.SIGHUP, exit: exitInterrupted},
	{name: "kill", task: "wait", sig: syscall.SIGKILL, exit: -1, killed: true},
	{name: "panic", program: "bento-panics", task: "wait e:then", exit: 2, killed: true},
}

// TestNothingIsLeft: no process of a task is left after a run, not even one in the background, however
// the run ends. BENTO_TEST_ENDS is the number of rounds.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	hearHangup()
	rounds, _ := strconv.Atoi(os.Getenv("BENTO_TEST_ENDS"))
	for round := range max(1, rounds) {
		for _, e := range ends {
			t.Run(fmt.Sprintf("%s/%d", e.name, round), func(t *testing.T) {
				t.Parallel()
				e.try(t, round%10 == 0)
			})
		}
	}
}

// signal sends the signal. It waits before it repeats it: the kernel merges equal pending signals.
func (e endOf) signal(p *os.Process, ended <-chan struct{}) {
	if e.sig == 0 {
		return
	}
	_ = p.Signal(e.sig)
	for e.again {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
			_ = p.Signal(e.sig)
		}
	}
}

// try runs one task to its end. With stubborn, a child of the task ignores SIGTERM.
func (e endOf) try(t *testing.T, stubborn bool) {
	root := t.TempDir()
	children := "sleep 300 & (sleep 300; true) & "
	if stubborn {
		children += "(trap '' TERM INT HUP; sleep 300; true) & "
	}
	if !e.killed {
		children += "setsid sleep 300 & " // only bento knows that this process belongs to the task
	}
	up := "echo up > ../fifo; "
	write(t, root, "bento.toml", "")
	write(t, root, "d/dish.toml", fmt.Sprintf("language = \"none\"\n[tasks.good]\nrun = %q\n[tasks.bad]\nrun = %q\n[tasks.slow]\ntimeout = \"100ms\"\nrun = %q\n[tasks.wait]\nrun = %q\n",
		children+up, children+up+"exit 1", children+up+"wait", children+up+"wait"))
	write(t, root, "e/dish.toml", "language = \"none\"\n[tasks.then]\nrun = \"until [ -e ../go ]; do sleep 0.02; done\"\n")
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // read and write: a writer does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	program := builtBento(t)
	if e.program != "" {
		program = needTool(t, e.program)
	}
	mark := "LC_BENTO_MARK=" + root
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", fmt.Sprintf("exec %q run -j 2 d:%s", program, e.task))
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &out
	cmd.Env = append(os.Environ(), mark, "BENTO_CACHE_DIR="+filepath.Join(root, "cache"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if e.sig != 0 || e.program != "" {
		_ = f.SetReadDeadline(time.Now().Add(5 * time.Minute))
		if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Errorf("the task is not up: %v", err)
		}
	}
	ended := make(chan struct{})
	go e.signal(cmd.Process, ended)
	write(t, root, "go", "")
	_ = cmd.Wait()
	close(ended)
	if got := cmd.ProcessState.ExitCode(); got != e.exit && !(e.again && got == exitInterrupted) {
		t.Errorf("exit code %d, want %d\n%s", got, e.exit, out.String())
	}
	if left := leftOf(mark + "\x00"); len(left) > 0 {
		t.Errorf("left running: %q\n%s", left, out.String())
	}
}
