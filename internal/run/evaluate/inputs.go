package evaluate

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
)

// inputs gives the entries that the key of a task is made of, by path.
func (e *Evaluator) inputs(t *plan.Task) ([]tree.Entry, error) {
	terr := e.territories[t.Dish]
	var list []tree.Entry
	if t.DefaultInputs {
		list = slices.Clone(terr.Defaults(e.tree))
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
func (e *Evaluator) addExplicit(terr *territory.Territory, t *plan.Task, list []tree.Entry) ([]tree.Entry, error) {
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
			g.prefixes = append(g.prefixes, territory.Prefix(t.Dish.Path, pattern))
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
func (e *Evaluator) admits(g *inputGlobs, terr *territory.Territory, p string) bool {
	if territory.IsOwnFile(terr.Dish.Path, p) || g.own.Match(p) && !e.tree.Tracked(p) {
		return false
	}
	if terr.Foreign(p) && !g.rooted.Match(p) {
		return false
	}
	if !terr.IsOutput(p) || e.tree.Tracked(p) {
		return true
	}
	return g.names(terr, p)
}

// names tells whether a glob leads to p by a prefix that is, or lies inside, an
// output: "dist/**" means the output dist, "**" does not.
func (g *inputGlobs) names(terr *territory.Territory, p string) bool {
	for _, pre := range g.prefixes {
		if !territory.Inside(p, pre) {
			continue
		}
		if slices.ContainsFunc(terr.Outputs, func(o string) bool { return o != "." && territory.Inside(pre, o) }) {
			return true
		}
		if terr.IsOutput(pre) {
			return true
		}
	}
	return false
}

// withoutByProducts takes away what the task itself, and those that come behind it
// in its dish, have left behind: in a clean checkout none of it would be there.
func (e *Evaluator) withoutByProducts(terr *territory.Territory, t *plan.Task, list []tree.Entry) []tree.Entry {
	left := make(map[string][32]byte)
	behind := false
	for _, other := range terr.Tasks {
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
