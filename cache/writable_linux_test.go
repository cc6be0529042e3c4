package cache_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/cache"
)

// TestCheckWritable: CheckWritable finds a store that cannot be written. It accepts a directory that a
// build could make, and makes nothing itself.
func TestCheckWritable(t *testing.T) {
	top := t.TempDir()
	locked, free := filepath.Join(top, "locked"), filepath.Join(top, "free")
	for dir, perm := range map[string]os.FileMode{locked: 0o555, free: 0o777} {
		if err := os.Mkdir(dir, perm); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, perm); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		dir string
		ok  bool
	}{{free, true}, {filepath.Join(free, "a/b"), true}, {locked, false}, {filepath.Join(locked, "a/b"), false}} {
		d, err := cache.Open(tc.dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := asUser(d.CheckWritable); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.dir, err)
		}
	}
	if left, err := os.ReadDir(free); err != nil || len(left) > 0 {
		t.Errorf("made %v, %v", left, err)
	}
}

// asUser calls do in a thread to which permissions apply, even for root.
func asUser(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var caps [2]unix.CapUserData
		err := unix.Capget(&head, &caps[0])
		caps[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		if err == nil {
			err = unix.Capset(&head, &caps[0])
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}
