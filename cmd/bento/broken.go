package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
)

// stopping returns the problems that may keep a run from starting. With --keep-going, an unreadable manifest
// prevents only the tasks of its own dish.
func (s *session) stopping(w *opened) []diagnostics.Diagnostic {
	if !s.flags.keepGoing {
		return w.Problems
	}
	type problem struct {
		line    int
		message string
	}
	told := make(map[problem]bool)
	for _, d := range w.Dishes {
		var list diagnostics.Problems
		switch {
		case d.Failure == nil || d.Adapter == nil: // without an adapter, dish.toml is wrong
		case errors.As(d.Failure, &list):
			for _, p := range list {
				told[problem{p.Line, p.Message}] = true
			}
		default:
			told[problem{0, d.Failure.Error()}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(w.Problems), func(p diagnostics.Diagnostic) bool {
		return told[problem{p.Line, p.Message}] || told[problem{0, p.Message}]
	})
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
	return diagnostics.Diagnostic{
		File: slices.Min(f.paths), Severity: diagnostics.Error, Rule: string(f.Code), Message: f.Error(), Hint: f.Hint, Source: diagnostics.Source,
	}
}
