package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/sampling"
)

// The output of TestLargeOutputKilled, and the memory that bento may have while it is transferred, in bytes. $BENTO_TEST_LARGE
// is another size.
const (
	largeOutput   = 2 << 30
	largeResident = 64 << 20
)

// TestLargeOutputKilled: the upload of a large output is killed half-way, and so is its download. The next bento ends each, with
// little memory.
func TestLargeOutputKilled(t *testing.T) {
	size := largeOutput
	if text := os.Getenv("BENTO_TEST_LARGE"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	} else if !sampling.All() {
		t.Skip("it takes minutes, and 8 GB of disk for each server")
	}
	for name, start := range map[string]func(t *testing.T) (url, dir string){
		"directory": func(t *testing.T) (string, string) { dir := t.TempDir(); return "file://" + dir, dir },
		"bazel-remote": func(t *testing.T) (string, string) {
			s := servertest.BazelRemote(t, "--max_size", "8")
			return "grpc://" + s.GRPC, s.Dir
		},
		"bazel-remote, HTTP": func(t *testing.T) (string, string) {
			s := servertest.BazelRemote(t, "--max_size", "8")
			return "http://" + s.HTTP, s.Dir
		},
		"buildbox-casd": func(t *testing.T) (string, string) {
			s := servertest.Casd(t, "--quota-high=8G")
			return "grpc://" + s.GRPC, s.Dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, dir := start(t)
			l := &largeRun{T: t, size: int64(size), env: []string{"BENTO_REMOTE=" + url, "CI=true"}}
			writer, reader := l.clone(), l.clone()
			l.begin(writer, dir, "run", "build", "--cache", "remote:rw")
			l.end(writer, "cache", "push", "--cache", "remote:rw")
			if err := os.RemoveAll(writer.cache); err != nil { // the disk may be small
				t.Fatal(err)
			}
			l.begin(reader, reader.cache, "cache", "pull", "build")
			l.end(reader, "cache", "pull", "build")
			if out := l.end(reader, "run", "build"); !strings.Contains(out, "1 hit") {
				t.Errorf("the run of the reader:\n%s", out)
			}
			if !equalFiles(t, filepath.Join(writer.ws, "d/out"), filepath.Join(reader.ws, "d/out")) {
				t.Error("another output")
			}
		})
	}
}

type largeRun struct {
	*testing.T
	size int64
	env  []string
}

// clone makes a workspace with a task that has a large output, another one each time.
func (l *largeRun) clone() *world {
	l.Helper()
	w := newWorld(l.T, builtBento(l))
	write(l.T, w.ws, "bento.toml", "[cache]\nremote_trust = \"server\"\n")
	write(l.T, w.ws, "d/dish.toml", fmt.Sprintf("language = \"none\"\n[tasks.build]\nrun = \"head -c %d /dev/urandom >out\"\ninputs = []\noutputs = [\"out\"]\nrace = false\n", l.size))
	return w
}

// begin starts bento, and kills it once a directory has got half of the output.
func (l *largeRun) begin(w *world, dir string, args ...string) {
	l.Helper()
	before := sizeOf(dir)
	begin, got := time.Now(), int64(0)
	peak, _, err := l.watch(w, func() bool {
		got = max(got, sizeOf(dir)-before) // some servers remove what has broken off
		return got >= l.size/2
	}, args...)
	if err == nil || got > l.size*9/10 {
		l.Errorf("%s: ended, or was killed too late: %v, %d of %d bytes", args, err, got, l.size)
	}
	l.Logf("%s: killed after %v with %d MB, %d MiB resident", args, time.Since(begin).Round(time.Millisecond), got/1e6, peak>>20)
}

// end runs bento to its end, and returns what it prints.
func (l *largeRun) end(w *world, args ...string) string {
	l.Helper()
	begin := time.Now()
	peak, out, err := l.watch(w, func() bool { return false }, args...)
	if err != nil {
		l.Fatalf("%s: %v\n%s", args, err, out)
	}
	l.Logf("%s: %v, %d MiB resident", args, time.Since(begin).Round(time.Millisecond), peak>>20)
	return out
}

// watch runs bento until kill returns true, and returns its peak of resident memory in bytes.
func (l *largeRun) watch(w *world, kill func() bool, args ...string) (peak int64, out string, err error) {
	l.Helper()
	cmd := exec.Command(w.bento, args...)
	var text bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.ws, &text, &text
	cmd.Env = append(append(os.Environ(), "HOME="+w.dir, "BENTO_CACHE_DIR="+w.cache, "BENTO_WORKSPACE_ROOT="), l.env...)
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err = <-ended:
			if peak > largeResident {
				l.Errorf("%s: %d MiB resident, want at most %d", args, peak>>20, largeResident>>20)
			}
			return peak, text.String(), err
		case <-time.After(5 * time.Millisecond):
		}
		peak = max(peak, residentPeak(cmd.Process.Pid))
		if kill() {
			_ = cmd.Process.Kill()
		}
	}
}

// residentPeak returns the peak of the resident memory of a process in bytes, 0 if it has ended.
func residentPeak(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}

// sizeOf returns the size of the files below a directory in bytes.
func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// equalFiles reports whether two files have the same content.
func equalFiles(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	p, q := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(x, p)
		m, other := io.ReadFull(y, q)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if err != nil || other != nil {
			return err == other
		}
	}
}
