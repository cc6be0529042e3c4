// Package testrun runs the tests of a package with many files, or many waits, in less time, and finds the processes
// that a test has left.
package testrun

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bentobuild/bento/internal/sampling"
)

// main is a *testing.M, or a wrapper of one.
type main interface{ Run() int }

// InMemory returns m with a Run that has TMPDIR in memory: tests with many small files spend most of
// their time in the disk's file system. It changes nothing if every case is tried (see sampling.All),
// if TMPDIR is set, and on a machine without room. TMPDIR=/tmp keeps the disk.
func InMemory(m main) main { return inMemory{m} }

type inMemory struct{ main }

// Run implements main.
func (m inMemory) Run() int {
	if sampling.All() || os.Getenv("TMPDIR") != "" {
		return m.main.Run()
	}
	dir, done := use(memory)
	if dir == "" {
		return m.main.Run()
	}
	defer done()
	_ = os.Setenv("TMPDIR", dir)
	defer os.Unsetenv("TMPDIR")
	return m.main.Run()
}

// OnDisk makes a directory on the disk, for tests with programs that treat paths below /dev in another way.
func OnDisk(t testing.TB) string {
	t.Helper()
	parent := os.TempDir()
	if filepath.Dir(parent) == memory {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "bento-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// use makes a directory in parent, with a short name, because it is part of the paths of sockets.
// done removes it. dir is "" if parent is unsuitable. use also removes directories that dead
// processes have left.
func use(parent string) (dir string, done func()) {
	if !roomy(parent) {
		return "", nil
	}
	sweep(parent)
	var err error
	for n := 0; dir == "" || errors.Is(err, fs.ErrExist); n++ {
		dir = filepath.Join(parent, prefix+strconv.Itoa(n))
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return "", nil
	}
	unlock, ok := lock(dir)
	if !ok {
		_ = os.Remove(dir)
		return "", nil
	}
	// As /tmp is: some tests run programs as another user.
	_ = os.Chmod(dir, 0o777|os.ModeSticky)
	return dir, func() {
		_ = os.RemoveAll(dir)
		unlock()
	}
}

// prefix begins the names of the directories.
const prefix = "bt-"

// sweep removes the directories that no process has locked.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, dir := range left {
		if unlock, ok := lock(dir); ok {
			_ = os.RemoveAll(dir)
			unlock()
		}
	}
}
