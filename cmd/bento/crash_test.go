//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
)

// crashPoints is the variable for the number of points of each scenario at which bento is killed, or "all".
// Each change that bento makes to a file has two points: after half of the change, and after the whole.
const crashPoints = "BENTO_TEST_CRASH_POINTS"

// A scenario is a command in a workspace. bento is killed at points of this command.
type scenario struct {
	name    string
	prepare func(*world)
	args    []string // arguments of the killed bento
	sources map[string]string
	bounded bool // the cache is too small to keep anything
	remote  bool // all runs share a remote cache
	// damaged says that the cache was damaged before. Only fsck reads all of it, so damage may stay until then.
	damaged bool
}

// first and second are two states of the sources. Their outputs differ: in the second, one is missing, one
// is new, and one is a file in the place of a directory.
func first() map[string]string {
	return map[string]string{
		"bento.toml": "[defaults]\nparallelism = 2\n",
		"lib/dish.toml": `name = "lib"
language = "none"
[tasks.build]
run = "sh build.sh"
outputs = ["out/**"]
[tasks.test]
run = "cat out/a; echo on stderr >&2"
depends_on = ["build"]
`,
		"lib/build.sh": `mkdir -p out/dir out/empty && cp src out/a && cp src out/dir/b && ln -s a out/link
cp src out/run && chmod 755 out/run && mkdir out/swap && cp src out/swap/below && echo built`,
		"lib/src": "one\n",
		"app/dish.toml": `name = "app"
language = "none"
depends_on = ["lib"]
[tasks.build]
run = "mkdir -p bin && cat ../lib/out/a src > bin/app"
outputs = ["bin/app"]
`,
		"app/src": "app\n",
		"end/dish.toml": `name = "end"
language = "none"
depends_on = [{ dish = "app", via = "outputs" }]
[tasks.build]
run = "head -c 40000 /dev/zero | tr '\\0' x > big && cat ../app/bin/app >> big && { [ -e by.product ] || echo left > by.product; }"
outputs = ["big"]
`,
		"end/src": "end\n",
	}
}

func second() map[string]string {
	files := first()
	files["lib/src"] = "two\n"
	files["lib/build.sh"] = "mkdir -p out && cp src out/a && cp src out/new && cp src out/swap && echo built otherwise\n"
	return files
}

func scenarios() []scenario {
	run := []string{"run", "build", "test"}
	built := func(w *world) { w.must(run...) }
	both := func(w *world) {
		w.must(run...)
		w.write(second())
		w.must(run...)
	}
	return []scenario{
		{name: "cold", args: run},
		{name: "cold, one at a time", args: append(run, "-j1")},
		{name: "edit", prepare: both, args: run, sources: edited(second(), "app/src")},
		{name: "other outputs", prepare: built, args: run, sources: second()},
		{name: "restore", prepare: func(w *world) { built(w); w.clean() }, args: run},
		{name: "restore over others", prepare: both, args: run},
		{name: "prune", prepare: both, args: []string{"cache", "prune", "--max-size", "20KiB"}},
		{name: "clear", prepare: both, args: []string{"cache", "clear", "--yes"}},
		{name: "fsck", damaged: true, prepare: func(w *world) { both(w); w.damage() }, args: []string{"cache", "fsck"}},
		{name: "bounded", prepare: built, args: run, sources: bounded(second()), bounded: true},
		{name: "damaged", damaged: true, prepare: func(w *world) { both(w); w.clean(); w.damage() }, args: run},
		{name: "install", args: run, sources: installing(first())},
		{name: "install again", prepare: func(w *world) { w.write(installing(first())); built(w) }, args: run, sources: reinstalling(first())},
		{name: "module", args: run, sources: calling(first())},
		{name: "module again", prepare: func(w *world) { w.write(calling(first())); built(w) }, args: run, sources: edited(calling(first()), "call/src")},
		{name: "send", remote: true, args: run, sources: sharing(first())},
		{name: "receive", remote: true, prepare: func(w *world) { w.write(sharing(first())); built(w); w.clean(); w.forget() }, args: run, sources: sharing(first())},
		{name: "why", prepare: built, args: []string{"why", "app:build"}, sources: edited(first(), "lib/src")},
	}
}

func edited(files map[string]string, path string) map[string]string {
	files[path] += "edited\n"
	return files
}

func sharing(files map[string]string) map[string]string {
	files["bento.toml"] += "[cache]\nremote_trust = \"server\"\nmode = \"remote:rw\"\n"
	return files
}

func bounded(files map[string]string) map[string]string {
	files["bento.toml"] += "[cache]\nmax_size = \"1KiB\"\n"
	return files
}

func installing(files map[string]string) map[string]string {
	files["mod/go.mod"] = "module example.com/mod\n\ngo 1.24\n"
	files["mod/mod.go"] = "package mod\n"
	files["mod/dish.toml"] = "name = \"mod\"\nlanguage = \"go\"\n[tasks.build]\nrun = \"cp mod.go out\"\noutputs = [\"out\"]\n[tasks.test]\nrun = \"true\"\n"
	return files
}

func reinstalling(files map[string]string) map[string]string {
	installing(files)["mod/go.mod"] += "\n// another digest\n"
	return files
}

// TestCrash: at whatever point bento is killed, the next run has the right outputs, and the cache is not
// damaged.
func TestCrash(t *testing.T) {
	t.Parallel()
	bento := crashing(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			crash(t, bento, s)
		})
	}
}

// crashing returns the path of a bento that dies at the point that $BENTO_CRASH_AT names. It has no race
// detector, so only test runs without -short have these tests.
func crashing(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds bento")
	}
	path, err := buildCrashing()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildCrashing builds that bento once per test run.
var buildCrashing = sync.OnceValues(func() (string, error) {
	path := filepath.Join(builtDir(), "failing", "bento")
	return path, goBuild(path, "-tags", "failpoints", ".")
})

func crash(t *testing.T, bento string, s scenario) {
	if s.sources == nil {
		s.sources = first()
	}
	var env []string
	if s.remote {
		env = []string{"BENTO_REMOTE=file://" + t.TempDir()}
	}
	truth := newWorld(t, bento)
	truth.write(s.sources)
	truth.must("run", "build", "test")
	want := truth.outputs()

	before := newWorld(t, bento)
	before.env = env
	before.write(first())
	if s.prepare != nil {
		s.prepare(before)
	}
	before.write(s.sources)
	w := newWorld(t, bento)
	w.env = env
	w.copyOf(before)
	n := w.countPoints(s.args)
	if n == 0 {
		t.Fatal("the command changes nothing")
	}
	killed := 0
	for _, k := range choose(t, n) {
		w.copyOf(before)
		if !w.killedAt(k, s.args) {
			continue // threads ran in another order, with fewer points
		}
		killed++
		w.check(s, want, k)
		if t.Failed() {
			return
		}
	}
	t.Logf("killed at %d of %d points", killed, n)
}

// choose returns the points at which bento is killed: all n, or a random sample.
func choose(t *testing.T, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	wanted := os.Getenv(crashPoints)
	if wanted == "all" {
		return all
	}
	count := 2
	if wanted != "" {
		var err error
		if count, err = strconv.Atoi(wanted); err != nil {
			t.Fatalf("%s=%q: neither a number nor \"all\"", crashPoints, wanted)
		}
	}
	sampling.Rand(t).Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(count, n)]
}

// check runs bento again after it was killed at point k.
func (w *world) check(s scenario, want map[string]string, k int) {
	w.t.Helper()
	out, stderr, err := w.run(nil, "run", "build", "test")
	if err != nil {
		w.t.Errorf("killed at %d: the next run: %v\n%s%s", k, err, out, stderr)
	}
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, "warning") && !slices.ContainsFunc(harmless, func(e string) bool { return strings.Contains(line, e) }) {
			w.t.Errorf("killed at %d: the next run: %s", k, line)
		}
	}
	if diff := cmp.Diff(want, w.outputs()); diff != "" {
		w.t.Errorf("killed at %d: after the next run, -want +got:\n%s", k, diff)
	}
	if s.damaged {
		w.must("cache", "fsck")
		w.must("run", "build", "test")
	}
	w.checkCache(k)
	w.checkLeft(k)
	w.clean()
	out, stderr, err = w.run(nil, "run", "build", "test")
	if err != nil || !s.bounded && !strings.Contains(out, " 0 built") {
		w.t.Errorf("killed at %d: when it is restored: %v\n%s%s", k, err, out, stderr)
	}
	if diff := cmp.Diff(want, w.outputs()); diff != "" {
		w.t.Errorf("killed at %d: restored, -want +got:\n%s", k, diff)
	}
	if w.t.Failed() {
		w.t.Logf("the point was %s", w.where(k, s.args))
	}
}

// harmless are the warnings that a run may print after another was killed, or for undeclared files.
var harmless = []string{"another bento runs", "does not declare", "damaged cache entr", "entries of the cache were damaged"}

func (w *world) checkCache(k int) {
	w.t.Helper()
	out, stderr, err := w.run(nil, "cache", "fsck", "--json")
	var doc struct{ Damaged, Incomplete int }
	if err == nil {
		err = json.Unmarshal([]byte(out), &doc)
	}
	if err != nil || doc.Damaged+doc.Incomplete > 0 {
		w.t.Errorf("killed at %d: fsck: %v\n%s%s", k, err, out, stderr)
	}
}

// checkLeft reports temporary files and journals that are left.
func (w *world) checkLeft(k int) {
	w.t.Helper()
	for _, dir := range []string{filepath.Join(w.ws, ".bento", "tmp"), filepath.Join(w.ws, ".bento", "journal")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			w.t.Errorf("killed at %d: left: %s", k, filepath.Join(dir, e.Name()))
		}
	}
}

// world is a workspace with a cache and a home.
type world struct {
	t              *testing.T
	bento          string
	dir, ws, cache string
	env            []string // of all runs
}

func newWorld(t *testing.T, bento string) *world {
	dir := t.TempDir()
	w := &world{t: t, bento: bento, dir: dir, ws: filepath.Join(dir, "ws"), cache: filepath.Join(dir, "cache")}
	if err := os.MkdirAll(w.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs a bento in the workspace.
func (w *world) run(env []string, args ...string) (out, errs string, err error) {
	cmd := exec.Command(w.bento, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.ws, &stdout, &stderr
	cmd.Env = append(os.Environ(), "HOME="+w.dir, "BENTO_CACHE_DIR="+w.cache, "BENTO_WORKSPACE_ROOT=")
	for name, dir := range toolHomes() {
		if os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, name+"="+dir)
		}
	}
	cmd.Env = append(append(cmd.Env, w.env...), env...)
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

func (w *world) must(args ...string) {
	w.t.Helper()
	if out, stderr, err := w.run(nil, args...); err != nil {
		w.t.Fatalf("bento %q: %v\n%s%s", args, err, out, stderr)
	}
}

// countPoints runs a command to its end and counts its points.
func (w *world) countPoints(args []string) int {
	w.t.Helper()
	return strings.Count(w.pointLog(args), "\n")
}

func (w *world) pointLog(args []string) string {
	w.t.Helper()
	log := filepath.Join(w.dir, "points")
	_ = os.Remove(log)
	if out, stderr, err := w.run([]string{"BENTO_CRASH_LOG=" + log}, args...); err != nil {
		w.t.Fatalf("bento %q: %v\n%s%s", args, err, out, stderr)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// where returns the line of the log for point k, which names its place in the code.
func (w *world) where(k int, args []string) string {
	data, _ := os.ReadFile(filepath.Join(w.dir, "points"))
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, strconv.Itoa(k)+" ") {
			return line
		}
	}
	return "unknown"
}

// killedAt runs a command that dies at point k, and reports whether it died.
func (w *world) killedAt(k int, args []string) bool {
	w.t.Helper()
	log := filepath.Join(w.dir, "points")
	_ = os.Remove(log)
	out, stderr, err := w.run([]string{fmt.Sprintf("BENTO_CRASH_AT=%d", k), "BENTO_CRASH_LOG=" + log}, args...)
	exit, ok := asExit(err)
	switch {
	case err == nil:
		return false
	case !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		w.t.Fatalf("to be killed at %d: %v\n%s%s", k, err, out, stderr)
	}
	return true
}

// write makes the sources equal to files; it keeps all other files.
func (w *world) write(files map[string]string) {
	w.t.Helper()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		name := filepath.Join(w.ws, path)
		if data, err := os.ReadFile(name); err == nil && string(data) == files[path] {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[path]), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) remove(path string) {
	if err := os.RemoveAll(filepath.Join(w.ws, path)); err != nil {
		w.t.Fatal(err)
	}
}

// made lists the outputs of the tasks.
var made = []string{"lib/out", "app/bin", "end/big", "mod/out", "call/d"}

func (w *world) clean() {
	for _, path := range made {
		w.remove(path)
	}
}

// forget removes the cache and the state.
func (w *world) forget() {
	for _, dir := range []string{w.cache, filepath.Join(w.ws, ".bento")} {
		if err := os.RemoveAll(dir); err != nil {
			w.t.Fatal(err)
		}
	}
}

// outputs reads the outputs of the tasks.
func (w *world) outputs() map[string]string {
	found := make(map[string]string)
	for _, path := range made {
		_ = filepath.WalkDir(filepath.Join(w.ws, path), func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			rel, _ := filepath.Rel(w.ws, name)
			found[rel] = describe(name, e)
			return nil
		})
	}
	return found
}

func describe(name string, e fs.DirEntry) string {
	fi, err := e.Info()
	if err != nil {
		return err.Error()
	}
	switch {
	case fi.IsDir():
		return "directory"
	case fi.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(name)
		return "-> " + target
	}
	data, _ := os.ReadFile(name)
	return fmt.Sprintf("%o %s", fi.Mode().Perm(), data)
}

// damage corrupts every other blob and record of the cache.
func (w *world) damage() {
	files, _ := filepath.Glob(filepath.Join(w.cache, "v*", "*", "*", "*"))
	for i, name := range files {
		if i%2 == 0 {
			data, err := os.ReadFile(name)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.Remove(name)
			}
			if err == nil {
				err = os.WriteFile(name, data, 0o444)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// copyMu keeps a file that one goroutine has open for writing out of a child process of another: that file
// could not be executed while the child has it open.
var copyMu sync.Mutex

// copyOf makes w a copy of other, times included.
func (w *world) copyOf(other *world) {
	w.t.Helper()
	copyMu.Lock()
	defer copyMu.Unlock()
	for _, dir := range []string{w.ws, w.cache} {
		if err := os.RemoveAll(dir); err != nil {
			w.t.Fatal(err)
		}
	}
	for from, to := range map[string]string{other.ws: w.ws, other.cache: w.cache} {
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			w.t.Fatalf("%v\n%s", err, out)
		}
	}
}
