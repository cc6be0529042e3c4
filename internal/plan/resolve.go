package plan

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
)

// resolve returns the tasks of a dish, sorted by rank: the recipes of its adapter with the changes
// and additions of its dish.toml.
func resolve(b *builder, d *dish.Dish) []*Task {
	byName := make(map[string]*Task)
	for _, recipe := range d.Tasks {
		byName[recipe.Name] = fromRecipe(d, recipe)
	}
	if d.Config != nil {
		for i := range d.Config.Tasks {
			override(b, d, byName, &d.Config.Tasks[i])
		}
	}
	b.checkAliases(d, byName)
	tasks := slices.SortedFunc(maps.Values(byName), func(x, y *Task) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), strings.Compare(x.Name, y.Name))
	})
	for _, t := range tasks {
		t.contain()
		t.finish(b)
	}
	giveDishOutputs(b, d, tasks)
	for _, t := range tasks {
		t.ObservedInputs = t.ObservedInputs || b.ws.ObservedInputs && !t.listsInputs
		t.ObservedOutputs = t.ObservedOutputs || b.ws.ObservedOutputs && !t.listsOutputs
		t.keepRewritten()
	}
	return tasks
}

// keepRewritten handles a task whose inputs include its outputs, such as a formatter. Outputs are no
// inputs, so an edit would not change its key, and restoring or removing outputs would undo the edit.
func (t *Task) keepRewritten() {
	for _, o := range t.Outputs {
		out := path.Clean(o.Glob)
		same := func(in string) bool {
			if strings.HasPrefix(in, "//") {
				in = in[1:] // its clean form, mostly
			}
			return path.Clean(in) == out
		}
		if slices.ContainsFunc(t.Inputs, same) {
			t.Uncached, t.Incremental = cmp.Or(t.Uncached, fmt.Sprintf("%q is among its inputs and its outputs", o.Glob)), true
			return
		}
	}
}

func newTask(d *dish.Dish, name string) *Task {
	r := rank(name)
	t := &Task{Dish: d, Name: name, rank: r, Lifecycle: adapters.IsLifecycle(name), Weight: 1}
	t.id, t.place = t.ID(), t.Place()
	return t
}

func fromRecipe(d *dish.Dish, recipe adapters.Task) *Task {
	t := newTask(d, recipe.Name)
	t.Run, t.Cwd, t.Path, t.SetEnv = recipe.Run, recipe.Cwd, recipe.Path, maps.Clone(recipe.Env)
	t.recipe, t.DefaultInputs = true, recipe.Inputs == nil
	t.ObservedInputs = recipe.ObservedInputs
	t.Inputs, t.extra = slices.Clone(recipe.Inputs), rootRelative(d, recipe.ExtraInputs)
	t.usual = recipeOutputs(d, recipe.Outputs)
	for _, o := range t.usual {
		t.Outputs = append(t.Outputs, Output{Glob: o})
	}
	t.Near = near(d, recipe.Near)
	t.Rewrites = recipe.Rewrites
	if d.Config != nil {
		t.Inputs = append(t.Inputs, globTexts(d.Config.Inputs)...)
	}
	for _, dep := range recipe.DependsOn {
		t.wants = append(t.wants, want{text: dep})
	}
	t.script, t.SideEffects, t.Mutex, t.body = recipe.Script, recipe.SideEffects, recipe.Mutex, recipe.Body
	t.Persistent, t.skipsPrivate, t.NoInstall, t.Fetches = recipe.Server, recipe.SkipsPrivate, recipe.NoInstall, recipe.Fetches
	if recipe.NoCache || recipe.Script {
		t.Uncached = uncachedScript
	}
	return t
}

// common is the part of the recipes of a dish that its tasks without a recipe share: the directories
// at the start of PATH, the variables, and the files above the dish that a lifecycle task reads.
type common struct {
	inputs []string
	path   []string
	env    map[string]string
}

func commonOf(d *dish.Dish) common {
	var c common
	for _, recipe := range d.Tasks {
		if adapters.IsLifecycle(recipe.Name) {
			c.inputs = append(c.inputs, rootRelative(d, recipe.ExtraInputs)...)
		}
		for _, dir := range recipe.Path {
			if !slices.Contains(c.path, dir) {
				c.path = append(c.path, dir)
			}
		}
		for name, value := range recipe.Env {
			if c.env == nil {
				c.env = make(map[string]string)
			}
			c.env[name] = value
		}
	}
	c.inputs = sortedSet(c.inputs)
	return c
}

// beyond returns globs for the directories without a dish that a dish depends on, without the files
// that the tools of its language make there.
func beyond(d *dish.Dish) []string {
	var globs []string
	for _, dir := range d.Extra {
		at := "//" + Escape(dir) + "/"
		globs = append(globs, at+"**")
		if d.Adapter != nil {
			for _, derived := range d.Adapter.Manifest().DerivedPaths {
				globs = append(globs, "!"+at+derived)
			}
		}
	}
	return globs
}

// rootRelative turns absolute paths, which adapters use for files above a dish, into globs anchored
// at the workspace. It leaves out paths outside of the workspace.
func rootRelative(d *dish.Dish, globs []string) []string {
	root := strings.TrimSuffix(d.Dir, filepath.FromSlash(d.Path))
	if d.Path == "." || d.Path == "" {
		root = d.Dir
	}
	top := strings.TrimSuffix(root, "/") + "/"
	out := make([]string, 0, len(globs))
	for _, g := range globs {
		if !filepath.IsAbs(g) || strings.HasPrefix(g, "//") {
			out = append(out, g)
		} else if rel, inside := strings.CutPrefix(g, top); inside && fs.ValidPath(rel) { // most are
			out = append(out, "//"+Escape(rel))
		} else if rel, err := filepath.Rel(root, g); err == nil && filepath.IsLocal(rel) {
			out = append(out, "//"+Escape(filepath.ToSlash(rel)))
		}
	}
	return out
}

// recipeOutputs turns absolute paths among the outputs of a recipe, which may end in "/**", into globs
// anchored at the workspace. It leaves out paths outside of the workspace.
func recipeOutputs(d *dish.Dish, globs []string) (list []string) {
	for _, g := range globs {
		dir, below := g, ""
		if filepath.IsAbs(g) && strings.HasSuffix(g, "/**") {
			dir, below = strings.TrimSuffix(g, "/**"), "/**"
		}
		for _, at := range rootRelative(d, []string{dir}) {
			list = append(list, at+below)
		}
	}
	return list
}

// near returns the paths of the workspace among absolute paths, relative to it, that neither lie in d nor
// have d in them.
func near(d *dish.Dish, paths []string) (list []string) {
	for _, g := range rootRelative(d, paths) {
		p, inside := strings.CutPrefix(g, "//")
		around := p == "." || d.Path == "." || strings.HasPrefix(d.Path+"/", p+"/")
		if inside && !around && !strings.HasPrefix(p, d.Path+"/") && !strings.Contains(p, `\\`) {
			list = append(list, p)
		}
	}
	return list
}

// Escape returns a glob that matches exactly path.
func Escape(path string) string {
	if !strings.ContainsAny(path, `\*?[{`) {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(path)
}

// finish adds the settings that all tasks of the dish share.
func (t *Task) finish(b *builder) {
	t.Inputs = b.quoteLiterals(t.Dish, t.Inputs)
	if t.declared = t.Inputs; b.mayName(t.Dish.Path, t.Inputs) {
		t.Naming = t.Inputs
	}
	if t.Tool != nil {
		t.finishTool()
		return
	}
	d := t.Dish
	// Globs of files above come first, so that a negation in dish.toml wins.
	t.extra = append(t.extra, beyond(d)...)
	first := t.extra
	if d.Adapter != nil {
		m := d.Adapter.Manifest()
		first = slices.Concat(t.extra, m.FingerprintFiles)
		for name, value := range m.SetEnv {
			if t.SetEnv == nil {
				t.SetEnv = make(map[string]string)
			}
			if _, own := t.SetEnv[name]; !own {
				t.SetEnv[name] = value
			}
		}
		if h, ok := m.DiagnosticHooks[t.Name]; ok {
			t.Hook = &h
			b.setHookParser(t)
		}
	}
	shared := b.envOf(d)
	t.HashEnv, t.PassEnv = union(shared.hash, t.HashEnv), union(shared.pass, t.PassEnv)
	t.Inputs = dedupe(slices.Concat(first, t.Inputs))
	if t.Persistent {
		t.Uncached = "it is persistent"
	}
	if t.Interactive {
		t.Uncached = "it is interactive"
	}
}

// envNames are names of variables that all tasks of an adapter have, sorted. Nobody changes them.
type envNames struct{ hash, pass []string }

// envOf returns the names of variables that all tasks of d have.
func (b *builder) envOf(d *dish.Dish) envNames {
	names, known := b.env[d.Adapter]
	if !known {
		names.pass = b.ws.PassEnv
		if d.Adapter != nil {
			m := d.Adapter.Manifest()
			names.hash, names.pass = m.SteeringEnv, slices.Concat(m.PassEnv, names.pass)
		}
		names = envNames{sortedSet(slices.Clone(names.hash)), sortedSet(slices.Clone(names.pass))}
		b.env[d.Adapter] = names
	}
	return names
}

// union returns the sorted elements of two lists. It returns the sorted list itself if other has none.
func union(sorted, other []string) []string {
	if len(other) == 0 {
		return sorted
	}
	return sortedSet(slices.Concat(sorted, other))
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// dedupe removes repeated patterns, unless there are negations: a negation applies to the patterns
// before it.
func dedupe(globs []string) []string {
	if slices.ContainsFunc(globs, func(g string) bool { return strings.HasPrefix(g, "!") }) {
		return globs
	}
	seen := make(map[string]bool, len(globs))
	return slices.DeleteFunc(globs, func(g string) bool {
		had := seen[g]
		seen[g] = true
		return had
	})
}
