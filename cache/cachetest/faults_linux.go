package cachetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// AsNobody runs f without root's permissions.
func AsNobody(t testing.TB, f func()) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(t.TempDir()), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Skip("cannot be nobody")
		}
		defer unix.Setfsuid(0)
	}
	f()
}

// ReadOnly makes everything below dir read-only until the test ends.
func ReadOnly(t testing.TB, dir string) {
	t.Helper()
	walk := func(mode fs.FileMode) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	walk(0o555)
	t.Cleanup(func() { walk(0o755) })
}

// SmallDisk returns a directory on a disk of 256 KiB.
func SmallDisk(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
