//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/testrun"
)

// markOfTest returns the variable that a test's processes carry. These tests may run twice at once.
func markOfTest(name string) string { return fmt.Sprintf("PROC_TEST=%d/%s", os.Getpid(), name) }

const testPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// shell is a Spec of a script whose processes all carry the test's name.
func shell(t *testing.T, script string) Spec {
	return Spec{
		Argv:    []string{"/bin/sh", "-c", script},
		Env:     []string{testPath, markOfTest(t.Name())},
		Timeout: 10 * time.Minute,
	}
}

// run runs a script and fails the test if a process of it is left.
func run(t *testing.T, ctx context.Context, s Spec) (Result, string) {
	t.Helper()
	var out bytes.Buffer
	if s.Stdout == nil {
		s.Stdout, s.Stderr = &out, &out
	}
	res, err := Run(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if left := survivors(t.Name()); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	return res, out.String()
}

// survivors returns the processes that carry the test's name.
func survivors(name string) []string {
	mark := []byte(markOfTest(name) + "\x00")
	return testrun.Left("environ", func(env []byte) bool { return bytes.Contains(append(env, 0), mark) })
}

func TestRunResult(t *testing.T) {
	tests := []struct {
		name, script string
		want         Result
	}{
		{"success", "exit 0", Result{}},
		{"exit code", "exit 41", Result{ExitCode: 41}},
		{"signal", "kill -KILL $$", Result{ExitCode: 137, Signal: "SIGKILL"}},
		{"segfault", "kill -SEGV $$", Result{ExitCode: 139, Signal: "SIGSEGV"}},
		{"not found by the shell", "no-such-command-at-all", Result{ExitCode: 127}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, _ := run(t, t.Context(), shell(t, tt.script))
			if res.Duration <= 0 || res.MaxRSS <= 0 {
				t.Errorf("duration %v, peak memory %d: want both", res.Duration, res.MaxRSS)
			}
			res.Duration, res.CPU, res.MaxRSS = 0, 0, 0
			if diff := cmp.Diff(tt.want, res); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRunSurroundings(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "leaked")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := shell(t, "pwd; cat; echo \"$A-$PROC_TEST_SECRET\"")
	s.Dir, s.Stdin = dir, strings.NewReader("input\n")
	s.Env = append(s.Env, "A=b")
	if _, out := run(t, t.Context(), s); out != dir+"\ninput\nb-\n" {
		t.Errorf("printed %q", out)
	}
	s = Spec{Argv: []string{"/usr/bin/env"}}
	if _, out := run(t, t.Context(), s); out != "" {
		t.Errorf("environment without Env: %q", out)
	}
	if _, out := run(t, t.Context(), shell(t, "cat")); out != "" {
		t.Errorf("stdin without Stdin: %q", out)
	}
}

func TestStdinIsNotReadToTheEnd(t *testing.T) {
	s := shell(t, "head -c 1")
	s.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if res, out := run(t, t.Context(), s); res.ExitCode != 0 || out != "x" {
		t.Errorf("%+v, printed %q", res, out)
	}
}

func TestSameWriterKeepsOrder(t *testing.T) {
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&want, "o%d\ne%d\n", i, i)
	}
	_, out := run(t, t.Context(), shell(t, "i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"))
	if diff := cmp.Diff(want.String(), out); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTwoWriters(t *testing.T) {
	var out, errs bytes.Buffer
	s := shell(t, "echo out; echo err >&2")
	s.Stdout, s.Stderr = &out, &errs
	run(t, t.Context(), s)
	if out.String() != "out\n" || errs.String() != "err\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
	}
}

func TestOutputToFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := shell(t, "echo out; echo err >&2")
	s.Stdout, s.Stderr = f, f
	run(t, t.Context(), s)
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != "out\nerr\n" {
		t.Errorf("log %q, %v", got, err)
	}
}

type failingWriter struct{ writes int }

func (w *failingWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, syscall.ENOSPC
}

func TestWriterFails(t *testing.T) {
	w := &failingWriter{}
	s := shell(t, "head -c 1000000 /dev/zero; exit 3")
	s.Stdout = w
	if res, _ := run(t, t.Context(), s); res.ExitCode != 3 || w.writes != 1 {
		t.Errorf("%+v after %d writes, want exit code 3 after 1", res, w.writes)
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec Spec
		is   error
		says string
	}{
		{"no command", Spec{}, nil, "no command given"},
		{"relative", Spec{Argv: []string{"sh"}}, nil, `command "sh": not an absolute path`},
		{"missing", Spec{Argv: []string{"/no/such"}}, fs.ErrNotExist, "/no/such"},
		{"missing in dir", Spec{Argv: []string{"/no/such"}, Dir: dir}, fs.ErrNotExist, "/no/such"},
		{"missing dir", Spec{Argv: []string{"/bin/sh"}, Dir: "/no/dir"}, fs.ErrNotExist, "chdir /no/dir"},
		{"dir is a file", Spec{Argv: []string{"/bin/sh"}, Dir: plain}, syscall.ENOTDIR, plain},
		{"not executable", Spec{Argv: []string{plain}}, fs.ErrPermission, plain},
		{"a directory", Spec{Argv: []string{dir}}, fs.ErrPermission, dir},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			tt.spec.Stdout, tt.spec.Stdin = &out, strings.NewReader("x")
			_, err := Run(t.Context(), tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.says) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want %v that says %q", err, tt.is, tt.says)
			}
		})
	}
}

func TestCanceledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := Run(ctx, Spec{Argv: []string{"/no/such"}})
	if err != nil || !res.Canceled || res.ExitCode != -1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// A program that was just written may still be open for writing in a child that is
// being forked.
func TestTextFileBusy(t *testing.T) {
	data, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true")
	}
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "true"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { f.Close() })
	if res, err := Run(t.Context(), Spec{Argv: []string{f.Name()}}); err != nil || res.ExitCode != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestOutput(t *testing.T) {
	stdout, stderr, res, err := Output(t.Context(), shell(t, "echo version 1; echo warning >&2; exit 2"), 100)
	if err != nil || string(stdout) != "version 1\n" || string(stderr) != "warning\n" || res.ExitCode != 2 {
		t.Errorf("%q, %q, %+v, %v", stdout, stderr, res, err)
	}
	stdout, stderr, _, err = Output(t.Context(), shell(t, "head -c 1000000 /dev/zero; seq 100000 >&2"), 100)
	var tooMuch *TooMuchError
	if !errors.As(err, &tooMuch) || len(stdout) != 100 {
		t.Errorf("%d bytes, %v, want 100 and a TooMuchError", len(stdout), err)
	}
	if len(stderr) != tailSize || !bytes.HasSuffix(stderr, []byte("\n100000\n")) {
		t.Errorf("stderr: %d bytes ending in %q", len(stderr), stderr[max(0, len(stderr)-10):])
	}
}

func TestTail(t *testing.T) {
	all := []byte(strings.Repeat("0123456789", 20))
	for _, chunk := range []int{1, 3, 7, 8, 15, 16, 40} {
		tail := NewTail(16)
		for i := 0; i < len(all); i += chunk {
			end := min(i+chunk, len(all))
			if n, err := tail.Write(all[i:end]); n != end-i || err != nil {
				t.Fatalf("write: %d, %v", n, err)
			}
			if want := all[max(0, end-16):end]; !bytes.Equal(tail.Bytes(), want) {
				t.Fatalf("chunks of %d: %q, want %q", chunk, tail.Bytes(), want)
			}
		}
	}
}

// slowWriter takes its time over each chunk.
type slowWriter struct {
	n     int
	pause time.Duration
}

func (w *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(w.pause)
	w.n += len(p)
	return len(p), nil
}

// The deadline that ends the wait for a foreign process with the pipe must not lose the content of
// the pipe.
func TestDeadlineLosesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // never closed before: the foreign holder
	if _, err := w.Write(make([]byte, 60_000)); err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(-time.Second))
	slow := &slowWriter{pause: 5 * time.Millisecond}
	copyOutput(slow, r)
	if slow.n != 60_000 {
		t.Errorf("copied %d bytes, want 60000", slow.n)
	}
	if _, err := w.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(-time.Second))
	if n := readNow(r, make([]byte, 10)); n != 4 {
		t.Errorf("read %d bytes after the deadline, want 4", n)
	}
	if n := readNow(r, make([]byte, 10)); n != 0 {
		t.Errorf("read %d bytes from an empty pipe", n)
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if _, err := Run(b.Context(), Spec{Argv: []string{"/bin/true"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A forked child keeps the pipes of other children open for a moment: an event of a pipe must not be
// attributed to another child.
func TestManyQuietAtOnce(t *testing.T) {
	for _, n := range []int{1, runtime.GOMAXPROCS(0), 48} { // waited for by threads, and by the poller
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					for i := range 30 {
						said := ""
						if i%3 == 0 {
							said = "said\n"
						}
						runQuiet(t, i%2 == 0, said)
					}
				})
			}
			all.Wait()
			if left := survivors(t.Name()); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A descendant that starts another one in a new session and ends at once, again and again, is not
// lost.
func TestRelayEnds(t *testing.T) {
	t.Parallel()
	relay := filepath.Join(t.TempDir(), "relay.sh")
	const next = `[ "$1" = 0 ] && exec sleep 1000; setsid sh "$0" $(($1 - 1)) & exit`
	if err := os.WriteFile(relay, []byte("trap '' TERM\n"+next), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if res, err := Run(t.Context(), shell(t, "sh "+relay+" 40")); err != nil || res.ExitCode != 0 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	all.Wait()
	if left := survivors(t.Name()); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// runQuiet runs a child that prints only said, twice. If slowly is set, it prints after the time in
// which a child ends soon.
func runQuiet(t *testing.T, slowly bool, said string) {
	script := "exit 0"
	if said != "" {
		script = "echo said; echo said >&2"
	}
	if slowly {
		script = "sleep 0.02; " + script
	}
	var out, errs bytes.Buffer
	s := shell(t, script)
	s.Stdout, s.Stderr = &out, &errs
	res, err := Run(t.Context(), s)
	if err != nil || res.ExitCode != 0 || res.TimedOut || out.String() != said || errs.String() != said {
		t.Errorf("%+v, %v, printed %q and %q, want %q twice", res, err, &out, &errs, said)
	}
}

// A child may close its output before it ends, be terminated before the wait, or have a timeout that
// is shorter than the first wait.
func TestSoon(t *testing.T) {
	if res, out := run(t, t.Context(), shell(t, "echo early; exec >&- 2>&-; sleep 0.02; exit 3")); res.ExitCode != 3 || out != "early\n" {
		t.Errorf("%+v, printed %q", res, out)
	}
	s := Spec{Argv: []string{"/bin/sleep", "1000"}, Env: []string{markOfTest(t.Name())}, Timeout: time.Millisecond}
	if res, _ := run(t, t.Context(), s); !res.TimedOut || res.Signal != "SIGTERM" {
		t.Errorf("sleep 1000: %+v", res)
	}
	// Whether this one ends before its time is up, before the signal or by it is a race.
	s.Argv[1] = "0.003"
	if res, _ := run(t, t.Context(), s); res.Signal != "" && (res.Signal != "SIGTERM" || !res.TimedOut) ||
		res.Signal == "" && res.ExitCode != 0 {
		t.Errorf("sleep 0.003: %+v", res)
	}
	p, err := StartUnwatched(shell(t, "sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res := p.Wait(ctx); !res.Canceled || res.Signal != "SIGTERM" {
		t.Errorf("%+v", res)
	}
}
