package main

import (
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
)

const ruleSubmoduleAbsent = "submodule_absent"

// absentSubmodules returns a problem that names the submodules that are not checked out, as in a fresh clone or a new
// work tree. It returns none unless problems include an unknown dish or task, or there are no dishes. It is as severe
// as these problems.
func (w *opened) absentSubmodules(problems []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	because := func(d diagnostics.Diagnostic) bool {
		return d.Rule == discovery.RuleUnknownDish || d.Rule == "unknown_task"
	}
	reported := func(d diagnostics.Diagnostic) bool { return d.Rule == ruleSubmoduleAbsent }
	if len(w.Dishes) > 0 && !slices.ContainsFunc(problems, because) || slices.ContainsFunc(w.Problems, reported) {
		return nil
	}
	paths := w.Tree.AbsentSubmodules()
	if len(paths) == 0 {
		return nil
	}
	d := diagnostics.Pos{}.Warning(ruleSubmoduleAbsent, "the submodule %s is not checked out, so its dishes are unknown", diagnostics.Few(paths)).
		WithHint("run git submodule update --init")
	if len(paths) > 1 {
		d.Message = "submodules are not checked out, so their dishes are unknown: " + diagnostics.Few(paths)
		d.Hint += ", with the paths of those that you need"
	}
	if slices.ContainsFunc(problems, func(d diagnostics.Diagnostic) bool { return because(d) && d.Severity == diagnostics.Error }) {
		d.Severity = diagnostics.Error
	}
	return []diagnostics.Diagnostic{d}
}
