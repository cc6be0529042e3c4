package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

// detect checks that bento finds the two dishes, with the language of the adapter.
func (k *kitchen) detect() {
	found := make(map[string]string)
	for _, b := range k.bento("plan").Bentos {
		for _, d := range b.Dishes {
			if d.Language != nil {
				found[d.Name] = *d.Language
			}
		}
	}
	if found[k.tc.lib] != k.tc.id || found[k.tc.app] != k.tc.id {
		k.t.Fatalf("dishes %v; want %s and %s of %s", found, k.tc.lib, k.tc.app, k.tc.id)
	}
}

// plan checks that the plan has exactly the expected tasks, and that none of them has a result.
func (k *kitchen) plan() {
	a := k.bento("plan")
	want := slices.Sorted(slices.Values(k.tc.tasks))
	if d := cmp.Diff(want, a.ids("")); d != "" {
		k.t.Fatalf("tasks: %s", d)
	}
	a.each(func(id string, t *servedTask) {
		if t.Status != "cache_miss" {
			k.t.Errorf("%s is %s", id, t.Status)
		}
	})
	if a.exit != 0 {
		k.t.Fatalf("bento plan exits with %d:\n%s", a.exit, a.stderr)
	}
}

// install checks that bento install makes the installed paths.
func (k *kitchen) install() {
	if a := k.bento("install"); a.exit != 0 {
		k.t.Fatalf("bento install exits with %d:\n%s", a.exit, a.stderr)
	}
	k.wantInstalled()
}

func (k *kitchen) wantInstalled() {
	k.t.Helper()
	for _, p := range k.tc.installed {
		if _, err := os.Stat(k.path(p)); err != nil {
			k.t.Fatalf("not installed: %v", err)
		}
	}
}

// everything checks that all tasks run and succeed.
func (k *kitchen) everything() {
	a := k.good()
	if d := cmp.Diff(a.ids(""), a.ids("built")); d != "" {
		k.t.Fatalf("not built: %s\n%s", d, a.stderr)
	}
	if a.Summary.Installs != 0 {
		k.t.Errorf("installed again: %s", a.stderr)
	}
}

// nothingToDo checks that a further run has only cache hits, and no install.
func (k *kitchen) nothingToDo() {
	a := k.good()
	if a.Summary.Hits != a.Summary.Tasks || a.Summary.Installs != 0 {
		k.t.Fatalf("not all hits: %+v\n%s%s", a.Summary, a.stderr, k.why(a))
	}
}

// why returns the output of bento why for each task that ran.
func (k *kitchen) why(a *served) string {
	var b strings.Builder
	for _, id := range a.ids("built") {
		out, _ := k.command("why", id).CombinedOutput()
		b.Write(out)
	}
	return b.String()
}

// editLibrary checks that after an edit of the library exactly the tasks of the library and of the application
// run again. After an edit of the application, only its tasks are misses in the plan; TestCommandsAgree checks
// that a run follows its plan.
func (k *kitchen) editLibrary() {
	all := k.nowHits()
	k.make(k.tc.library)
	a := k.good()
	if d := cmp.Diff(of(all, k.tc.lib, k.tc.app), a.ids("built")); d != "" {
		k.t.Fatalf("after an edit of the library: %s\n%s", d, a.stderr)
	}
	if a.task("aside:build").Outcome.Kind != "cache_hit" {
		k.t.Error("a dish that has nothing to do with it runs again")
	}
	undo := k.make(k.tc.program)
	a = k.bento("plan")
	if d := cmp.Diff(of(all, k.tc.app), a.misses()); d != "" {
		k.t.Fatalf("after an edit of the application: %s\n%s", d, a.stderr)
	}
	undo()
}

// nowHits checks that every task is a cache hit, and returns the ids of all tasks.
func (k *kitchen) nowHits() []string {
	k.t.Helper()
	k.nothingToDo()
	return slices.Sorted(slices.Values(k.tc.tasks))
}

// editLockfile (A1, A2) checks that a changed lockfile is installed, and that exactly the dishes with other
// dependencies run again.
func (k *kitchen) editLockfile() {
	if k.tc.lock == nil {
		k.t.Skip("there is no lockfile")
	}
	all := k.nowHits()
	k.tc.lock(k)
	a := k.good()
	if d := cmp.Diff(of(all, k.tc.locked...), a.ids("built")); d != "" {
		k.t.Fatalf("after a change of the lockfile: %s\n%s%s", d, a.stderr, k.why(a))
	}
	if len(k.tc.locked) > 0 && !k.tc.lockKeeps && a.Summary.Installs == 0 {
		k.t.Fatalf("nothing was installed:\n%s", a.stderr)
	}
	k.wantInstalled()
}

// fail checks that a broken task fails with exit code 1, that its output names the fault, and that a diagnostic
// has the place. An unrelated dish is still a cache hit. fail runs no other tasks of the dish: each starts a tool
// and would test nothing more.
func (k *kitchen) fail(b breakage) {
	k.nowHits()
	undo := k.make(b.edit)
	a := k.bento("run", b.task, "aside:build", "--keep-going")
	if a.exit != 1 {
		k.t.Fatalf("exit code %d, want 1:\n%s", a.exit, a.stderr)
	}
	task := a.task(b.task)
	if task == nil || task.Outcome.Kind != "failed" {
		k.t.Fatalf("%s did not fail; failed: %v\n%s", b.task, a.ids("failed"), a.stderr)
	}
	if said := task.Output + task.Outcome.Stderr; !strings.Contains(said, b.says) {
		k.t.Errorf("the output of %s does not name %q:\n%s", b.task, b.says, said)
	}
	if b.place != "" && !slices.ContainsFunc(task.Diagnostics, func(d diagnostics.Diagnostic) bool {
		return fmt.Sprintf("%s:%d", d.File, d.Line) == b.place
	}) {
		k.t.Errorf("no diagnostic of %s at %s: %v\n%s", b.task, b.place, task.Diagnostics, task.Output)
	}
	if a.task("aside:build").Outcome.Kind != "cache_hit" {
		k.t.Error("a dish that has nothing to do with it is no hit")
	}
	undo()
}

// loseInstall (A1) removes the installed files and edits a source, and checks that an install starts before the
// tests run. It kills bento during the install.
func (k *kitchen) loseInstall() {
	if k.tc.nothing {
		k.t.Skip("there is nothing to install")
	}
	k.nowHits()
	k.remove()
	k.make(edit{k.tc.library.file, k.tc.library.new, k.tc.library.old})
	args := []string{"run", "--no-cache", k.tc.app + ":test", k.tc.lib + ":test"}
	if len(k.tc.installed) == 0 { // remove has removed nothing
		args = append(args, "--force-install")
	}
	cmd := k.command(args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	started := waitFor(stdout, "install ")
	if started && k.tc.begun != "" {
		k.waitForFile(k.tc.begun)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !started {
		k.t.Fatal("no install was started")
	}
}

// killInstall checks that the run after a killed install installs again, and succeeds.
func (k *kitchen) killInstall() {
	if k.tc.nothing {
		k.t.Skip("there is nothing to install")
	}
	a := k.runTests()
	if a.Summary.Installs == 0 {
		k.t.Fatalf("nothing was installed:\n%s", a.stderr)
	}
	k.wantInstalled()
	k.make(k.tc.library)
	k.nothingToDo()
}

// runTests runs the tests of both dishes without the cache. It runs no other tasks: each starts a tool and would
// test nothing more of an install.
func (k *kitchen) runTests() *served {
	k.t.Helper()
	a := k.bento("run", "--no-cache", k.tc.app+":test", k.tc.lib+":test")
	for _, dish := range []string{k.tc.app, k.tc.lib} {
		if task := a.task(dish + ":test"); a.exit != 0 || task == nil || task.Outcome.Kind != "built" {
			k.t.Fatalf("exit code %d, built %v:\n%s", a.exit, a.ids("built"), a.stderr)
		}
	}
	return a
}

func (k *kitchen) remove() {
	k.t.Helper()
	for _, p := range k.tc.installed {
		path := k.path(p)
		// The directories of a module cache are read-only.
		_ = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(p, 0o755)
			}
			return err
		})
		if err := os.RemoveAll(path); err != nil {
			k.t.Fatal(err)
		}
	}
}

// waitFor reads until a line starts with a word.
func waitFor(r io.Reader, word string) bool {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), word) {
			return true
		}
	}
	return false
}

// waitForFile waits until a glob matches a file, for at most twenty seconds.
func (k *kitchen) waitForFile(glob string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 20_000 {
		if found, _ := filepath.Glob(k.path(glob)); len(found) > 0 {
			return
		}
		<-tick.C
	}
	k.t.Logf("the install has not made %s", glob)
}

// missPin checks that bento reports a pin of a version that is not installed before any task runs.
func (k *kitchen) missPin() {
	k.nowHits()
	undo := k.make(k.tc.pin)
	before := k.logs()
	a := k.bento("ci", "--no-cache")
	if a.exit != 2 {
		k.t.Fatalf("exit code %d, want 2:\n%s", a.exit, a.stderr)
	}
	if !strings.Contains(a.Message, k.tc.asks) {
		k.t.Errorf("the refusal does not name %q: %s", k.tc.asks, a.Message)
	}
	if d := cmp.Diff(before, k.logs()); d != "" {
		k.t.Errorf("something ran: %s", d)
	}
	// With --keep-going, the tasks of that dish fail, and other tasks run.
	if a = k.ci("--no-cache"); a.exit != 1 || a.task("aside:build").Outcome.Kind != "built" || len(a.ids("failed")) == 0 {
		k.t.Errorf("with --keep-going: exit code %d, failed %v:\n%s", a.exit, a.ids("failed"), a.stderr)
	}
	for _, id := range a.ids("failed") {
		if said := a.task(id).Outcome.Message; !strings.Contains(said, k.tc.asks) {
			k.t.Errorf("%s failed, and does not name %q: %s", id, k.tc.asks, said)
		}
	}
	undo()
	k.good()
}

// logs returns the modification times of the logs of tasks.
func (k *kitchen) logs() map[string]time.Time {
	times := make(map[string]time.Time)
	files, _ := filepath.Glob(k.path(".bento/logs/*"))
	for _, f := range files {
		if fi, err := os.Stat(f); err == nil {
			times[f] = fi.ModTime()
		}
	}
	return times
}
