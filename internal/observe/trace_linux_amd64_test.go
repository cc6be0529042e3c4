package observe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// startAndWait starts s by start and returns how it ended and what it used.
func startAndWait(t *testing.T, root string, s proc.Spec, start func(*Executor, proc.Spec) (*process, error)) (proc.Result, []string) {
	t.Helper()
	p, err := start(&Executor{Root: root, Self: self(t), Name: self(t)}, s)
	if err != nil {
		t.Fatalf("%q: %v", s.Argv, err)
	}
	res := p.Wait(t.Context())
	return res, lines(root, p.used())
}

func traced(x *Executor, s proc.Spec) (*process, error) {
	p, err, ok := x.startTraced(s)
	if !ok {
		err = errors.New("it cannot be traced")
	}
	return p, err
}

func helped(x *Executor, s proc.Spec) (*process, error) { return x.startByHelper(s, nil) }

// Both ways see the same.
func TestStarts(t *testing.T) {
	needObserver(t)
	root := tree(t, "a", "d/b", "l -> d/b", "bin -> /bin")
	script := "#!bin/sh\ncat a; kill -TERM $$"
	if err := os.WriteFile(filepath.Join(root, "script"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, argv := range map[string][]string{
		"dynamic":   {"/bin/cat", "a", "l"},
		"static":    {self(t), "static", "read:l", "write:c", "read:c", "remove:c", "chdir:d", "read:b"},
		"script":    {filepath.Join(root, "script")},
		"relative":  {"./script"},
		"by a link": {"/proc/self/cwd/bin/cat", "a"},
		"untraced":  {"/bin/grep", "-q", "TracerPid:.0$", "/proc/self/status"},
		"fails":     {"/bin/sh", "-c", "exit 3"},
	} {
		s := proc.Spec{Argv: argv, Program: argv[0], Dir: root, Env: os.Environ()}
		res, used := startAndWait(t, root, s, traced)
		want, wantUsed := startAndWait(t, root, s, helped)
		if res.ExitCode != want.ExitCode || res.Signal != want.Signal {
			t.Errorf("%s: exited with status %d %s, want %d %s", name, res.ExitCode, res.Signal, want.ExitCode, want.Signal)
		}
		if diff := cmp.Diff(wantUsed, used); diff != "" || len(used) == 0 && name != "untraced" && name != "fails" {
			t.Errorf("%s: (-helper +traced):\n%s", name, diff)
		}
	}
}

// The descriptor of the listener is closed in the child.
func TestTracedDescriptors(t *testing.T) {
	needObserver(t)
	var out strings.Builder
	s := proc.Spec{Argv: []string{"/bin/sh", "-c", "echo /proc/self/fd/*"}, Env: []string{}, Dir: "/", Stdout: &out}
	startAndWait(t, "/", s, traced)
	plain := out.String()
	out.Reset()
	if _, err := proc.Run(t.Context(), s); err != nil || out.String() != plain {
		t.Errorf("want %q, got %q, %v", out.String(), plain, err)
	}
}

// A signal that comes while the child is prepared is not lost.
func TestSignalBeforeTheFirstInstruction(t *testing.T) {
	needObserver(t)
	for _, c := range []struct {
		signals []unix.Signal
		want    int
	}{
		{nil, 0},
		{[]unix.Signal{unix.SIGTERM}, 128 + 15},
		{[]unix.Signal{unix.SIGWINCH, unix.SIGINT}, 128 + 2},
		{[]unix.Signal{unix.SIGKILL}, 128 + 9},
	} {
		var failure error
		var l *listener
		s := proc.Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{}}
		s.Entered = func(pid, pidfd int) {
			for _, signal := range c.signals {
				_ = unix.Kill(pid, signal)
			}
			tr := tracee{pid: pid}
			fd, refused, err := tr.install(pidfd)
			if failure = errors.Join(refused, err); failure == nil {
				l = newListener(fd, "/", nil).listen()
				failure = tr.release()
			}
		}
		p, err := proc.StartUnwatched(s)
		if err != nil {
			t.Fatal(err)
		}
		res := p.Wait(t.Context())
		l.stop()
		if res.ExitCode != c.want || c.want != 128+9 && failure != nil {
			t.Errorf("%v: exited with status %d, want %d, %v", c.signals, res.ExitCode, c.want, failure)
		}
	}
}

func TestManyStartsAtOnce(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			res, used := startAndWait(t, root, proc.Spec{Argv: []string{"/bin/cat", "a"}, Dir: root, Env: []string{}}, traced)
			if res.ExitCode != 0 || !slices.Contains(used, "a: read") {
				t.Errorf("exited with status %d, used %q", res.ExitCode, used)
			}
			runtime.GC() // waits for all threads
		})
	}
	all.Wait()
}

func TestTraceRefuses(t *testing.T) {
	needObserver(t)
	x := &Executor{Root: "/", Self: self(t), Name: self(t)}
	if _, err := traced(x, proc.Spec{Argv: []string{"/does/not/exist"}, Dir: "/"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing program: %v", err)
	}
	root := tree(t, "text")
	if _, _, ok := x.startTraced(proc.Spec{Argv: []string{filepath.Join(root, "text")}, Dir: "/"}); ok {
		t.Error("a file that is no program was started")
	}
	if _, err := x.Start(context.Background(), &action.Command{Spec: proc.Spec{Argv: []string{filepath.Join(root, "text")}, Dir: "/"}}); err == nil || !strings.Contains(err.Error(), syscall.ENOEXEC.Error()) {
		t.Errorf("a file that is no program: %v", err)
	}
	if got, want := told(t, "without", "ptrace", self(t), "tell", root, "/bin/cat", "text"), "textstatus 0\ntext: read\n"; got != want {
		t.Errorf("without ptrace(2): want %q, got %q", want, got)
	}
}

// A program that its user cannot read cannot be traced either.
func TestUnreadableProgram(t *testing.T) {
	needObserver(t)
	root, program := forNobody(t)
	hidden := filepath.Join(root, "hidden")
	copySelf(t, hidden)
	if err := os.Chmod(hidden, 0o711); err != nil {
		t.Fatal(err)
	}
	got := told(t, "nobody", program, "tell", root, hidden, "static", "write:b")
	if !strings.HasPrefix(got, "status 0\n") {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(root, "b")); err != nil {
		t.Error(err)
	}
}

// BenchmarkStart measures a program that does nothing.
func BenchmarkStart(b *testing.B) {
	x := &Executor{Root: b.TempDir(), Self: self(b), Name: self(b)}
	plain := func(_ *Executor, s proc.Spec) (*process, error) {
		p, err := proc.StartUnwatched(s)
		return &process{Process: p}, err
	}
	for name, start := range map[string]func(*Executor, proc.Spec) (*process, error){"plain": plain, "traced": traced, "helped": helped} {
		b.Run(name, func(b *testing.B) {
			before := used(b)
			for b.Loop() {
				p, err := start(x, proc.Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{}})
				if err != nil {
					b.Fatal(err)
				}
				p.Wait(b.Context())
			}
			b.ReportMetric(float64(used(b)-before)/float64(b.N)/1e3, "cpu-us/op")
		})
	}
}

// used returns the time that this process and its children have used, in nanoseconds.
func used(b *testing.B) (sum int64) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += u.Utime.Nano() + u.Stime.Nano()
	}
	return sum
}
