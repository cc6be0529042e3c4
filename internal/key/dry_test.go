package key

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// chain returns a function that makes an Evaluator of three dishes: c is linked to b, and b to a.
// Their tasks do not depend on each other.
func chain(t *testing.T) (root string, evaluator func(cache.Store) (*Evaluator, error)) {
	t.Helper()
	root, write := lockWorld(t)
	for name, deps := range map[string]string{"a": "", "b": "depends_on = [\"a\"]\n", "c": "depends_on = [\"b\"]\n"} {
		write(name+"/dish.toml", "name = \""+name+"\"\nlanguage = \"none\"\n"+deps+"[tasks.audit]\nrun = \"true\"\nci = true\n")
		write(name+"/source", name)
	}
	cfg, problems := config.Load(root, "")
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	ws, more := discovery.Find(t.Context(), discovery.Options{Tree: files, Config: cfg, Registry: adapters.NewRegistry()})
	p, last := plan.Build(ws, plan.Request{})
	if problems = slices.Concat(problems, more, last); len(problems) > 0 {
		t.Fatal(problems)
	}
	st := state.Open(t.TempDir())
	return root, func(store cache.Store) (*Evaluator, error) {
		return New(Options{Root: root, Tree: files, Store: store, State: st, Toolchains: OpenToolchains(st, state.OpenShared(""))}, p)
	}
}

// A file that cannot be read is in the keys of all dishes that are linked to its own, by others too.
func TestUnreadableSourcesHaveNoKey(t *testing.T) {
	root, evaluator := chain(t)
	if err := os.Remove(filepath.Join(root, "a/source")); err != nil { // root reads a file of any mode
		t.Fatal(err)
	}
	e, err := evaluator(cache.Nothing{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := DryRun(t.Context(), e)
	if err != nil || len(results) != 3 {
		t.Fatalf("%d evaluations, %v", len(results), err)
	}
	for _, ev := range results {
		var problems diagnostics.Problems
		if ev.Known || ev.Reason != MissUnreadable || !errors.As(ev.Err, &problems) || problems[0].File != "a/source" {
			t.Errorf("%s: key known %v, reason %s, %v", ev.Task.ID(), ev.Known, ev.Reason, ev.Err)
		}
	}
}

func TestDryRunEnds(t *testing.T) {
	_, evaluator := chain(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := evaluator(cache.Nothing{})
	if err != nil {
		t.Fatal(err)
	}
	if results, err := DryRun(ctx, e); !errors.Is(err, context.Canceled) || results != nil {
		t.Errorf("an interrupted evaluation: %d evaluations, %v", len(results), err)
	}
}
