//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is the size of a sparse file that is too large to be read to its end.
const endless = 4 << 40

// stretch makes a file endless, and creates it if it is missing.
func stretch(tb testing.TB, path string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = f.Truncate(endless)
		f.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// reads reports whether a process has an endless file open whose path has the prefix.
func reads(pid int, prefix string) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		to, err := os.Readlink(link)
		if fi, serr := os.Stat(link); err == nil && serr == nil && strings.HasPrefix(to, prefix) && fi.Size() == endless {
			return true
		}
	}
	return false
}

// interrupt starts bento, sends it a signal once it reads an endless file below prefix, and returns its exit
// code and the time from the signal to the exit.
func interrupt(tb testing.TB, root, line, prefix string, sig syscall.Signal) (code int, took time.Duration) {
	tb.Helper()
	var said bytes.Buffer
	cmd := exec.Command(builtBento(tb), strings.Fields(line)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &said, &said
	cmd.Env = append(os.Environ(), "BENTO_CACHE_DIR="+filepath.Join(root, ".cache"), "HOME="+root)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	begun := false
	for !begun {
		select {
		case <-ended:
			tb.Fatalf("bento %s: it ended before it read what is endless\n%s", line, &said)
		default:
			begun = reads(cmd.Process.Pid, prefix)
		}
	}
	from := time.Now()
	_ = cmd.Process.Signal(sig)
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		_ = cmd.Process.Kill()
		<-ended
		tb.Errorf("bento %s: it does not hear %v", line, sig)
	}
	return cmd.ProcessState.ExitCode(), time.Since(from)
}

// endlessWorkspace has an endless input, and a task that makes an endless output.
func endlessWorkspace(tb testing.TB) string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for name, text := range map[string]string{
		"bento.toml":  "",
		"a/dish.toml": "language = \"none\"\n[tasks.build]\nrun = \"true\"\n",
		"b/dish.toml": fmt.Sprintf("language = \"none\"\n[tasks.build]\nrun = \"truncate -s %d out\"\noutputs = [\"out\"]\n", int64(endless)),
		"c/dish.toml": "language = \"none\"\n[tasks.build]\nrun = \"head -c 100000 /dev/urandom >out; head -c 1000000 /dev/urandom | base64\"\noutputs = [\"out\"]\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	stretch(tb, filepath.Join(root, "a", "in"))
	return root
}

// TestEndlessFiles: Ctrl-C and SIGTERM end bento while it reads a file, in each command that reads one.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	root := endlessWorkspace(t)
	if status, said := (piped{root: root, args: "run c:build"}).run(t); status.ExitStatus() != exitOK {
		t.Fatalf("run c:build: %v\n%s", status, said)
	}
	for i, c := range []struct{ line, reads string }{
		{"plan", "a/in"}, {"plan --json", "a/in"}, {"why a:build", "a/in"}, {"run a:build", "a/in"}, {"build --json", "a/in"}, {"ci", "a/in"}, {"watch a:build", "a/in"},
		{"run b:build", "b/out"}, {"run b:build --no-cache", "b/out"}, {"artifacts b", "b/out"},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2:] {
			if code, _ := interrupt(t, root, c.line, filepath.Join(root, c.reads), sig); code != exitInterrupted {
				t.Errorf("bento %s, %v: exit %d, want %d", c.line, sig, code, exitInterrupted)
			}
		}
	}
}

// TestEndlessBlobs: Ctrl-C also ends bento while it reads an endless blob of the cache, log or output.
func TestEndlessBlobs(t *testing.T) {
	t.Parallel()
	root := endlessWorkspace(t)
	if status, said := (piped{root: root, args: "run c:build"}).run(t); status.ExitStatus() != exitOK {
		t.Fatalf("run c:build: %v\n%s", status, said)
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if fi, err := e.Info(); err == nil && fi.Size() > 90_000 && fi.Size() < endless {
			if err := os.Chmod(path, 0o644); err != nil {
				return err
			}
			stretch(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, reads string }{
		{"last c:build", ".bento"}, {"artifacts c --copy copied", "c/out"}, {"cache fsck", ".cache"},
	} {
		if code, _ := interrupt(t, root, c.line, filepath.Join(root, c.reads), syscall.SIGINT); code != exitInterrupted {
			t.Errorf("bento %s: exit %d, want %d", c.line, code, exitInterrupted)
		}
	}
}

// BenchmarkInterrupt measures the time from an interrupt to the exit of a bento that reads a file. 200 ms are
// too long.
func BenchmarkInterrupt(b *testing.B) {
	root := endlessWorkspace(b)
	var all time.Duration
	for b.Loop() {
		_, took := interrupt(b, root, "plan", filepath.Join(root, "a/in"), syscall.SIGINT)
		all += took
	}
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "ms-to-end/op")
}
