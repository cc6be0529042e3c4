package key

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// pick draws one of a few values, so that things often turn out the same.
func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawModel(t *rapid.T) *model {
	m := &model{env: map[string]string{}}
	for i := range rapid.IntRange(1, 4).Draw(t, "dishes") {
		d := &modelDish{path: fmt.Sprint("d", i), adapted: rapid.Bool().Draw(t, "adapted"), tool: "1", lock: "1", files: map[string]modelFile{}}
		if i > 0 && rapid.Bool().Draw(t, "nested") {
			d.path = fmt.Sprintf("%s/in%d", m.dishes[i-1].path, i)
		}
		for j := range i {
			if rapid.Bool().Draw(t, "link") {
				d.links = append(d.links, j)
			}
		}
		edits["private"](t, m, d, nil)
		d.files["marker"] = modelFile{}
		for _, p := range []string{"src/a", "src/b", "src/deep/c", "odd\n\xff", "gen.tmp"} {
			if rapid.Bool().Draw(t, "file") {
				d.files[p] = modelFile{content: pick(t, "content", "", "x")}
			}
		}
		d.tasks = [2]modelTask{{name: "build", run: "true"}, {name: "check", run: "true"}}
		m.dishes = append(m.dishes, d)
		if rapid.Bool().Draw(t, "with links") {
			edits["link"](t, m, d, nil)
		}
		for i := range d.tasks {
			d.tasks[i].recipe = rapid.Bool().Draw(t, "recipe")
			edits["inputs"](t, m, d, &d.tasks[i])
			edits["outputs"](t, m, d, &d.tasks[i])
		}
	}
	return m
}

// edits are changes of a workspace that may change ingredients of keys. Each changes the model; relay
// writes the changed files.
var edits = map[string]func(*rapid.T, *model, *modelDish, *modelTask){
	"content": func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) {
		p := pick(t, "path", "src/a", "src/b", "src/deep/c", "odd\n\xff", "gen.tmp", "marker", "out")
		d.files[p] = modelFile{content: pick(t, "content", "", "x", "y"), exec: d.files[p].exec}
	},
	"mode": func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) {
		p := pick(t, "path", "src/a", "src/b", "marker")
		if f, ok := d.files[p]; ok && f.target == "" {
			f.exec = !f.exec
			d.files[p] = f
		}
	},
	"removed": func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) {
		delete(d.files, pick(t, "path", "src/a", "src/b", "src/deep/c", "odd\n\xff", "gen.tmp", "src/link", "src/.gitignore", "out"))
	},
	"renamed": func(_ *rapid.T, _ *model, d *modelDish, _ *modelTask) {
		if f, ok := d.files["src/a"]; ok {
			delete(d.files, "src/a")
			d.files["src/b"] = f
		}
	},
	"link": func(t *rapid.T, m *model, d *modelDish, _ *modelTask) {
		lead := func(from, to *modelDish, inside string) modelFile {
			return modelFile{target: strings.Repeat("../", strings.Count(from.path, "/")+2) + to.path + "/" + inside}
		}
		to, inside := m.any(t), pick(t, "inside", "src/a", "src/b", "src", "src/deep", "src/link", "src/link/a", "src/link/b", "src/link/deep/c", "src/link/../src/a")
		d.files[pick(t, "path", "src/link", "src/a")] = lead(d, to, inside)
		if strings.HasPrefix(inside, "src/link") && rapid.Bool().Draw(t, "on") {
			to.files["src/link"] = lead(to, m.any(t), pick(t, "next", "src", "src", "src/b"))
		}
	},
	"hidden": func(_ *rapid.T, _ *model, d *modelDish, _ *modelTask) {
		d.files["src/.gitignore"] = modelFile{content: "deep\n"}
	},
	"command": func(t *rapid.T, _ *model, _ *modelDish, task *modelTask) { task.run = pick(t, "run", "true", "true;") },
	"cwd":     func(t *rapid.T, _ *model, _ *modelDish, task *modelTask) { task.cwd = pick(t, "cwd", "", "src") },
	"env names": func(t *rapid.T, _ *model, _ *modelDish, task *modelTask) {
		task.env = pick(t, "names", nil, []string{"A"}, []string{"A", "B"}, []string{"B"})
	},
	"env": func(t *rapid.T, m *model, _ *modelDish, _ *modelTask) {
		name := pick(t, "name", "A", "B", "STEER", "OTHER")
		if delete(m.env, name); rapid.Bool().Draw(t, "set") {
			m.env[name] = pick(t, "value", "", "x", "unset")
		}
	},
	"set env": func(t *rapid.T, _ *model, _ *modelDish, task *modelTask) {
		task.setEnv = pick(t, "value", "", "x", "y")
	},
	"inputs": func(t *rapid.T, m *model, _ *modelDish, task *modelTask) {
		first := "//" + m.dishes[0].path
		task.inputs = pick(t, "inputs", nil, []string{"src/**"}, []string{"!src/a"}, []string{"//shared.conf"}, []string{"gen.tmp", "src/*"},
			[]string{first + "/src/**"}, []string{"src/deep/**", first + "/src/a"}, []string{"*/src/**"})
	},
	"outputs": func(t *rapid.T, _ *model, _ *modelDish, task *modelTask) {
		task.outputs = pick(t, "outputs", nil, []string{"out"}, []string{"out", "src/b"})
	},
	"links": func(t *rapid.T, m *model, d *modelDish, _ *modelTask) {
		d.links = nil
		for i := 0; m.dishes[i] != d; i++ {
			if rapid.Bool().Draw(t, "link") {
				d.links = append(d.links, i)
			}
		}
	},
	"private": func(t *rapid.T, m *model, d *modelDish, _ *modelTask) {
		d.private = nil
		for i := 0; i < len(m.dishes) && m.dishes[i] != d; i++ {
			if rapid.Bool().Draw(t, "private link") {
				d.private = append(d.private, i)
			}
		}
	},
	"pin":       func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) { d.pin = pick(t, "pin", "", "1", "2") },
	"toolchain": func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) { d.tool = pick(t, "tool", "", "1", "2") },
	"lockfile":  func(t *rapid.T, _ *model, d *modelDish, _ *modelTask) { d.lock = pick(t, "lock", "1", "2") },
	"shared":    func(t *rapid.T, m *model, _ *modelDish, _ *modelTask) { m.shared = pick(t, "shared", "", "x") },
	"identity":  func(t *rapid.T, m *model, _ *modelDish, _ *modelTask) { m.identity = pick(t, "identity", "1", "2") },
	"arguments": func(t *rapid.T, m *model, _ *modelDish, _ *modelTask) {
		m.args = pick(t, "args", nil, []string{""}, []string{"a", "b"}, []string{"a b"})
	},
	"inherit": func(_ *rapid.T, m *model, _ *modelDish, _ *modelTask) { m.inherit = !m.inherit },
}

func (m *model) any(t *rapid.T) *modelDish { return pick(t, "dish", m.dishes...) }

func (m *model) edit(t *rapid.T) {
	d := m.any(t)
	often := []string{"content", "mode", "mode", "link"}
	name := pick(t, "edit", append(slices.Sorted(maps.Keys(edits)), often...)...)
	edits[name](t, m, d, &d.tasks[rapid.IntRange(0, 1).Draw(t, "task")])
}

// ways are those in which a workspace can be looked at without its keys being others.
type ways struct {
	root    string // by whatever name
	one     bool   // one CPU
	state   *state.Dir
	program string // the build of bento
	request plan.Request
}

// evaluate evaluates the workspace in one of the ways.
func (m *model) evaluate(t rapid.TB, w ways) *Evaluator {
	ctx := context.Background()
	root, err := discovery.FindRoot(discovery.RootOptions{Dir: w.root})
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(root, "")
	files, err := tree.Walk(ctx, root, &tree.Options{State: w.state})
	if err != nil {
		t.Fatal(err)
	}
	ws, more := discovery.Find(ctx, discovery.Options{Tree: files, Config: cfg, Registry: adapters.NewRegistry(&teller{m, root})})
	p, last := plan.Build(ws, w.request)
	if slices.ContainsFunc(last, func(d diagnostics.Diagnostic) bool { return d.Rule == "task_cycle" }) {
		t.Skip("an outer dish reads what an inner one makes, which is linked to the outer one")
	}
	if problems = slices.Concat(problems, more, last); len(problems) > 0 {
		t.Fatal(problems)
	}
	var env []string
	for name, value := range m.env {
		env = append(env, name+"="+value)
	}
	e, err := New(Options{
		Root: root, Tree: files, Store: cache.Nothing{}, State: w.state, Toolchains: OpenToolchains(w.state, state.OpenShared("")), Environ: adapters.NewEnviron(env),
		Inherit: m.inherit, Program: w.program, Warn: func(d diagnostics.Diagnostic) { t.Fatal(d) },
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.All(ctx); err != nil {
		t.Fatal(err)
	}
	return e
}

// keys returns the keys that are known.
func (m *model) keys(t *rapid.T, w ways) map[string]cache.Key {
	if w.one {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	e := m.evaluate(t, w)
	keys := make(map[string]cache.Key)
	for _, r := range e.evaluations() {
		if !r.Known && r.Reason != MissPending { // it reads outputs that another must make first
			t.Fatalf("%s has no key: %v %v", r.Task.ID(), r.Err, r.Notes)
		}
		if !r.Known {
			continue
		}
		keys[r.Task.ID()] = r.Key
	}
	e.Save(nil)
	return keys
}

func (m *model) draw(t *rapid.T, w ways) ways {
	w.one, w.program = rapid.Bool().Draw(t, "one CPU"), pick(t, "program", "1", "2")
	w.request = plan.Request{Tasks: []string{"build", "check"}, Args: m.args}
	if len(m.args) == 0 { // with arguments, tasks that are not named have other keys
		name := m.any(t).name()
		w.request = pick(t, "request", w.request, plan.Request{}, plan.Request{Targets: []string{name}}, plan.Request{Tasks: []string{name + ":check"}})
	}
	if rapid.Bool().Draw(t, "from below") {
		w.root = filepath.Join(w.root, m.dishes[0].path)
	}
	return w
}

// book holds the known descriptions and keys.
type book struct {
	keys  map[string]cache.Key
	words map[cache.Key]string
}

func (b book) check(t *rapid.T, m *model, keys map[string]cache.Key) {
	for _, d := range m.dishes {
		for i := range d.tasks {
			key, ok := keys[d.name()+":"+d.tasks[i].name]
			if !ok {
				continue
			}
			words := m.key(d, &d.tasks[i])
			if old, ok := b.keys[words]; ok && old != key {
				t.Fatalf("two keys for what is the same:\n%s", words)
			}
			if old, ok := b.words[key]; ok && old != words {
				t.Fatalf("one key for what differs:\n%s\n%s", old, words)
			}
			b.keys[words], b.words[key] = key, words
		}
	}
}

// TestKeysAreTheirIngredients: two tasks have the same key exactly if all ingredients in the
// specification are equal. The key does not depend on the path of the workspace, its history, the
// order of its lists, the request, remembered digests or the build of bento (D11).
func TestKeysAreTheirIngredients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { keysAreTheirs(t, drawModel(t), (*model).edit) })
}

// TestKeysFollowLinks is the same test with links between any places, also through other links, and
// changes of their targets (A8).
func TestKeysFollowLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{}
		for i := range 3 {
			d := &modelDish{path: fmt.Sprint("d", i), files: map[string]modelFile{"src/b": {}}, tasks: [2]modelTask{{name: "build", run: "true"}, {name: "check", run: "true"}}}
			m.dishes = append(m.dishes, d)
		}
		for range 3 {
			edits["link"](t, m, m.any(t), nil)
		}
		keysAreTheirs(t, m, func(m *model, t *rapid.T) {
			d, p := m.any(t), pick(t, "path", "src/b", "src/deep/c")
			switch pick(t, "what", "link", "content", "mode", "removed") {
			case "link":
				edits["link"](t, m, d, nil)
			case "content":
				d.files[p] = modelFile{content: pick(t, "content", "", "x"), exec: d.files[p].exec}
			case "mode":
				d.files[p] = modelFile{content: d.files[p].content, exec: !d.files[p].exec}
			case "removed":
				delete(d.files, p)
			}
		})
	})
}

// TestKeysFollowPrivateLinks is the same test with links that only tasks of the dish itself use.
func TestKeysFollowPrivateLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{}
		for i := range 3 {
			d := &modelDish{path: fmt.Sprint("d", i), adapted: true, tool: "1", lock: "1", files: map[string]modelFile{"marker": {}, "src/a": {}}}
			d.tasks = [2]modelTask{{name: "build", run: "true", recipe: rapid.Bool().Draw(t, "recipe")}, {name: "check", run: "true"}}
			d.tasks[0].outputs = pick(t, "outputs", nil, nil, []string{"out"})
			m.dishes = append(m.dishes, d)
		}
		m.dishes[1].private, m.dishes[2].links = []int{0}, []int{1}
		keysAreTheirs(t, m, func(m *model, t *rapid.T) {
			d := m.any(t)
			switch pick(t, "what", "content", "content", "content", "content", "links", "private", "cwd", "cwd") {
			case "content":
				m.dishes[0].files["src/a"] = modelFile{content: pick(t, "content", "", "x", "y")}
			case "links":
				edits["links"](t, m, d, nil)
			case "private":
				edits["private"](t, m, d, nil)
			case "cwd":
				edits["cwd"](t, m, d, &d.tasks[0])
			}
		})
	})
}

// keysAreTheirs compares keys with descriptions while a workspace is edited.
func keysAreTheirs(t *rapid.T, m *model, edit func(*model, *rapid.T)) {
	base, err := os.MkdirTemp("", "bento-keys-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	seen, link := book{map[string]cache.Key{}, map[cache.Key]string{}}, filepath.Join(base, "link")
	if err := os.Symlink("w0", link); err != nil {
		t.Fatal(err)
	}
	// Only digests of files that are old enough are saved: on a fast machine there may be none.
	stateIn := func(name string) *state.Dir {
		if err := os.MkdirAll(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
		return state.Open(filepath.Join(base, name))
	}
	kept := stateIn("state")
	for i := range rapid.IntRange(2, 8).Draw(t, "edits") {
		root := filepath.Join(base, "w0")
		if rapid.Bool().Draw(t, "elsewhere") {
			root = filepath.Join(base, fmt.Sprint("w", i))
		}
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		m.lay(t, root, rapid.Bool().Draw(t, "turned"))
		way := ways{root: root, state: stateIn(fmt.Sprint("state", i))}
		if filepath.Base(root) == "w0" {
			way = ways{root: pick(t, "root", root, link), state: kept}
		}
		seen.check(t, m, m.keys(t, m.draw(t, way)))
		edit(m, t)
	}
}

// TestPackIsShared: the provenance of keys has the files of a dish once, for any number of tasks that
// are linked to it (D12).
func TestPackIsShared(t *testing.T) {
	const dishes, files = 12, 40
	m := &model{}
	for i := range dishes {
		d := &modelDish{path: fmt.Sprint("d", i), files: map[string]modelFile{}, tasks: [2]modelTask{{name: "build", run: "true"}, {name: "check", run: "true"}}}
		for j := range i {
			d.links = append(d.links, j)
		}
		for j := range files {
			d.files[fmt.Sprint("src/", j)] = modelFile{content: fmt.Sprint(i, j)}
		}
		m.dishes = append(m.dishes, d)
	}
	root := t.TempDir()
	m.lay(t, root, false)
	var pack Pack
	for _, r := range m.evaluate(t, ways{root: root, state: state.Open(t.TempDir())}).evaluations() {
		r.Pack(&pack)
	}
	const each = 3 * 64 // bytes of a file: in the list of each of two tasks, and in that of the sources
	if most := dishes * files * each; pack.Size() > most {
		t.Errorf("%d dishes of %d files: %d bytes, want at most %d", dishes, files, pack.Size(), most)
	}
}
