//go:build linux

package testrun

import (
	"os"
	"path/filepath"
	"testing"
)

// A run removes its own directory, and those that dead runs have left, not those of others.
func TestUse(t *testing.T) {
	parent, err := os.MkdirTemp(memory, "testrun-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(parent)
	if !roomy(parent) {
		t.Skip("no room in memory")
	}
	dead, foreign := filepath.Join(parent, prefix+"dead"), filepath.Join(parent, "foreign")
	for _, dir := range []string{filepath.Join(dead, "below"), foreign} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, firstDone := use(parent)
	second, secondDone := use(parent)
	if first == "" || second == "" || first == second {
		t.Fatalf("%q, %q", first, second)
	}
	for path, want := range map[string]bool{dead: false, foreign: true, first: true, second: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	firstDone()
	secondDone()
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// The tests' directory is not on a disk.
func TestRoomy(t *testing.T) {
	if roomy("/proc") || roomy(filepath.Join(t.TempDir(), "missing")) {
		t.Error("there is room where no file can be")
	}
}

type asked struct{ dir string }

func (a *asked) Run() int {
	a.dir = os.Getenv("TMPDIR")
	return 3
}

// TMPDIR of the user stays, and make test-long is on the disk.
func TestTMPDIR(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	m := &asked{}
	if code := InMemory(m).Run(); code != 3 || m.dir != "/tmp" {
		t.Errorf("%d, %q", code, m.dir)
	}
	t.Setenv("TMPDIR", "")
	t.Setenv("BENTO_TEST_ALL", "1")
	if InMemory(m).Run(); m.dir != "" {
		t.Errorf("TMPDIR=%q where every case is tried", m.dir)
	}
	t.Setenv("BENTO_TEST_ALL", "")
	if InMemory(m).Run(); (m.dir != "") != roomy(memory) {
		t.Errorf("TMPDIR=%q", m.dir)
	}
	if _, err := os.Stat(m.dir); m.dir != "" && err == nil {
		t.Errorf("%s is left", m.dir)
	}
}
