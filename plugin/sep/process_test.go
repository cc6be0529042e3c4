package sep

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// quick returns a manifest whose process is the kid of a name. The command line of the process and of its
// descendants has mark.
func quick(t *testing.T, name, mark string) *manifest.Manifest {
	t.Helper()
	const long = `"startupTimeoutMs":120000,"heartbeatIntervalMs":120000,"unhealthyAfterMissedHeartbeats":1`
	m := parsed(t, `"startupTimeoutMs":5000,"heartbeatIntervalMs":2000,"unhealthyAfterMissedHeartbeats":2`, long)
	switch kids()[name].reason { // a busy machine must not make the others fail
	case "startup_timeout", "not_connected":
		m.Health.StartupTimeoutMs = 2000
	case "unhealthy":
		m.Health.HeartbeatIntervalMs = 1000
	case "rate_abuse": // 100 messages must arrive before the next token
		m.Limits.MaxRequestsPerSecond = 1
	}
	m.Permissions = []string{manifest.Notify}
	m.Events = nil
	m.Entrypoint = manifest.Entrypoint{Command: testrun.Kid(t), Args: []string{"kid:" + name, mark}}
	return m
}

var marks atomic.Int64

// TestMisbehaving runs extensions that misbehave, as processes. Each must have its code, and no process is
// left.
func TestMisbehaving(t *testing.T) {
	all := kids()
	delete(all, "environment") // other tests use these two
	delete(all, "stdio")
	if len(all) < 60 {
		t.Errorf("%d extensions, want at least 60", len(all))
	}
	var tests sync.WaitGroup
	slots := make(chan struct{}, 20) // they mostly wait, one of them for 5s
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tests.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(name, func(t *testing.T) { misbehave(t, name, all[name]) })
		})
	}
	tests.Wait()
}

// misbehave runs a kid. If the machine was too slow for the kid to connect before the timeout under test,
// it runs again with more time.
func misbehave(t *testing.T, name string, k kid) {
	m := quick(t, name, "")
	s := k.end(t, m)
	for k.reason == "startup_timeout" && s.Reason == "not_connected" && m.Health.StartupTimeoutMs < 60_000 {
		m.Health.StartupTimeoutMs *= 2
		s = k.end(t, m)
	}
	if k.state == Backoff && (s.Failure.Code != k.code || s.Reason != k.reason) || k.state == Running && s.State != Running {
		t.Errorf("got %s, reason %q, %v\nwant %s, %s, %s", s.State, s.Reason, s.Failure, k.state, k.code, k.reason)
	}
}

// end runs a process until it has the expected state or has failed, and closes it. No socket or process
// may be left.
func (k *kid) end(t *testing.T, m *manifest.Manifest) Status {
	t.Helper()
	mark := fmt.Sprintf("mark-%d-%d.", os.Getpid(), marks.Add(1))
	m.Entrypoint.Args[1] = mark
	defer gone(t, mark)
	dir, sockets := t.TempDir(), t.TempDir()
	env := adapters.NewEnviron([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + sockets, "SECRET=s"})
	seen := make(chan Status, 1000)
	log := host.NewTail(1<<16, nil)
	x, err := Start(t.Context(), Options{Manifest: m, Dir: dir, Env: env, Log: log, Changed: func(s Status) { seen <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	s := until(t, seen, func(s Status) bool { return s.Failure != nil || s.State == Running && k.state == Running })
	for end := time.Now().Add(time.Minute); k.log != "" && !strings.Contains(log.String(), k.log); {
		if time.Now().After(end) {
			t.Fatalf("the log does not contain %q: %q", k.log, log)
		}
		runtime.Gosched()
	}
	x.Close()
	if left, _ := os.ReadDir(sockets); len(left) > 0 {
		t.Errorf("left in the directory of sockets: %v", left)
	}
	return s
}

func until(t *testing.T, seen <-chan Status, good func(Status) bool) Status {
	t.Helper()
	for {
		select {
		case s := <-seen:
			if good(s) {
				return s
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("the extension did not get there within 2 minutes")
		}
	}
}

// gone checks that no process with the mark is left.
func gone(t *testing.T, mark string) {
	t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		return // no Linux
	}
	for _, n := range names {
		if _, err := strconv.Atoi(n.Name()); err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", n.Name(), "cmdline"))
		if strings.Contains(string(line), mark) {
			t.Errorf("process %s is left: %q", n.Name(), line)
		}
	}
}
