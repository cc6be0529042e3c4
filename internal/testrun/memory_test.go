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

type asked struct{ dir, scripts string }

func (a *asked) Run() int {
	a.dir, a.scripts = os.Getenv("TMPDIR"), os.Getenv("GOTMPDIR")
	return 3
}

// TMPDIR of the user stays.
func TestTMPDIR(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	m := &asked{}
	if code := InMemory(m).Run(); code != 3 || m.dir != "/tmp" {
		t.Errorf("%d, %q", code, m.dir)
	}
	t.Setenv("TMPDIR", "")
	if InMemory(m).Run(); (m.dir != "") != (testing.Short() && roomy(memory)) {
		t.Errorf("TMPDIR=%q, short: %v", m.dir, testing.Short())
	}
	if _, err := os.Stat(m.dir); m.dir != "" && err == nil {
		t.Errorf("%s is left", m.dir)
	}
}

// Without -short the scripts are in memory, and nothing else. What the user has set stays.
func TestScriptsInMemory(t *testing.T) {
	t.Setenv("TMPDIR", "")
	for _, set := range []string{"", "/tmp"} {
		t.Setenv("GOTMPDIR", set)
		m := &asked{}
		code, want := ScriptsInMemory(m).Run(), !testing.Short() && roomy(memory)
		if in := filepath.Dir(m.scripts) == memory; code != 3 || m.dir != "" || in != (want && set == "") || set != "" && m.scripts != set {
			t.Errorf("%d, TMPDIR=%q, GOTMPDIR=%q of %q", code, m.dir, m.scripts, set)
		}
		if _, err := os.Stat(m.scripts); m.scripts != set && err == nil {
			t.Errorf("%s is left", m.scripts)
		}
	}
}
