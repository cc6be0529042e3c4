package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/proc"
)

// bomb forks at most 200 times, and prints when it cannot.
const bomb = `i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); echo $i; done`

// needPids skips a test if no process can make a group with a limit: then only RLIMIT_NPROC limits
// processes.
func needPids(t *testing.T) {
	t.Helper()
	dir := filepath.Join(pidsGroup(), "bento-test-"+strconv.Itoa(os.Getpid()))
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "pids.max"), []byte("1"), 0)
		_ = os.Remove(dir)
	}
	if pidsGroup() == "" || err != nil {
		t.Skipf("this machine has no cgroup of the pids controller that the test could use: %v", err)
	}
}

// What is confined has a limit of its user's processes too, and cannot raise it.
func TestConfinedHaveALimit(t *testing.T) {
	needLandlock(t, 1)
	var out strings.Builder
	child, err := Start(proc.Spec{Argv: []string{"/bin/cat", "/proc/self/limits"}, Env: os.Environ(), Stdout: &out, Stderr: &out},
		Policy{Read: append(System(), self(t), "/proc"), Tasks: 50}, self(t))
	if err != nil {
		t.Fatal(err)
	}
	child.Wait(t.Context())
	_, rest, found := strings.Cut(out.String(), "Max processes")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		t.Fatalf("%s", out.String())
	}
	soft, err := strconv.Atoi(fields[0])
	var own unix.Rlimit
	if e := unix.Getrlimit(unix.RLIMIT_NPROC, &own); e != nil {
		t.Fatal(e)
	}
	if err != nil || fields[1] != fields[0] || soft < 50 || uint64(soft) >= own.Cur {
		t.Errorf("the limit of processes is %s, at most %s, of %d", fields[0], fields[1], own.Cur)
	}
}

// A program that forks without end gets no more processes than the limit, and no process of it is
// left.
func TestTasksAreBounded(t *testing.T) {
	needLandlock(t, 1)
	needPids(t)
	var out strings.Builder
	child, err := Start(proc.Spec{Argv: []string{"/bin/sh", "-c", bomb}, Env: os.Environ(), Stdout: &out, Stderr: &out},
		Policy{Read: append(System(), self(t)), Tasks: 50}, self(t))
	if err != nil {
		t.Fatal(err)
	}
	group := string(child.group)
	child.Wait(t.Context())
	if n := strings.Count(out.String(), "\n"); n > 60 || !strings.Contains(out.String(), "ork") {
		t.Errorf("%d forks of 50: %s", n, out.String())
	}
	if _, err := os.Stat(group); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", group, err)
	}
}

// Without such a group the limit of a user's processes applies. It does not apply to root, so the
// test runs as another user.
func TestTasksOfAUserAreBounded(t *testing.T) {
	const limit = 30
	argv := []string{"/bin/sh", "-c", bomb}
	if os.Geteuid() == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("setpriv is not installed")
		}
		argv = append([]string{setpriv, "--reuid=47110", "--clear-groups"}, argv...)
	}
	if os.Getenv("BENTO_TEST_LIMIT") != "" { // the child, which limits itself
		if err := limitUser(limit); err == nil {
			_ = unix.Exec(argv[0], argv, os.Environ())
		}
		os.Exit(99)
	}
	var out strings.Builder
	child, err := proc.Start(proc.Spec{
		Argv: []string{self(t), "-test.run=^TestTasksOfAUserAreBounded$"}, Env: append(os.Environ(), "BENTO_TEST_LIMIT=1"), Stdout: &out, Stderr: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	child.Wait(t.Context())
	if n := strings.Count(out.String(), "\n"); n > limit+10 || !strings.Contains(out.String(), "ork") {
		t.Errorf("%d forks of %d: %s", n, limit, out.String())
	}
}

// A group of a dead process is removed when the next one is made.
func TestGroupsOfTheDeadAreRemoved(t *testing.T) {
	needPids(t)
	g := newGroup(1)
	defer g.remove()
	gone := exec.Command("/bin/true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(filepath.Dir(string(g)), groupPrefix+strconv.Itoa(gone.Process.Pid)+"-1")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	newGroup(1).remove()
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("%s is left", old)
	}
	if _, err := os.Stat(string(g)); err != nil {
		t.Error("a group in use is removed")
	}
}
