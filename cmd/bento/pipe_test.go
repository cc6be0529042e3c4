//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// piped is a bento whose stdout or stderr is something special.
type piped struct {
	root     string
	args     string
	out, err *os.File // nil: run returns the output
}

// run returns the exit status of bento, and its output that did not go to p.out or p.err.
func (p piped) run(t *testing.T) (syscall.WaitStatus, string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(builtBento(t), strings.Fields(p.args)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.root, &said, &said
	if p.out != nil {
		cmd.Stdout = p.out
	}
	if p.err != nil {
		cmd.Stderr = p.err
	}
	cmd.Env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(p.root, ".cache"), "HOME="+p.root)
	_ = cmd.Run()
	return cmd.ProcessState.Sys().(syscall.WaitStatus), said.String()
}

// unreadPipe returns a pipe whose reader has gone.
func unreadPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// pipedWorkspace has a task that succeeds, one that fails, and a warning.
func pipedWorkspace(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, "bento.toml", "[execution]\ncontainer = \"never\"\n")
	write(t, root, "a/dish.toml", "name = \"a\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"echo one; echo two >&2; echo >>done\"\ncache = false\n[tasks.bad]\nrun = \"echo x; exit 1\"\n")
	return root
}

// TestBrokenPipeOfWhatReads: SIGPIPE ends a command that runs no tasks, which does not report the pipe.
func TestBrokenPipeOfWhatReads(t *testing.T) {
	t.Parallel()
	root := pipedWorkspace(t)
	if status, said := (piped{root: root, args: "run a:build"}).run(t); status.ExitStatus() != exitOK {
		t.Fatalf("run: %v\n%s", status, said)
	}
	for _, line := range []string{
		"plan", "plan --json", "why a:build", "why a:build --json --all", "graph", "graph --format html", "graph --json", "doctor", "doctor --json",
		"dish list", "dish list --json", "box list --json", "toolchain list --json", "toolchain check --json", "artifacts --json", "last", "last a:build",
		"schema plan", "completion bash", "explain", "explain usage", "version", "help", "--help", "plan --help", "help run", "plugin list --json", "cache stats", "nonsense --json",
	} {
		status, said := piped{root: root, args: line, out: unreadPipe(t)}.run(t)
		if !status.Signaled() || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%s, stdout unread: exit %d, signal %v; want SIGPIPE", line, status.ExitStatus(), status.Signal())
		}
		if strings.Contains(said, "bento: error") != strings.HasPrefix(line, "nonsense") || strings.Contains(said, "pipe") {
			t.Errorf("%s says on stderr:\n%s", line, said)
		}
	}
	for _, line := range []string{"plan", "plan --json", "nonsense"} {
		status, _ := piped{root: root, args: line, err: unreadPipe(t)}.run(t)
		if !status.Signaled() || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%s, stderr unread: exit %d, signal %v; want SIGPIPE", line, status.ExitStatus(), status.Signal())
		}
	}
}

// TestBrokenPipeOfWhatRuns: a command that runs tasks continues to its end, and exits with its result.
func TestBrokenPipeOfWhatRuns(t *testing.T) {
	t.Parallel()
	root := pipedWorkspace(t)
	lines := 0
	for line, code := range map[string]int{
		"run a:build": exitOK, "run a:build --json": exitOK, "run a:build --events -": exitOK, "build --output stream": exitOK, "ci --json": exitOK,
		"run a:bad": exitTask, "run a:bad --json": exitTask, "run a:bad --events -": exitTask, "watch a:build": exitOK, "watch a:bad": exitTask,
		"install": exitOK, "cache prune --max-size 1GB": exitOK, "clean --yes": exitOK,
	} {
		for _, p := range []piped{{out: unreadPipe(t)}, {err: unreadPipe(t)}, {out: unreadPipe(t), err: unreadPipe(t)}} {
			p.root, p.args = root, line
			if strings.HasPrefix(line, "watch") && p.err == nil {
				continue // watch writes to stderr too, which still has a reader
			}
			status, said := p.run(t)
			if !status.Exited() || status.ExitStatus() != code {
				t.Errorf("%s, stdout unread %v, stderr unread %v: exit %d, signal %v; want %d\n%s", line, p.out != nil, p.err != nil, status.ExitStatus(), status.Signal(), code, said)
			}
			if strings.Contains(line, "build") || strings.HasPrefix(line, "ci") {
				lines++
			}
		}
	}
	done, err := os.ReadFile(filepath.Join(root, "a", "done"))
	if err != nil || strings.Count(string(done), "\n") != lines {
		t.Errorf("tasks ran %d times, want %d: %v", strings.Count(string(done), "\n"), lines, err)
	}
}

// TestUnreadEvents: a run continues when the reader of its events is gone, and its result is the same.
func TestUnreadEvents(t *testing.T) {
	t.Parallel()
	root := pipedWorkspace(t)
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, root, "a/dish.toml", "name = \"a\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"echo >../up; cat ../go; echo end\"\n")
	for _, name := range []string{"up", "go"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	go func() { // the reader opens the pipe and closes it before the task ends
		f, err := os.Open(fifo)
		if err != nil {
			return
		}
		_, _ = os.ReadFile(filepath.Join(root, "up"))
		f.Close()
		_ = os.WriteFile(filepath.Join(root, "go"), nil, 0o600)
	}()
	if status, said := (piped{root: root, args: "run a:build --events fifo"}).run(t); status.ExitStatus() != exitOK {
		t.Errorf("exit %d, want 0\n%s", status.ExitStatus(), said)
	}
}

// TestFullDisk: output that cannot be written is an error.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	root := pipedWorkspace(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, line := range []string{"plan", "plan --json", "run a:build", "run a:build --json", "run a:build --events -", "run a:bad", "version", "help", "graph --format html", "explain", "nonsense --json"} {
		status, said := piped{root: root, args: line, out: full}.run(t)
		if !status.Exited() || status.ExitStatus() != exitFault || !strings.Contains(said, "no space left") {
			t.Errorf("%s to a full disk: exit %d, want %d\n%s", line, status.ExitStatus(), exitFault, said)
		}
	}
	for _, line := range []string{"plan", "run a:build --output stream"} {
		if status, said := (piped{root: root, args: line, err: full}).run(t); status.ExitStatus() != exitFault {
			t.Errorf("%s, stderr to a full disk: exit %d, want %d\n%s", line, status.ExitStatus(), exitFault, said)
		}
	}
}

// TestClosedStdout: with closed standard streams, bento does not write its output to a file that gets
// the descriptor 1 or 2.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	root := pipedWorkspace(t)
	cmd := exec.Command("sh", "-c", `"$0" run a:build >&- 2>&- <&-`, builtBento(t))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".cache"), "HOME="+root)
	if err := cmd.Run(); err != nil {
		t.Errorf("with nothing to write to: %v", err)
	}
	for _, name := range []string{"a/done", "bento.toml"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || strings.Contains(string(data), "one") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if status, said := (piped{root: root, args: "plan --json"}).run(t); status.ExitStatus() != exitOK {
		t.Errorf("plan afterwards: exit %d\n%s", status.ExitStatus(), said)
	}
}
