package key

import (
	"slices"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// MadeSet returns the globs of the outputs of t and of the caches that it leaves, compiled.
func MadeSet(t *plan.Task) (*tree.Set, error) {
	globs := make([]string, 0, len(t.Outputs)+len(t.Leaves))
	for _, o := range t.Outputs {
		globs = append(globs, o.Glob)
	}
	return tree.CompileSet(t.Dish.Path, append(globs, t.Leaves...))
}

// IsNeverStored reports whether the result of the task of ev is never stored: its recipe or dish.toml says
// so, or its last run left files where git ignores them, which are still no outputs.
func (ev *Evaluation) IsNeverStored() bool {
	return ev.Task.Uncached != "" || ev.undeclared
}

// leavesUndeclared reports whether the last run of t left files that would keep a result of t from being stored.
func leavesUndeclared(t *plan.Task, last *LastRun) bool {
	if t.FindsOutputs() || !last.Unstored || len(last.Warned) == 0 || !t.MayLeaveUndeclared() {
		return false
	}
	made, err := MadeSet(t)
	return err == nil && slices.ContainsFunc(last.Warned, func(p string) bool { return !made.Match(p) })
}
