package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/sampling"
)

// TestWholeWorkspaceIsWarm puts the projects of several adapters, or of all, into one
// workspace, runs everything, and wants a run with nothing to do to start no process.
func TestWholeWorkspaceIsWarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	adaptertest.Need(t, "strace")
	whole := newWhole(t)
	rows := slices.DeleteFunc(toolchains(), func(tc toolchain) bool { return tc.variant != "" })
	for _, tc := range sampling.Of(t, 3, rows) {
		whole.add(t, &tc)
	}
	whole.good()
	whole.nothingToDo()
}

// startsNothing wants that bento ci with nothing to do starts no process.
func (k *kitchen) startsNothing() {
	if _, err := exec.LookPath("strace"); err != nil && os.Getenv("BENTO_REQUIRE_TOOLS") != "1" {
		k.t.Log("without strace: what is started is not looked at")
		return
	}
	trace := filepath.Join(k.home, "trace")
	bento := k.command("ci", "--json")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", trace, "-e", "trace=execve,fork,vfork,clone,clone3", "-e", "signal=none", bento.Path}, bento.Args[1:]...)...)
	cmd.Dir, cmd.Env = bento.Dir, bento.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] { // the first is bento itself
		if !strings.Contains(line, "CLONE_THREAD") && !strings.Contains(line, "resumed>") {
			k.t.Errorf("a process was started: %s", line)
		}
	}
}

// newWhole makes an empty workspace.
func newWhole(t *testing.T) *kitchen {
	k := &kitchen{t: t, tc: &toolchain{}, ws: adaptertest.Project(t, "-- bento.toml --\n"), home: t.TempDir()}
	if err := os.RemoveAll(k.path(".git")); err != nil {
		t.Fatal(err)
	}
	k.env = toolEnv(k.home)
	return k
}

// add puts the project of a row below the workspace, unless its tools are not here.
func (k *kitchen) add(t *testing.T, tc *toolchain) {
	for _, tool := range tc.needs {
		if _, err := k.env.LookPath(tool); err != nil && os.Getenv("BENTO_REQUIRE_TOOLS") != "1" {
			t.Logf("without %s: %s is not installed", tc.id, tool)
			return
		}
	}
	one := newKitchen(t, tc)
	for _, name := range []string{"bento.toml", "aside"} {
		if err := os.RemoveAll(one.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(one.ws, k.path(tc.id)); err != nil {
		t.Fatal(err)
	}
}
