package key

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// world is a workspace on disk: dish i is the directory d<i>, with a task build and
// links to dishes of smaller numbers.
type world struct {
	root  string
	links [][]int
	env   adapters.Environ
}

func drawWorld(t *rapid.T) *world {
	root, err := os.MkdirTemp("", "bento-keys-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := &world{root: root}
	w.write(t, "bento.toml", "")
	n := rapid.IntRange(1, 6).Draw(t, "dishes")
	for i := range n {
		var links []int
		var names []string
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "link") == 0 {
				links, names = append(links, j), append(names, fmt.Sprintf("%q", name(j)))
			}
		}
		w.links = append(w.links, links)
		outputs := rapid.SampledFrom([]string{"", "outputs = [\"out\"]\n"}).Draw(t, "outputs")
		w.write(t, name(i)+"/dish.toml", fmt.Sprintf("name = %q\nlanguage = \"none\"\ndepends_on = [%s]\n[tasks.build]\nrun = \"true\"\nenv = [\"VAR%d\"]\n%s",
			name(i), strings.Join(names, ", "), i, outputs))
		for k := range rapid.IntRange(1, 3).Draw(t, "files") {
			w.write(t, fmt.Sprintf("%s/src/f%d", name(i), k), fmt.Sprint(i, k))
		}
	}
	return w
}

func name(i int) string { return fmt.Sprintf("d%d", i) }

func (w *world) write(t rapid.TB, path, content string) {
	full := filepath.Join(w.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keys evaluates all tasks from scratch, with a new state.
func (w *world) keys(t rapid.TB, req plan.Request) map[string]cache.Key {
	st := state.Open(w.root + ".state")
	defer os.RemoveAll(w.root + ".state")
	keys := make(map[string]cache.Key)
	for _, r := range w.evaluate(t, req, st, cache.Nothing{}).evaluations() {
		if !r.Known {
			t.Fatalf("%s has no key: %v", r.Task.ID(), r.Notes)
		}
		keys[r.Task.Dish.Name] = r.Key
	}
	return keys
}

func (w *world) evaluate(t rapid.TB, req plan.Request, st *state.Dir, store cache.Store) *Evaluator {
	ctx := context.Background()
	cfg, problems := config.Load(w.root, "")
	files, err := tree.Walk(ctx, w.root, &tree.Options{State: st})
	if err != nil {
		t.Fatal(err)
	}
	ws, more := discovery.Find(ctx, discovery.Options{Tree: files, Config: cfg, Registry: adapters.NewRegistry()})
	p, last := plan.Build(ws, req)
	if problems = append(append(problems, more...), last...); len(problems) > 0 {
		t.Fatal(problems)
	}
	e, err := New(Options{
		Root: w.root, Tree: files, Store: store, State: st, Toolchains: OpenToolchains(st, state.OpenShared("")), Environ: w.env,
		Warn: func(d diagnostics.Diagnostic) { t.Fatal(d) },
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.All(ctx); err != nil {
		t.Fatal(err)
	}
	return e
}

// dependents returns i and every dish that depends on it, directly or not.
func (w *world) dependents(i int) map[string]bool {
	in := map[int]bool{i: true}
	for j := i + 1; j < len(w.links); j++ {
		for _, l := range w.links[j] {
			in[j] = in[j] || in[l]
		}
	}
	names := make(map[string]bool)
	for j := range in {
		if in[j] {
			names[name(j)] = true
		}
	}
	return names
}

// edit changes one ingredient of dish i.
func (w *world) edit(t *rapid.T, i int) {
	file := filepath.Join(w.root, name(i), "src", "f0")
	var err error
	switch rapid.SampledFrom([]string{"content", "mode", "added", "removed", "renamed", "link", "command", "env"}).Draw(t, "edit") {
	case "content":
		w.write(t, name(i)+"/src/f0", "edited")
	case "mode":
		err = os.Chmod(file, 0o755)
	case "added":
		w.write(t, name(i)+"/src/new", "")
	case "removed":
		err = os.Remove(file)
	case "renamed":
		err = os.Rename(file, file+"x")
	case "link":
		err = os.Symlink("f0", filepath.Join(w.root, name(i), "src", "link"))
	case "command":
		toml := filepath.Join(w.root, name(i), "dish.toml")
		var data []byte
		if data, err = os.ReadFile(toml); err == nil {
			err = os.WriteFile(toml, []byte(strings.Replace(string(data), `run = "true"`, `run = "true;"`, 1)), 0o644)
		}
	case "env":
		w.env = adapters.NewEnviron([]string{fmt.Sprintf("VAR%d=", i)}) // empty is not unset
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The same workspace has the same keys for any request. An edit changes the keys of exactly the tasks
// that depend on it by sources or builds.
func TestKeysFollowTheirIngredients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		before := w.keys(t, plan.Request{})
		one := name(rapid.IntRange(0, len(w.links)-1).Draw(t, "selected"))
		for dish, key := range w.keys(t, plan.Request{Tasks: []string{"build"}, Targets: []string{one}}) {
			if key != before[dish] {
				t.Fatalf("the key of %s depends on what is asked for", dish)
			}
		}
		i := rapid.IntRange(0, len(w.links)-1).Draw(t, "edited")
		sources := w.snapshot(t, i)
		w.edit(t, i)
		changed := w.dependents(i)
		if w.snapshot(t, i) == sources {
			changed = w.waiting(i) // not in the sources: only builds that others wait for carry it
		}
		for dish, key := range w.keys(t, plan.Request{}) {
			if (key != before[dish]) != changed[dish] {
				t.Fatalf("after an edit of %s the key of %s changed: %v, want %v", name(i), dish, key != before[dish], changed[dish])
			}
		}
	})
}

// snapshot describes the sources of dish i: all its files but dish.toml.
func (w *world) snapshot(t *rapid.T, i int) string {
	var b strings.Builder
	entries, err := os.ReadDir(filepath.Join(w.root, name(i), "src"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(w.root, name(i), "src", e.Name())
		fi, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %q\n", e.Name(), fi.Mode(), data)
	}
	return b.String()
}

// waiting returns i and the dishes that wait for its build. A dish does not wait for a linked dish
// without outputs, but for the builds that this one waits for.
func (w *world) waiting(i int) map[string]bool {
	makes := make([]bool, len(w.links))
	for j := range w.links {
		data, _ := os.ReadFile(filepath.Join(w.root, name(j), "dish.toml"))
		makes[j] = strings.Contains(string(data), "outputs")
	}
	reaches := map[int]bool{i: true}
	through := map[int]bool{i: makes[i]} // a dependent of j waits for i by way of j
	for j := i + 1; j < len(w.links); j++ {
		for _, l := range w.links[j] {
			reaches[j] = reaches[j] || through[l]
		}
		through[j] = reaches[j]
	}
	names := make(map[string]bool)
	for j, in := range reaches {
		if in {
			names[name(j)] = true
		}
	}
	return names
}
