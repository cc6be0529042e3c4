package key

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// locker is an adapter whose dishes share all.lock at the root. It has a line with the name and the
// part of each dish, after an optional line "format N" with the version of the format.
type locker struct{ root string }

func (l *locker) Manifest() *adapters.Manifest {
	return &adapters.Manifest{AdapterID: "locker", FingerprintFiles: []string{"marker"}, Capabilities: adapters.DefaultCapabilities()}
}

func (l *locker) Detect(_ context.Context, dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, "marker"))
	return err == nil, nil
}

func (l *locker) Tasks(context.Context, string) (adapters.TasksAnswer, error) {
	return adapters.TasksAnswer{Tasks: []adapters.Task{{Name: "build", Run: "true", ExtraInputs: []string{l.root + "/all.lock"}}}}, nil
}

func (l *locker) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	answer := adapters.LockAnswer{File: filepath.Join(l.root, "all.lock")}
	data, err := os.ReadFile(answer.File)
	format, rest, _ := strings.Cut(string(data), "\n")
	if format != "format 1" {
		answer.Whole = format + " is not known"
		return answer, err
	}
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, filepath.Base(dir)+" ") {
			answer.Digest += line
		}
	}
	return answer, err
}

func (l *locker) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) {
	return nil, nil
}
func (l *locker) ToolchainFingerprint(context.Context, string) (string, error) { return "", nil }
func (l *locker) Install(context.Context, adapters.InstallRequest, adapters.LogFunc) error {
	return nil
}
func (l *locker) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// lockKeys evaluates a workspace of lockers.
func lockKeys(t *testing.T, root string) (map[string]*Evaluation, *dish.Workspace) {
	t.Helper()
	e := lockEvaluator(t, root)
	results, err := e.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byID := make(map[string]*Evaluation)
	for _, r := range results {
		if !r.Known {
			t.Fatalf("%s has no key: %v %v", r.Task.ID(), r.Err, r.Notes)
		}
		byID[r.Task.ID()] = r
	}
	return byID, e.plan.Workspace
}

func lockEvaluator(t *testing.T, root string) *Evaluator {
	t.Helper()
	cfg, problems := config.Load(root, "")
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, more := discovery.Find(t.Context(), discovery.Options{
		Tree: files, Config: cfg, Registry: adapters.NewRegistry(&locker{root}),
	})
	p, last := plan.Build(ws, plan.Request{})
	if problems = slices.Concat(problems, more, last); len(problems) > 0 {
		t.Fatal(problems)
	}
	st := state.Open(t.TempDir())
	e, err := New(Options{Root: root, Tree: files, Store: cache.Nothing{}, State: st, Toolchains: OpenToolchains(st, state.OpenShared(""))}, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestDiscoveredLockfile checks that a lockfile which a command reads, and no input of its task names, counts with the part
// of the dish alone.
func TestDiscoveredLockfile(t *testing.T) {
	root, write := lockWorld(t)
	held := func(name string) (f File) {
		e := lockEvaluator(t, root)
		for _, task := range e.plan.Tasks {
			if task.Dish.Name == name {
				var err error
				if f, _, err = e.holds(task, Discovered{Path: "all.lock", Use: UseContent}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return f
	}
	write("all.lock", "format 1\na 1\nb 1\n")
	was := held("a")
	write("all.lock", "format 1\na 1\nb 2\n")
	if held("a") != was {
		t.Error("the part of another dish counts")
	}
	write("all.lock", "format 1\na 2\nb 2\n")
	if held("a") == was {
		t.Error("the part of the dish does not count")
	}
	write("all.lock", "format 2\na 2\nb 2\n")
	unknown := held("a")
	write("all.lock", "format 2\na 2\nb 3\n")
	if held("a") == unknown {
		t.Error("a lockfile of an unknown format does not count as a whole")
	}
}

// moved lists the tasks whose keys are different.
func moved(old, now map[string]*Evaluation) []string {
	var ids []string
	for id, r := range now {
		if old[id].Key != r.Key {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func lockWorld(t *testing.T) (root string, write func(name, text string)) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write = func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("bento.toml", "[workspace]\ndiscover = true\n")
	write("a/marker", "")
	write("b/marker", "")
	write("c/dish.toml", "name = \"c\"\ndepends_on = [\"a\"]\n[tasks.audit]\nrun = \"true\"\nci = true\ninputs = [\"//all.lock\"]\n")
	write("c/marker", "")
	write("all.lock", "format 1\na one\nb two\nc three\n")
	return root, write
}

func TestLockDigestStandsForTheLockfile(t *testing.T) {
	root, write := lockWorld(t)
	first, _ := lockKeys(t, root)
	write("all.lock", "format 1\n\nc three\nb two\na one\n")
	second, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"c:audit"}, moved(first, second)); d != "" {
		t.Errorf("another layout moves all but what names the file: %s", d)
	}
	write("all.lock", "format 1\na one\nb TWO\nc three\n")
	third, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"b:build", "c:audit"}, moved(second, third)); d != "" {
		t.Errorf("what b gets moves others: %s", d)
	}
	changes := differences(written(second["b:build"].ingredients), written(third["b:build"].ingredients),
		new(Evaluator).blobs(second["b:build"], none), new(Evaluator).blobs(third["b:build"], none))
	if d := cmp.Diff([]Change{{Kind: "lock", Name: "all.lock", How: "changed"}}, changes); d != "" {
		t.Error(d)
	}
}

func none(cache.Digest) []byte { return nil }

// A link may lead anywhere: a lockfile behind a link is an input as a whole.
func TestLockfileBehindALinkCountsAsAWhole(t *testing.T) {
	root, write := lockWorld(t)
	write("real.lock", "format 1\na one\nb two\nc three\n")
	link := filepath.Join(root, "all.lock")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.lock", link); err != nil {
		t.Fatal(err)
	}
	first, _ := lockKeys(t, root)
	write("real.lock", "format 1\n\nc three\nb two\na one\n")
	second, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"a:build", "b:build", "c:audit", "c:build"}, moved(first, second)); d != "" {
		t.Error(d)
	}
}

func TestLockfileThatCannotBeToldCountsAsAWhole(t *testing.T) {
	root, write := lockWorld(t)
	write("all.lock", "format 9\na one\n")
	first, ws := lockKeys(t, root)
	write("all.lock", "format 9\na one\n\n")
	second, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"a:build", "b:build", "c:audit", "c:build"}, moved(first, second)); d != "" {
		t.Error(d)
	}
	if lock := ws.Dishes[0].Lock; lock.Whole != "format 9 is not known" {
		t.Errorf("lock %+v", lock)
	}
}

// The sources of a dish with a lockfile have the part that the dish uses, not the file.
func TestLockDigestStandsInSources(t *testing.T) {
	root, write := lockWorld(t)
	if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	write("b/dish.toml", "name = \"b\"\n")
	write("dish.toml", "name = \"a\"\n")
	write("marker", "")
	base := filepath.Base(root)
	write("all.lock", "format 1\n"+base+" one\nb two\nc three\n")
	first, _ := lockKeys(t, root)
	write("all.lock", "format 1\nc three\nb TWO\n"+base+" one\n")
	second, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"b:build", "c:audit"}, moved(first, second)); d != "" {
		t.Errorf("what b gets moves others: %s", d)
	}
	write("all.lock", "format 1\nc three\nb TWO\n"+base+" ONE\n")
	third, _ := lockKeys(t, root)
	if d := cmp.Diff([]string{"a:build", "c:audit", "c:build"}, moved(second, third)); d != "" {
		t.Errorf("what a gets does not move exactly those that depend on it: %s", d)
	}
}

// TestEachSharesDiscovered checks that tasks which Each evaluates have the keys that they would have alone, although they
// share what a discovered input holds, and that a later evaluation does not.
func TestEachSharesDiscovered(t *testing.T) {
	root, write := lockWorld(t)
	write("all.lock", "format 1\na 1\nb 2\n")
	write("shared.txt", "1")
	e := lockEvaluator(t, root)
	for _, task := range e.plan.Tasks {
		e.history.Keep(task, &LastRun{Discovered: []Discovered{{"all.lock", UseContent}, {"shared.txt", UseContent}, {"gone.txt", UsePresence}}})
	}
	list, err := e.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range list {
		if alone := e.Evaluate(t.Context(), ev.Task); alone.Key != ev.Key || alone.held.Digest() != ev.held.Digest() || len(ev.held) != 3 {
			t.Errorf("%s: want %v, got %v", ev.Task.ID(), alone.held, ev.held)
		}
	}
	write("shared.txt", "22")
	for _, ev := range list {
		if later := e.Evaluate(t.Context(), ev.Task); later.Key == ev.Key {
			t.Errorf("%s: a later evaluation does not see that shared.txt has changed", ev.Task.ID())
		}
		if p := (Files{e}).DiscoveredChanged(ev, func(Discovered) bool { return true }); p != "shared.txt" {
			t.Errorf("%s: want shared.txt changed, got %q", ev.Task.ID(), p)
		}
	}
}
