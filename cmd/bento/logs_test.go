package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestLogsFollow: bento logs -f prints the output of a running task as it grows, and the log of its next
// execution, until Ctrl-C.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	bin, root := builtBento(t), t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "d/dish.toml", "language = \"none\"\n[tasks.talk]\nrun = \"echo one; read line < ../more; echo $line\"\ncache = false\n")
	more := filepath.Join(root, "more")
	if err := syscall.Mkfifo(more, 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".bento", "cache")), os.Stderr
		return cmd
	}
	follow := command("logs", "d:talk", "-f") // the task has no log yet
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = follow.Process.Kill() })
	lines := bufio.NewScanner(out)
	want := func(text string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != text {
			t.Fatalf("got %q (%v), want %q", lines.Text(), lines.Err(), text)
		}
	}
	for _, said := range []string{"two", "three"} {
		run := command("run", "d:talk")
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		want("one")
		if err := os.WriteFile(more, []byte(said+"\n"), 0); err != nil { // the task reads the pipe, or will open it
			t.Fatal(err)
		}
		want(said)
		if err := run.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if err := follow.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("it goes on with %q", lines.Text())
	}
	if _ = follow.Wait(); follow.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit code %d, want %d", follow.ProcessState.ExitCode(), exitInterrupted)
	}
}
