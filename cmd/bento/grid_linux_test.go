package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote/servertest"
)

// gridded is a workspace whose one task, d:build, takes a few seconds on the workers of BuildGrid.
type gridded struct {
	testing.TB
	*servertest.Grid
	root, sleep string // a word that no other process has
}

func newGridded(t testing.TB, g *servertest.Grid, seconds int, config string, properties ...string) *gridded {
	t.Helper()
	x := &gridded{TB: t, Grid: g, root: t.TempDir(), sleep: fmt.Sprintf("%d.%09d", seconds, time.Now().UnixNano()%1e9)}
	writeFile(t, filepath.Join(x.root, "bento.toml"), fmt.Sprintf("[remote]\nexec = \"grpc://%s\"\nproperties = { %s }\n%s",
		g.GRPC, strings.Join(append(properties, `OSFamily = "linux"`), ", "), config))
	writeFile(t, filepath.Join(x.root, "d/dish.toml"), fmt.Sprintf("language = \"none\"\n[tasks.build]\nrun = \"sleep %s; echo %s >out\"\noutputs = [\"out\"]\nremote = true\n", x.sleep, x.sleep))
	return x
}

// start starts a run. The test ends it.
func (x *gridded) start() (*exec.Cmd, *strings.Builder) {
	x.Helper()
	cmd := exec.Command(builtBento(x.TB), "run", "build")
	cmd.Dir, cmd.Env = x.root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(x.root, ".bento", "cache"))
	out := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	return cmd, out
}

// executing waits until a worker executes the task, and returns its process.
func (x *gridded) executing() (pid int) {
	x.Helper()
	x.until("a worker executes the task", func() bool { pid = x.sleeping(); return pid != 0 })
	return pid
}

// worker waits until a worker executes the task, and returns it.
func (x *gridded) worker() *servertest.Bot {
	x.Helper()
	for pid := x.executing(); pid > 1; pid, _ = stat(x.TB, pid) {
		for _, b := range x.Bots {
			if b.Pid() == pid {
				return b
			}
		}
	}
	x.Fatal("the process of the task belongs to no worker")
	return nil
}

// sleeping returns the process of the task, or 0.
func (x *gridded) sleeping() int {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && string(text) == "sleep\x00"+x.sleep+"\x00" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			return pid
		}
	}
	return 0
}

func (x *gridded) until(what string, holds func() bool) {
	x.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("not within two minutes: %s", what)
		}
	}
}

// wantMade checks the end of a run, and that it has left nothing behind: the server says so.
func (x *gridded) wantMade(cmd *exec.Cmd, out *strings.Builder, summary string) {
	x.Helper()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), summary) {
		x.Errorf("%v, want %q:\n%s", err, summary, out)
	}
	if made, _ := os.ReadFile(filepath.Join(x.root, "d/out")); string(made) != x.sleep+"\n" {
		x.Errorf("made %q", made)
	}
	x.wantNothingLeft()
}

func (x *gridded) wantNothingLeft() {
	x.Helper()
	if len(x.Bots) > 0 { // buildbox-casd has no list
		x.until("no execution is left", func() bool { return len(x.Unfinished(x.TB)) == 0 })
	}
	x.until("no process is left", func() bool { return x.sleeping() == 0 })
}

// TestGrid: BuildGrid has a queue, and workers that come and go.
func TestGrid(t *testing.T) {
	t.Parallel()
	g := servertest.OpenGrid(t, 2, "")

	t.Run("a worker is killed", func(t *testing.T) { // the other one executes its task
		x := newGridded(t, g, 3, "queue = \"2m\"\n")
		cmd, out := x.start()
		x.worker().Stop()
		x.wantMade(cmd, out, "remote execution: 1 task\n")
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		x := newGridded(t, g, 1000, "queue = \"2m\"\n")
		cmd, out := x.start()
		x.worker()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
			t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), out)
		}
		x.wantNothingLeft()
	})
	for name, c := range map[string]struct{ property, says string }{
		"a queue without a worker": {`pool = "none"`, "no worker has begun it in time"},
		"an unknown property":      {`zone = "x"`, "zone"},
	} {
		t.Run(name, func(t *testing.T) { // the task is executed here
			x := newGridded(t, g, 0, "queue = \"1s\"\n", c.property)
			cmd, out := x.start()
			x.wantMade(cmd, out, c.says)
			if !strings.Contains(out.String(), "remote execution: 0 tasks, 1 executed here\n") {
				t.Errorf("printed\n%s", out)
			}
		})
	}
	t.Run("the last worker is killed", func(t *testing.T) { // the task is executed here
		x := newGridded(t, g, 3, "queue = \"2s\"\n")
		cmd, out := x.start()
		x.worker().Stop()
		x.wantMade(cmd, out, "remote execution: 0 tasks, 1 executed here\n")
	})
	t.Run("a worker comes", func(t *testing.T) { // to a task that waits
		x := newGridded(t, g, 0, "queue = \"2m\"\n")
		cmd, out := x.start()
		x.until("the task waits", func() bool { return len(x.Unfinished(t)) > 0 })
		x.Join(t, "OSFamily=linux")
		x.wantMade(cmd, out, "remote execution: 1 task\n")
	})
}

// TestRunnerKilled: a server whose executor of an action was killed gets the action once more.
func TestRunnerKilled(t *testing.T) {
	t.Parallel()
	x := newGridded(t, &servertest.Grid{Server: servertest.Workers(t)}, 3, "")
	cmd, out := x.start()
	runner := x.executing()
	for parent, name := stat(t, runner); name != "buildbox-run"; parent, name = stat(t, runner) {
		runner = parent
	}
	if err := syscall.Kill(runner, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.wantMade(cmd, out, "remote execution: 1 task\n")
}

// stat returns the parent of a process, and its name (proc_pid_stat(5)).
func stat(t testing.TB, pid int) (parent int, name string) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	text, state := string(data), ""
	begin, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if _, err := fmt.Sscan(text[end+1:], &state, &parent); err != nil {
		t.Fatal(err)
	}
	return parent, text[begin+1 : end]
}
