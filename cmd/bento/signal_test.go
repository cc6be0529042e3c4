package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
)

// signalled runs "signal SIG FIFO CODE COMMAND…": it starts the command, waits until a process of it writes to
// the FIFO, and sends the signal. The command must exit with CODE.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signal SIG FIFO CODE COMMAND…")
	}
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[args[0]]
	hearHangup()
	fifo := ts.MkAbs(args[1])
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Check(syscall.Mkfifo(fifo, 0o600))
	program, err := lookPath(ts.Getenv("PATH"), args[3])
	ts.Check(err)
	var out bytes.Buffer
	cmd := exec.Command(program, args[4:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &out
	cmd.Env = append(environ(ts), "LC_BENTO_MARK="+ts.Getenv("WORK"))
	ts.Check(cmd.Start())
	started := make(chan error, 1)
	go func() {
		f, err := os.Open(fifo) // blocks until a process opens it for writing
		if err == nil {         // to close it before the write would end the writer
			_, err = f.Read(make([]byte, 16))
			f.Close()
		}
		started <- err
	}()
	select {
	case err := <-started:
		ts.Check(err)
	case <-time.After(5 * time.Minute):
		ts.Fatalf("nothing wrote to %s:\n%s", fifo, out.String())
	}
	ts.Check(cmd.Process.Signal(sig))
	err = cmd.Wait()
	var exit *exec.ExitError
	if got := cmd.ProcessState.ExitCode(); got != want && !(errors.As(err, &exit) && want < 0) {
		ts.Fatalf("exit code %d, want %d:\n%s", got, want, out.String())
	}
	ts.Logf("%s", out.String())
}

// hearHangup lets SIGHUP reach the children even if these tests run under nohup.
var hearHangup = sync.OnceFunc(func() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
})

func lookPath(path, name string) (string, error) {
	return adapters.Environ{"PATH=" + path}.LookPath(name)
}

// environ returns the environment of a script.
func environ(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range slices.Concat(passed, []string{"HOME", "PATH", "BENTO_CACHE_DIR", "WORK", "TMPDIR", "NAMED", "LC_SPY"}) {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// nothingLeft checks that no process that "signal" started is left. It waits: the kernel may take a moment to
// end the children of a killed process.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	if left := leftOf("LC_BENTO_MARK=" + ts.Getenv("WORK")); len(left) > 0 {
		ts.Fatalf("left running: %s", strings.Join(left, ", "))
	}
}

// leftOf waits for the processes with mark in their environment to end, and returns those
// that do not.
func leftOf(mark string) (left []string) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if left = marked([]byte(mark)); len(left) == 0 {
			break
		}
	}
	return left
}

func marked(mark []byte) []string {
	return testrun.Left("environ", func(env []byte) bool { return bytes.Contains(env, mark) })
}
