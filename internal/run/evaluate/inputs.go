package evaluate

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// territory is what is known of the files of one dish, whichever task asks.
type territory struct {
	dish   *discovery.Dish
	nested []string // the paths of dishes inside this one

	declared *tree.Set // outputs of dish.toml, of any task: only tracked files count
	derived  *tree.Set // outputs of recipes and derived paths: the same
	outputs  []string  // the literal prefixes of all outputs, relative to the workspace
	tasks    []*plan.Task

	files []tree.Entry // the default inputs, by-products still among them; nil when not looked
}

// newTerritories makes one for every dish of the workspace.
func newTerritories(ws *discovery.Workspace, tasks func(*discovery.Dish) []*plan.Task) (map[*discovery.Dish]*territory, error) {
	all := make(map[*discovery.Dish]*territory, len(ws.Dishes))
	for _, d := range ws.Dishes {
		t, err := newTerritory(d, tasks(d))
		if err != nil {
			return nil, err
		}
		all[d] = t
	}
	nest(ws.Dishes, all)
	return all, nil
}

// nest tells every dish about those inside it. Dishes are sorted by path.
func nest(dishes []*discovery.Dish, all map[*discovery.Dish]*territory) {
	var open []*discovery.Dish
	for _, d := range slices.SortedFunc(slices.Values(dishes), byTree) {
		for len(open) > 0 && !inside(d.Path, open[len(open)-1].Path) {
			open = open[:len(open)-1]
		}
		for _, outer := range open {
			all[outer].nested = append(all[outer].nested, d.Path)
		}
		open = append(open, d)
	}
}

// byTree orders dishes so that what is inside one follows it directly.
func byTree(x, y *discovery.Dish) int {
	return strings.Compare(treeKey(x.Path), treeKey(y.Path))
}

func treeKey(p string) string {
	if p == "." {
		return ""
	}
	return strings.ReplaceAll(p, "/", "\x00")
}

// inside tells whether p is dir or lies below it.
func inside(p, dir string) bool {
	return dir == "." || dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
}

func newTerritory(d *discovery.Dish, tasks []*plan.Task) (*territory, error) {
	t := &territory{dish: d, tasks: tasks}
	var declared, derived []string
	for _, task := range tasks {
		for _, o := range task.Outputs {
			if o.Declared {
				declared = append(declared, o.Glob)
			} else {
				derived = append(derived, o.Glob)
			}
			t.outputs = append(t.outputs, prefix(d.Path, o.Glob))
		}
	}
	if d.Adapter != nil {
		derived = append(derived, d.Adapter.Manifest().DerivedPaths...)
	}
	var err error
	if t.declared, err = tree.CompileSet(d.Path, declared); err != nil {
		return nil, err
	}
	t.derived, err = tree.CompileSet(d.Path, derived)
	return t, err
}

// prefix gives the part of a glob in front of its first wildcard, relative to the
// workspace: a path that the glob names, or a directory that it looks into.
func prefix(base, glob string) string {
	glob = strings.TrimPrefix(glob, "!")
	rooted := strings.HasPrefix(glob, "//")
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "//"), "/")
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		glob = glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	if rooted {
		base = "."
	}
	return path.Join(base, glob)
}

// defaults gives the default inputs of the dish, by-products still among them.
func (t *territory) defaults(tr *tree.Tree) []tree.Entry {
	if t.files == nil {
		t.files = make([]tree.Entry, 0, 32)
		for _, e := range tr.Under(t.dish.Path) {
			if t.isSource(tr, e.Path) {
				t.files = append(t.files, e)
			}
		}
	}
	return t.files
}

func (t *territory) isSource(tr *tree.Tree, p string) bool {
	if t.foreign(p) || isOwnFile(t.dish.Path, p) {
		return false
	}
	return !t.declared.Match(p) && !t.derived.Match(p) || tr.Tracked(p)
}

// foreign tells whether a path belongs to a dish inside this one.
func (t *territory) foreign(p string) bool {
	return slices.ContainsFunc(t.nested, func(dir string) bool { return inside(p, dir) })
}

// isOwnFile tells whether p is one of bento's own files: what they say enters the
// keys as ingredients of their own.
func isOwnFile(dish, p string) bool {
	if inside(p, state.Name) {
		return true
	}
	switch path.Base(p) {
	case "dish.toml":
		return p == path.Join(dish, "dish.toml")
	case "bento.toml", "bento.plugins.lock":
		return path.Dir(p) == "."
	}
	return dish == "." && path.Dir(p) == "bentos" && strings.HasSuffix(p, ".toml")
}

// inputs gives the entries that the key of a task is made of, by path.
func (e *Evaluator) inputs(t *plan.Task) ([]tree.Entry, error) {
	terr := e.territories[t.Dish]
	var list []tree.Entry
	if t.DefaultInputs {
		list = slices.Clone(terr.defaults(e.tree))
	}
	list, err := e.addExplicit(terr, t, list)
	if err != nil {
		return nil, err
	}
	return e.addFound(t, e.withoutByProducts(terr, t, list)), nil
}

// addFound adds what lay among the outputs of a task and was not made by it.
func (e *Evaluator) addFound(t *plan.Task, list []tree.Entry) []tree.Entry {
	found := e.memory.Of(t).Found
	if len(found) == 0 {
		return list
	}
	list = slices.Clone(list)
	for _, p := range found {
		if entry, err := tree.Stat(e.o.Root, p); err == nil && entry.Kind != tree.Dir {
			list = append(list, entry)
		}
	}
	return sortedEntries(list)
}

func sortedEntries(list []tree.Entry) []tree.Entry {
	slices.SortFunc(list, func(x, y tree.Entry) int { return strings.Compare(x.Path, y.Path) })
	return slices.CompactFunc(list, func(x, y tree.Entry) bool { return x.Path == y.Path })
}

// addLinks adds the links that the literal part of a glob leads through: what it
// names lies behind them.
func (e *Evaluator) addLinks(g *inputGlobs, list []tree.Entry) []tree.Entry {
	for _, pre := range g.prefixes {
		for dir := pre; dir != "."; dir = path.Dir(dir) {
			if entry, ok := e.tree.Lookup(dir); ok && entry.Kind == tree.Link {
				list = append(list, entry)
			}
		}
	}
	return list
}

// addExplicit adds what the globs of a task name, and takes away what they negate.
func (e *Evaluator) addExplicit(terr *territory, t *plan.Task, list []tree.Entry) ([]tree.Entry, error) {
	if len(t.Inputs) == 0 {
		return list, nil
	}
	globs, err := e.globs(t)
	if err != nil {
		return nil, err
	}
	named, err := e.tree.Select(globs.all)
	if err != nil {
		return nil, err
	}
	for _, entry := range named {
		if e.admits(globs, terr, entry.Path) {
			list = append(list, entry)
		}
	}
	list = sortedEntries(e.addLinks(globs, list))
	if globs.negations != nil {
		list = slices.DeleteFunc(list, func(entry tree.Entry) bool {
			return globs.negations.Match(entry.Path) && !globs.all.Match(entry.Path)
		})
	}
	return list, nil
}

// inputGlobs are the compiled inputs of one task.
type inputGlobs struct {
	all       *tree.Set
	rooted    *tree.Set // only those anchored at the workspace
	negations *tree.Set // what is negated somewhere; nil when nothing is
	own       *tree.Set // the outputs of the task itself
	prefixes  []string  // the literal prefixes
}

func (e *Evaluator) globs(t *plan.Task) (*inputGlobs, error) {
	if g := e.compiled[t]; g != nil {
		return g, nil
	}
	var rooted, negations, own []string
	g := &inputGlobs{}
	for _, pattern := range t.Inputs {
		positive, negated := strings.CutPrefix(pattern, "!")
		if negated {
			negations = append(negations, positive)
		} else {
			g.prefixes = append(g.prefixes, prefix(t.Dish.Path, pattern))
		}
		if strings.HasPrefix(positive, "//") {
			rooted = append(rooted, pattern)
		}
	}
	for _, o := range t.Outputs {
		own = append(own, o.Glob)
	}
	var err error
	compile := func(patterns []string) *tree.Set {
		s, cerr := tree.CompileSet(t.Dish.Path, patterns)
		if cerr != nil && err == nil {
			err = cerr
		}
		return s
	}
	g.all, g.rooted, g.own = compile(t.Inputs), compile(rooted), compile(own)
	if len(negations) > 0 {
		g.negations = compile(negations)
	}
	if err != nil {
		return nil, err
	}
	e.compiled[t] = g
	return g, nil
}

// admits tells whether a path that the globs match is an input: files of dishes
// further in only when anchored at the workspace, outputs only when named, the
// task's own outputs and bento's files never.
func (e *Evaluator) admits(g *inputGlobs, terr *territory, p string) bool {
	if isOwnFile(terr.dish.Path, p) || g.own.Match(p) && !e.tree.Tracked(p) {
		return false
	}
	if terr.foreign(p) && !g.rooted.Match(p) {
		return false
	}
	if !terr.declared.Match(p) && !terr.derived.Match(p) || e.tree.Tracked(p) {
		return true
	}
	return g.names(terr, p)
}

// names tells whether a glob leads to p by a prefix that is, or lies inside, an
// output: "dist/**" means the output dist, "**" does not.
func (g *inputGlobs) names(terr *territory, p string) bool {
	for _, pre := range g.prefixes {
		if !inside(p, pre) {
			continue
		}
		if slices.ContainsFunc(terr.outputs, func(o string) bool { return o != "." && inside(pre, o) }) {
			return true
		}
		if terr.declared.Match(pre) || terr.derived.Match(pre) {
			return true
		}
	}
	return false
}

// withoutByProducts takes away what the task itself, and those that come behind it
// in its dish, have left behind: in a clean checkout none of it would be there.
func (e *Evaluator) withoutByProducts(terr *territory, t *plan.Task, list []tree.Entry) []tree.Entry {
	left := make(map[string][32]byte)
	behind := false
	for _, other := range terr.tasks {
		if behind = behind || other.Name == t.Name; behind {
			for _, b := range e.memory.Of(other).ByProducts {
				left[b.Path] = b.Sum
			}
		}
	}
	return e.without(list, left)
}

// without takes away entries whose content is what left says.
func (e *Evaluator) without(list []tree.Entry, left map[string][32]byte) []tree.Entry {
	if len(left) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool {
		want, made := left[entry.Path]
		if !made || entry.Kind != tree.File {
			return false
		}
		sum, err := e.tree.Index().Sum(entry)
		return err == nil && sum == want
	})
}

// digestOf converts what the index says into the cache's word for it.
func digestOf(sum [32]byte) cache.Digest { return cache.Digest(sum) }
