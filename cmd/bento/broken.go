package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/run/evaluate"
)

// stopping gives the problems that may keep a run from starting. With --keep-going a
// dish whose manifest its adapter cannot read has no tasks, and the others run.
func (s *session) stopping(w *workspace) []diagnostics.Diagnostic {
	if !s.flags.keepGoing {
		return w.problems
	}
	type problem struct {
		line    int
		message string
	}
	told := make(map[problem]bool)
	for _, d := range w.Dishes {
		var list diagnostics.Problems
		switch {
		case d.Failure == nil || d.Adapter == nil: // without an adapter it is dish.toml that is wrong
		case errors.As(d.Failure, &list):
			for _, p := range list {
				told[problem{p.Line, p.Message}] = true
			}
		default:
			told[problem{0, d.Failure.Error()}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(w.problems), func(p diagnostics.Diagnostic) bool {
		return told[problem{p.Line, p.Message}] || told[problem{0, p.Message}]
	})
}

// pluginFault is the failure of a plugin that tasks cannot be looked up for.
type pluginFault struct {
	*adapters.Failure
	dishes, paths []string // whose tasks these are
}

// pluginFaults gives what plugins failed at in an evaluation, each once, however many
// tasks it is about.
func pluginFaults(results []*evaluate.Result) []*pluginFault {
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

// Error names the dishes where the question was about none.
func (f *pluginFault) Error() string {
	if f.Dir != "" {
		return f.Failure.Error()
	}
	return f.Failure.Error() + "; it is needed for " + strings.Join(slices.Sorted(slices.Values(f.dishes)), ", ")
}

func (f *pluginFault) Unwrap() error { return f.Failure }

func (f *pluginFault) problem() diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: slices.Min(f.paths), Severity: diagnostics.Error, Rule: string(f.Code), Message: f.Error(), Hint: f.Hint, Source: diagnostics.Source,
	}
}
