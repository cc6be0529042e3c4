//go:build linux

package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be another bento.
func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST_ROLE") {
	case "killed":
		startAndWaitForKill()
	case "stranger":
		keepStranger()
	default:
		os.Exit(m.Run())
	}
}

// until returns a context that ends when the script has written a line.
func until(t *testing.T, s *Spec) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s.Stdout = writerFunc(func([]byte) { cancel() })
	s.Stderr = s.Stdout
	return ctx
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// Descendants of every kind, with and without the pipe.
var daemons = map[string]string{
	"child":             "sleep 1000 &",
	"child, no pipe":    "sleep 1000 >/dev/null 2>&1 &",
	"session":           "setsid sleep 1000 &",
	"session, no pipe":  "setsid sleep 1000 >/dev/null 2>&1 </dev/null &",
	"double fork":       "(setsid sh -c 'sleep 1000 & sleep 1000 & wait' >/dev/null 2>&1 &) ;",
	"own group":         "set -m; sleep 1000 & set +m;",
	"ignores TERM":      "(trap '' TERM; setsid sh -c 'sleep 1000; sleep 1000') &",
	"forks when killed": "setsid sh -c \"trap 'setsid sleep 1000 &' TERM; while :; do sleep 0.01; done\" &",
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, script := range daemons {
		t.Run(name+"/exit", func(t *testing.T) {
			t.Parallel()
			res, out := run(t, t.Context(), shell(t, script+" echo done; exit 5"))
			if res.ExitCode != 5 || !strings.Contains(out, "done\n") {
				t.Errorf("%+v, printed %q", res, out)
			}
		})
		t.Run(name+"/cancel", func(t *testing.T) {
			t.Parallel()
			s := shell(t, script+" echo ready; sleep 1000")
			s.Grace = 200 * time.Millisecond
			ctx := until(t, &s)
			if res, _ := run(t, ctx, s); !res.Canceled || res.ExitCode != 143 || res.Signal != "SIGTERM" {
				t.Errorf("%+v", res)
			}
		})
		t.Run(name+"/timeout", func(t *testing.T) {
			t.Parallel()
			s := shell(t, script+" sleep 1000")
			s.Grace, s.Timeout = 100*time.Millisecond, 200*time.Millisecond
			if res, _ := run(t, t.Context(), s); !res.TimedOut {
				t.Errorf("%+v", res)
			}
		})
	}
}

// The leftovers of one run are distinct from the processes of another.
func TestOtherRunsAreLeftAlone(t *testing.T) {
	long := shell(t, "setsid sleep 1000 & echo $$ $!; wait")
	long.Env[1] += "/long"
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	long.Stdout = writerFunc(func(text []byte) { ready <- string(text) })
	done := make(chan Result)
	go func() {
		res, _ := Run(ctx, long)
		done <- res
	}()
	pids := strings.Fields(<-ready)
	run(t, t.Context(), shell(t, "(setsid sleep 1000 &); exit 0"))
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if _, zombie, ok := statProcess(pid); len(pids) != 2 || err != nil || !ok || zombie {
			t.Errorf("of the processes %q of the other run %q has ended", pids, text)
		}
	}
	cancel()
	<-done
	if left := survivors(t.Name() + "/long"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// lingering runs a script whose helpers have a minute after it has exited, and a grace of a minute.
func lingering(t *testing.T, script string) (Result, string) {
	t.Helper()
	var out bytes.Buffer
	s := shell(t, script)
	s.Stdout, s.Stderr, s.Grace = &out, &out, time.Minute
	p, err := StartUnwatched(s)
	if err != nil {
		t.Fatal(err)
	}
	p.linger = time.Minute
	return p.Wait(t.Context()), out.String()
}

func TestHelperMayFinish(t *testing.T) {
	res, out := lingering(t, "(sleep 0.05; echo late) & echo early")
	if res.ExitCode != 0 || out != "early\nlate\n" {
		t.Errorf("%+v, printed %q", res, out)
	}
}

// A helper prints more than the capacity of a pipe, and the child has printed nothing before.
func TestHelperMayPrintMuch(t *testing.T) {
	for _, to := range []string{"", " >&2"} {
		res, out := lingering(t, "(sleep 0.02; head -c 300000 /dev/zero"+to+") & exit 0")
		if res.ExitCode != 0 || len(out) != 300_000 {
			t.Errorf("%+v, printed %d bytes, want 300000", res, len(out))
		}
	}
}

func TestTermIsHandled(t *testing.T) {
	s := shell(t, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
	s.Grace = time.Minute
	ctx := until(t, &s)
	if res, _ := run(t, ctx, s); !res.Canceled || res.ExitCode != 7 || res.Signal != "" {
		t.Errorf("%+v", res)
	}
}

func TestTermIsIgnored(t *testing.T) {
	s := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	s.Grace = 100 * time.Millisecond
	ctx := until(t, &s)
	res, _ := run(t, ctx, s)
	if res.ExitCode != 137 || res.Duration < s.Grace {
		t.Errorf("%+v", res)
	}
}

func TestStoppedProcessIsEnded(t *testing.T) {
	s := shell(t, "echo ready; kill -STOP $$; exit 0")
	s.Grace = 2 * time.Minute
	ctx := until(t, &s)
	res, _ := run(t, ctx, s)
	if res.Duration > s.Grace {
		t.Errorf("took the whole grace: %+v", res)
	}
}

func TestKillCutsTheGrace(t *testing.T) {
	s := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	s.Grace = 2 * time.Minute
	ctx := until(t, &s)
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		time.AfterFunc(20*time.Millisecond, p.Kill)
	}()
	if res := p.Wait(ctx); res.ExitCode != 137 || res.Duration > s.Grace {
		t.Errorf("%+v", res)
	}
	p.Kill() // after the end: no process gets the signal
	p.Terminate()
}

func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			var out strings.Builder
			s := shell(t, fmt.Sprintf("(setsid sleep 1000 >/dev/null 2>&1 &) ; echo %d; exit %d", i, i))
			if i%2 == 0 {
				s.Argv[2] = fmt.Sprintf("echo %d; exit %d", i, i)
			}
			s.Stdout = &out
			res, err := Run(t.Context(), s)
			if err != nil || res.ExitCode != i || out.String() != strconv.Itoa(i)+"\n" {
				t.Errorf("run %d: %+v, %v, printed %q", i, res, err, out.String())
			}
		})
	}
	wg.Wait()
	if left := survivors(t.Name()); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	if kids := childrenOf(os.Getpid()); len(kids) != 0 {
		t.Errorf("children not reaped: %v", kids)
	}
}

func role(t *testing.T, name string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROC_TEST_ROLE="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func startAndWaitForKill() {
	_, err := Start(Spec{Argv: []string{"/bin/sleep", "1000"}, Stdout: os.Stdout})
	fmt.Println("started", err)
	time.Sleep(time.Minute)
}

func TestChildDiesWithBento(t *testing.T) {
	cmd, out := role(t, "killed")
	line, err := out.ReadString('\n')
	if err != nil || line != "started <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	cmd.Process.Kill()
	if _, err := io.Copy(io.Discard, out); err != nil { // ends when the child is dead
		t.Error(err)
	}
	cmd.Wait()
}

func keepStranger() {
	stranger := exec.Command("/bin/sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	_ = stranger.Start()
	_, err := Run(context.Background(), Spec{Argv: []string{"/bin/true"}})
	fmt.Println(stranger.Process.Signal(syscall.Signal(0)), err)
	stranger.Process.Kill()
	err = stranger.Wait()
	fmt.Println(err)
}

// Children from before the first Start are not ours to end, nor to reap.
func TestStrangersAreLeftAlone(t *testing.T) {
	cmd, out := role(t, "stranger")
	got, err := io.ReadAll(out)
	if err != nil || string(got) != "<nil> <nil>\nsignal: killed\n" {
		t.Errorf("%q, %v", got, err)
	}
	cmd.Wait()
}

// BenchmarkExec measures os/exec for the same work.
func BenchmarkExec(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
