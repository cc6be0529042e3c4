package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test binary be the other process.
func TestMain(m *testing.M) {
	if root := os.Getenv("STATE_TEST_HOLD"); root != "" {
		hold(root)
		return
	}
	os.Exit(m.Run())
}

// hold takes a lock and a temporary directory, prints that, and waits to be killed.
func hold(root string) {
	_, lockErr := Open(root).Lock(context.Background(), "locks/l", nil)
	dir, tempErr := Open(root).Temp()
	if err := errors.Join(lockErr, tempErr); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir.Path(), "f"), nil, 0o666); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dir.Path())
	time.Sleep(time.Hour)
}

func holder(t *testing.T, root string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STATE_TEST_HOLD="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func TestLockExcludes(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	var holders, total atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 10 {
				unlock, err := Open(root).Lock(t.Context(), "l", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				total.Add(1)
				holders.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if n := total.Load(); n != 80 {
		t.Errorf("%d turns, want 80", n)
	}
}

func TestLockNamesItsOwnerAndOutlivesKill(t *testing.T) {
	root := t.TempDir()
	cmd, _ := holder(t, root)
	var owners []string
	unlock, err := Open(root).Lock(t.Context(), "locks/l", func(owner string) {
		owners = append(owners, owner)
		cmd.Process.Kill() // kill -9: the lock must come free
	})
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	want, path := fmt.Sprintf("process %d since ", cmd.Process.Pid), " has the lock "+Open(root).Shown("locks/l")
	if len(owners) != 1 || !strings.HasPrefix(owners[0], want) || !strings.HasSuffix(owners[0], path) {
		t.Errorf("waiting was told %q, want one %q…%q", owners, want, path)
	}
}

func TestLockIsCancelled(t *testing.T) {
	d := Open(t.TempDir())
	unlock, err := d.Lock(t.Context(), "l", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	if err := os.Truncate(d.Shown("l"), 0); err != nil { // no process has signed it
		t.Fatal(err)
	}
	var told string
	_, err = d.Lock(ctx, "l", func(holder string) { told = holder; cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("lock: %v, want canceled", err)
	}
	if want := "a process has the lock " + d.Shown("l"); told != want {
		t.Errorf("waiting was told %q, want %q", told, want)
	}
}

func TestTempOfTheDeadIsSwept(t *testing.T) {
	root := t.TempDir()
	cmd, theirs := holder(t, root)
	d := Open(root)
	own, err := d.Temp()
	if err != nil {
		t.Fatal(err)
	}
	mine := own.Path()
	if _, err := os.Stat(filepath.Join(theirs, "f")); err != nil {
		t.Fatalf("swept while its owner lives: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	d.Sweep()
	if _, err := os.Stat(theirs); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", theirs, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("swept: %v", err)
	}
	own.Remove()
	if _, err := os.Stat(mine); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left after remove: %v", mine, err)
	}
}

func TestTempInParallel(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				dir, err := Open(root).Temp()
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(dir.Path(), "f"), nil, 0o666); err != nil {
					t.Error(err)
				}
				dir.Remove()
			}
		})
	}
	wg.Wait()
}

func TestOldTempFileIsSwept(t *testing.T) {
	d := Open(t.TempDir())
	temp, err := d.Temp()
	if err != nil {
		t.Fatal(err)
	}
	temp.Remove()
	old, young := d.Shown(tempPrefix+"old"), d.Shown(tempPrefix+"young")
	staged := d.Shown("tmp/" + tempPrefix + "old")
	for _, path := range []string{old, young, staged} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.Chtimes(old, past, past), os.Chtimes(staged, past, past)); err != nil {
		t.Fatal(err)
	}
	d.Sweep()
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one stays")
	}
	if _, err := os.Stat(staged); err == nil {
		t.Error("the old one in tmp stays")
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young one: %v", err)
	}
}
