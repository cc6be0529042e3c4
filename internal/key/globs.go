package key

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// globs are the compiled inputs of one task.
type globs struct {
	All       *tree.Set
	rooted    *tree.Set // only those anchored at the workspace
	negations *tree.Set // negated globs; nil for none
	naming    *tree.Set // those that name ignored files; nil for none
	own       *tree.Set // the outputs of the task itself
	reach     *reach
}

// newGlobs compiles the inputs of t.
func newGlobs(t *plan.Task, reach *reach) (*globs, error) {
	var rooted, negations, own []string
	for _, pattern := range t.Inputs {
		positive, negated := strings.CutPrefix(pattern, "!")
		if negated {
			negations = append(negations, positive)
		}
		if strings.HasPrefix(positive, "//") {
			rooted = append(rooted, pattern)
		}
	}
	for _, o := range t.Outputs {
		own = append(own, o.Glob)
	}
	var errs []error
	compile := func(patterns []string) *tree.Set {
		s, err := tree.CompileSet(t.Dish.Path, patterns)
		errs = append(errs, err)
		return s
	}
	g := &globs{All: compile(t.Inputs), own: compile(own), reach: reach}
	if g.rooted = g.All; len(rooted) < len(t.Inputs) {
		g.rooted = compile(rooted)
	}
	if len(t.Naming) > 0 {
		g.naming = compile(t.Naming)
	}
	if len(negations) > 0 {
		g.negations = compile(negations)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Admits reports whether a path that the globs match is an input:
//
//	a file of bento                                 never
//	an output of the task itself                    if git tracks it
//	a file of the dish, or of a counted dish inside yes
//	   that a task there, or between, may make      if a glob names it, or git tracks it
//	any other file                                  if a glob that is anchored at the workspace matches it
//	   that a task of the dish may make             if also a glob names it, or git tracks it
func (g *globs) Admits(tr *tree.Tree, own *ownership, p string) bool {
	if IsOwnFile(own.Dish.Path, p) || g.own.Match(p) && !tr.Tracked(p) {
		return false
	}
	owner := own.Counts(p)
	if owner == nil && !g.rooted.Match(p) || owner != nil && IsOwnFile(owner.Dish.Path, p) {
		return false
	}
	return g.admitsUntracked(own, owner, p) || tr.Tracked(p) // last: it may read git's index
}

// admitsUntracked is Admits for a path of owner, nil for none, that git does not track.
func (g *globs) admitsUntracked(own, owner *ownership, p string) bool {
	if owner == nil {
		return !own.IsOutput(p) || g.names(own, p)
	}
	return !own.MayMake(p, owner) || g.names(own, p) || owner != own && g.names(owner, p)
}

// Hidden returns the ignored files that the globs name.
func (g *globs) Hidden(tr *tree.Tree) ([]tree.Entry, error) {
	if g.naming == nil {
		return nil, nil
	}
	return tr.Hidden(g.naming)
}

// Makes reports whether p is an output of the task.
func (g *globs) Makes(p string) bool { return g.own.Match(p) }

// Negates reports whether the globs exclude p, also from the default inputs.
func (g *globs) Negates(p string) bool {
	return g.negations != nil && g.negations.Match(p) && !g.All.Match(p)
}

// names reports whether a glob leads to p by a literal prefix that is an output or inside one:
// "dist/**" names the output dist, "**" does not.
func (g *globs) names(own *ownership, p string) bool {
	for _, pre := range g.reach.Inputs {
		if !Inside(p, pre) {
			continue
		}
		if slices.ContainsFunc(own.Outputs, func(o string) bool { return o != "." && Inside(pre, o) }) {
			return true
		}
		if own.IsOutput(pre) {
			return true
		}
	}
	return false
}
