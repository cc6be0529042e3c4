package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/sampling"
)

// toolchain is one row of TestToolchains: a project of two dishes on disk, a library and an application that uses
// it, and the expected results of the twelve steps.
type toolchain struct {
	id      string   // of the adapter
	variant string   // distinguishes two rows of one adapter: "pnp"
	fixture string   // below testdata/toolchains; the id when empty
	needs   []string // required executables
	version []string // the command that prints the tool's version

	// env is added to the environment of every row; PATH=DIR puts a directory in front.
	env func(k *kitchen) []string
	// prepare makes files that are not committed, such as lockfiles that name a registry.
	prepare func(k *kitchen)

	lib, app string   // names of the dishes; "lib" and "app" when empty
	tasks    []string // exactly the tasks of bento ci: "lib:build", …
	library  edit     // changes the code of the library
	program  edit     // changes only the application

	// lock changes the lockfile, mostly by the tool. locked are the dishes whose dependencies change,
	// so that they run again. lock is nil if there is no lockfile.
	lock   func(k *kitchen)
	locked []string
	// lockKeeps says that a changed lockfile needs no install.
	lockKeeps bool

	test    breakage // breaks a test
	compile breakage // breaks a build or a check

	// installed are the paths, relative to the workspace, that an install makes. It is empty if
	// an install fills a cache of the machine.
	installed []string
	// begun is a glob, relative to the workspace, of the first files of an install: the test kills
	// the install once they exist. If begun is "", the test kills it at its start.
	begun string
	// nothing says that the ecosystem has no install.
	nothing bool

	pin  edit   // requires a version that is not installed
	asks string // the text that the error must contain
}

// edit replaces a text in a file of the workspace. If old is "", it creates the file or replaces the whole content.
type edit struct{ file, old, new string }

// breakage is an edit after which a task fails.
type breakage struct {
	edit
	task string // "lib:test"
	// says is the text that the output of the task must contain: a test, a message.
	says string
	// place is the "file:line" of the expected diagnostic, "" for none.
	place string
}

func (tc *toolchain) name() string {
	if tc.variant != "" {
		return tc.id + "-" + tc.variant
	}
	return tc.id
}

// toolchains returns the rows of all families.
func toolchains() []toolchain {
	return slices.Concat(
		goToolchains(), cargoToolchains(), pythonToolchains(), rubyToolchains(), phpToolchains(),
		jvmToolchains(), denoToolchains(), nodeToolchains(),
	)
}

// TestToolchains takes twelve steps with every built-in adapter and its real tools. Each step builds on the
// previous steps. With BENTO_TABLE=FILE, it appends a line for each row to FILE, with the version of the tool and
// the time of each step. make check runs one in three of the variants of an adapter.
func TestToolchains(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	for _, tc := range toolchains() {
		t.Run(tc.name(), func(t *testing.T) {
			t.Parallel()
			adaptertest.Need(t, tc.needs...)
			if tc.variant != "" {
				sampling.Skip(t, 3)
			}
			newKitchen(t, &tc).cook()
		})
	}
}

// TestEveryAdapterIsCooked checks that every built-in adapter has a row.
func TestEveryAdapterIsCooked(t *testing.T) {
	var rows []string
	for _, tc := range toolchains() {
		rows = append(rows, tc.id)
	}
	var ids []string
	for _, a := range builtin.All(snapshot.Options{}) {
		ids = append(ids, a.Manifest().AdapterID)
		if id := a.Manifest().AdapterID; !slices.Contains(rows, id) {
			t.Errorf("the adapter %s has no row in toolchains()", id)
		}
	}
	thirteen := []string{
		"go", "cargo", "python-uv", "python", "ruby", "php", "maven", "gradle", "deno", "bun", "node-pnpm", "node-yarn", "node-npm",
	}
	if d := cmp.Diff(thirteen, ids); d != "" {
		t.Errorf("not the thirteen: %s", d)
	}
}

// cook takes the twelve steps.
func (k *kitchen) cook() {
	for _, step := range []struct {
		name string
		take func()
	}{
		{"detect", k.detect},
		{"plan", k.plan},
		{"install", k.install},
		{"ci", k.everything},
		{"hits", k.startNothing},
		{"library", k.editLibrary},
		{"lockfile", k.editLockfile},
		{"test", func() { k.fail(k.tc.test) }},
		{"compile", func() { k.fail(k.tc.compile) }},
		{"reinstall", k.loseInstall},
		{"killed", k.killInstall},
		{"pin", k.missPin},
	} {
		if !k.step(step.name, step.take) {
			return
		}
	}
	k.tell()
}

// tell adds the row to the table.
func (k *kitchen) tell() {
	path := os.Getenv("BENTO_TABLE")
	if path == "" { // some tools need seconds to print their version
		return
	}
	row := k.tc.name() + " | " + k.version() + " | " + strings.Join(k.times, " | ")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		k.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(row + "\n"); err != nil {
		k.t.Fatal(err)
	}
}

// version returns the first line of the version output of the tool.
func (k *kitchen) version() string {
	if len(k.tc.version) == 0 {
		return ""
	}
	path, err := k.env.LookPath(k.tc.version[0])
	if err != nil {
		k.t.Fatal(err)
	}
	cmd := exec.Command(path, k.tc.version[1:]...)
	cmd.Env, cmd.Dir = k.env, k.home
	out, _ := cmd.CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}
