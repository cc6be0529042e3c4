package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// stopping returns the problems that may keep a run from starting. With --keep-going, an unreadable manifest
// or a missing adapter prevents only the tasks of its own dish.
func (s *session) stopping(w *opened) []diagnostics.Diagnostic {
	if !s.flags.keepGoing {
		return w.Problems
	}
	type problem struct {
		line    int
		message string
	}
	ofDishes := make(map[problem]bool)
	for _, d := range w.Dishes {
		var list diagnostics.Problems
		switch {
		case len(plan.Lost(d)) > 0:
			for _, p := range plan.Lost(d) {
				ofDishes[problem{p.Line, p.Message}] = true
			}
		case d.Failure == nil || d.Adapter == nil:
		case errors.As(d.Failure, &list):
			for _, p := range list {
				ofDishes[problem{p.Line, p.Message}] = true
			}
		default:
			ofDishes[problem{0, d.Failure.Error()}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(w.Problems), func(p diagnostics.Diagnostic) bool {
		return ofDishes[problem{p.Line, p.Message}] || ofDishes[problem{0, p.Message}]
	})
}

// lost returns the dishes whose adapter is missing and that have the problem, which is that of their
// language.
func (w *opened) lost(p diagnostics.Diagnostic) (list []*dish.Dish) {
	for _, d := range w.Dishes {
		if slices.ContainsFunc(plan.Lost(d), func(l diagnostics.Diagnostic) bool {
			return l.File == p.File && l.Line == p.Line && l.Col == p.Col && l.Rule == p.Rule
		}) {
			list = append(list, d)
		}
	}
	return list
}

// isLost reports whether a problem is that of the language of a dish whose adapter is missing.
func (w *opened) isLost(p diagnostics.Diagnostic) bool { return p.Line > 0 && len(w.lost(p)) > 0 }

// settleLost turns the errors of dishes that lack their adapter, and that the plan does not need, into
// warnings: a missing plugin costs its own dishes only.
func (w *opened) settleLost(p *plan.Plan) {
	if p == nil {
		return // no plan was made, and a missing plugin may be why
	}
	for i, problem := range w.Problems {
		if problem.Severity == diagnostics.Error && w.isLost(problem) &&
			!slices.ContainsFunc(w.lost(problem), func(d *dish.Dish) bool { return slices.Contains(p.Lost, d) }) {
			w.Problems[i].Severity = diagnostics.Warning
		}
	}
}

// lacking reports whether a problem of w is that of a dish without its adapter that the plan needs.
func (w *opened) lacking() bool {
	return slices.ContainsFunc(w.Problems, func(p diagnostics.Diagnostic) bool { return p.Severity == diagnostics.Error && w.isLost(p) })
}

// pluginFault is a plugin's failure that leaves tasks without a key.
type pluginFault struct {
	*adapters.Failure
	dishes, paths []string // names and paths of the dishes of these tasks
}

// pluginFaults returns the failures of plugins in an evaluation, each once even if it concerns
// several tasks.
func pluginFaults(results []*key.Evaluation) []*pluginFault {
	var list []*pluginFault
	byMessage := make(map[string]*pluginFault)
	for _, r := range results {
		var failure *adapters.Failure
		if !errors.As(r.Err, &failure) {
			continue
		}
		f := byMessage[failure.Error()]
		if f == nil {
			f = &pluginFault{Failure: failure}
			byMessage[failure.Error()] = f
			list = append(list, f)
		}
		if d := r.Task.Dish; !slices.Contains(f.paths, d.Path) {
			f.dishes, f.paths = append(f.dishes, d.Name), append(f.paths, d.Path)
		}
	}
	return list
}

// Error names the dishes unless the failed call named a directory.
func (f *pluginFault) Error() string {
	if f.Dir != "" {
		return f.Failure.Error()
	}
	return f.Failure.Error() + "; it is needed for " + strings.Join(slices.Sorted(slices.Values(f.dishes)), ", ")
}

func (f *pluginFault) Unwrap() error { return f.Failure }

func (f *pluginFault) problem() diagnostics.Diagnostic {
	return diagnostics.Pos{File: slices.Min(f.paths)}.Error(string(f.Code), "%s", f.Error()).WithHint(f.Hint)
}
