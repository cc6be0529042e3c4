package run

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// ruleUnmatched is the rule of a glob of inputs that matches nothing.
const ruleUnmatched = "input_matches_nothing"

// UnmatchedInputs returns a warning for each glob by which dish.toml names inputs of tasks of p and that
// matches nothing, neither a file nor an output of a task of p.
func UnmatchedInputs(p *plan.Plan, files *tree.Tree) (list []diagnostics.Diagnostic) {
	warned := make(map[string]bool) // by place: tasks share the globs of their dish
	for _, t := range p.Tasks {
		for _, d := range unmatched(p, files, t) {
			if !warned[d.Where()] {
				warned[d.Where()] = true
				list = append(list, d)
			}
		}
	}
	return list
}

// unmatched is UnmatchedInputs for one task.
func unmatched(p *plan.Plan, files *tree.Tree, t *plan.Task) (list []diagnostics.Diagnostic) {
	c := t.Dish.Config
	if c == nil {
		return nil
	}
	globs := c.Inputs
	for i := range c.Tasks {
		if c.Tasks[i].Name == t.Name && c.Tasks[i].Inputs != nil {
			globs = *c.Tasks[i].Inputs
		}
	}
	for _, g := range globs {
		if g.Text == "" || strings.HasPrefix(g.Text, "!") || matchesSome(p, files, t, g.Text) {
			continue
		}
		list = append(list, g.Pos.Warning(ruleUnmatched, "inputs: %q matches nothing", g.Text).
			WithHint("correct the glob, or remove it: a change of files that it should name does not run the task again"))
	}
	return list
}

// matchesSome reports whether a glob of t matches a file, may match an output of a task, or cannot be judged.
func matchesSome(p *plan.Plan, files *tree.Tree, t *plan.Task, glob string) bool {
	set, err := tree.CompileSet(t.Dish.Path, []string{plan.Literal(files.Walked, t.Dish.Path, glob)})
	if err != nil {
		return true
	}
	for _, find := range []func(*tree.Set) ([]tree.Entry, error){files.Select, files.Hidden} {
		if found, err := find(set); err != nil || len(found) > 0 {
			return true
		}
	}
	for _, other := range p.Tasks {
		for _, o := range other.Outputs {
			made, err := tree.CompileSet(other.Dish.Path, []string{o.Glob})
			if err != nil || made.Overlaps(&set.Set) {
				return true
			}
		}
	}
	return false
}
