package run

import (
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
)

// undeclared reports the files that an execution left where git ignores them and no output covers them, unless a
// warning has named all of them before. It returns the files to remember. It leaves out files that another task may
// have left, such as one in another dish where a task ran at the same time. warned are the files that a warning has
// named.
func (e *engine) undeclared(x *execution, last *key.LastRun) (own, warned []string) {
	t := x.ev.Task
	all := slices.Concat(x.kept.Undeclared, x.kept.UpToDate)
	if len(all) == 0 {
		return nil, nil
	}
	var unsure []string
	for _, p := range x.kept.Undeclared {
		if d := e.plan.Workspace.Owner(p); t.Root != nil && d != nil && d.Path != t.Dish.Path && e.ranMeanwhile(d, x.result) {
			unsure = append(unsure, p)
		} else {
			own = append(own, p)
		}
	}
	if !slices.ContainsFunc(all, func(p string) bool { return !slices.Contains(last.Warned, p) }) {
		return own, last.Warned
	}
	const which = ", which git ignores and no output covers"
	what, hint := "ran while tasks of other dishes did, and "+diagnostics.Few(unsure)+which+", may be its own", "run it again, when nothing else runs"
	switch made := x.kept.UpToDate; {
	case len(own) > 0:
		what, hint = "left "+diagnostics.Few(own)+which, x.kept.DeclareHint(own)
	case len(made) > 0:
		what, hint = "wrote nothing, as "+diagnostics.Few(made)+which+", is up to date", x.kept.DeclareHint(made)
	}
	e.env.warn("outputs_undeclared", t.ID()+" "+what+": its result is used, and not stored", hint)
	slices.Sort(all)
	return own, all
}

// ranMeanwhile reports whether a task of d was executed during the execution of r.
func (e *engine) ranMeanwhile(d *dish.Dish, r *Result) bool {
	end := r.Started.Add(r.Duration)
	return slices.ContainsFunc(e.nodes, func(n *node) bool {
		switch {
		case n.task.Dish.Path != d.Path:
			return false
		case n.result == nil:
			return n.cancel != nil
		}
		o := n.result
		return o.Attempts > 0 && o.Started.Before(end) && o.Started.Add(o.Duration).After(r.Started)
	})
}
