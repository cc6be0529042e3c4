package main

import (
	"errors"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
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
