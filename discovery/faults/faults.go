// Package faults collects what plugins did wrong while they were asked about directories,
// to say it once with all that is lost by it.
package faults

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
)

// Faults are failures of plugins. The zero value has none.
type Faults struct {
	byKind map[kind][]fault
}

// kind is what is told once.
type kind struct {
	Adapter string
	Code    adapters.Code
}

type fault struct {
	*adapters.Failure
	path string // of the dish or directory that it was asked about
	at   config.Pos
}

// Add takes a failure that was about the directory with this path, and would be told at
// this place.
func (f *Faults) Add(failure *adapters.Failure, path string, at config.Pos) {
	if f.byKind == nil {
		f.byKind = make(map[kind][]fault)
	}
	k := kind{failure.Adapter, failure.Code}
	f.byKind[k] = append(f.byKind[k], fault{failure, path, at})
}

// Warnings gives one warning for each plugin and code: the failure that the others came
// of, or else the first by path, and the paths of the others.
func (f *Faults) Warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, of := range f.byKind {
		slices.SortStableFunc(of, func(a, b fault) int {
			if a.Late != b.Late {
				return cmp.Compare(number(a.Late), number(b.Late))
			}
			return strings.Compare(a.path, b.path)
		})
		first := of[0]
		w := first.at.Warning(string(first.Code), "%v%s", first.Failure, others(of))
		w.Hint = first.Hint
		list = append(list, w)
	}
	return diagnostics.Sorted(list)
}

func number(late bool) int {
	if late {
		return 1
	}
	return 0
}

// others names the directories that the first failure is not about.
func others(of []fault) string {
	paths := make(map[string]bool)
	for _, o := range of[1:] {
		paths[o.path] = true
	}
	delete(paths, of[0].path)
	if len(paths) == 0 {
		return ""
	}
	return "; it has no answer about " + strings.Join(slices.Sorted(maps.Keys(paths)), ", ") + " either"
}
