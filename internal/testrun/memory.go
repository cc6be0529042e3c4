// Package testrun runs the tests of a package with many files, or many waits, in less time.
package testrun

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// main is a *testing.M, or what a package has around one.
type main interface{ Run() int }

// InMemory returns m such that, with -short, Run has TMPDIR in memory: the disk's file system takes
// half of the system time of a short run. Without -short, where TMPDIR
// is set, and on a machine without room it changes nothing. TMPDIR=/tmp keeps the disk.
func InMemory(m main) main { return inMemory{main: m, variable: "TMPDIR", short: true} }

// ScriptsInMemory returns m such that, without -short, Run has the directories of testscript, and of
// go build, in memory, by GOTMPDIR. Other tests keep the disk. See InMemory.
func ScriptsInMemory(m main) main { return inMemory{main: m, variable: "GOTMPDIR"} }

type inMemory struct {
	main
	variable string
	short    bool // it acts with -short, else without
}

// Run implements main.
func (m inMemory) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	if testing.Short() != m.short || os.Getenv("TMPDIR") != "" || os.Getenv(m.variable) != "" {
		return m.main.Run()
	}
	dir, done := use(memory)
	if dir == "" {
		return m.main.Run()
	}
	defer done()
	_ = os.Setenv(m.variable, dir)
	defer os.Unsetenv(m.variable)
	return m.main.Run()
}

// use makes a directory in parent, of a short name, because it is part of the paths of sockets. done
// removes it. dir is "" where parent is unsuitable. It removes what dead processes have left.
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
