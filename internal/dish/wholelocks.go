package dish

import (
	"slices"

	"github.com/bentobuild/bento/diagnostics"
)

// ruleWholeLock is the rule of a lockfile that is in keys as a whole.
const ruleWholeLock = "whole_lockfile"

// WholeLocks returns warnings of lockfiles that are in keys as a whole because an adapter cannot select
// the part of a dish: one for each file and reason.
func (w *Workspace) WholeLocks() []diagnostics.Diagnostic {
	type about struct{ file, why string }
	var order []about
	dishes := make(map[about][]string)
	for _, d := range w.Dishes {
		if d.Lock.Digest != "" || d.Lock.Whole == "" {
			continue
		}
		a := about{d.Lock.File, d.Lock.Whole}
		if rel, ok := w.Relative(a.file); ok {
			a.file = rel
		}
		if dishes[a] == nil {
			order = append(order, a)
		}
		dishes[a] = append(dishes[a], d.Name)
	}
	var list []diagnostics.Diagnostic
	for _, a := range order {
		names := dishes[a]
		slices.Sort(names)
		list = append(list, diagnostics.Pos{File: a.file}.Warning(ruleWholeLock, "every change of this lockfile changes the keys of %s: %s", Few(names), a.why))
	}
	return list
}
