package discovery

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// pluginFailures collects failures of plugins. The zero value is empty.
type pluginFailures struct {
	byKind map[failureKind][]pluginFailure
}

// failureKind identifies failures that are reported once.
type failureKind struct {
	Adapter string
	Code    adapters.Code
}

type pluginFailure struct {
	*adapters.Failure
	path string // of the dish or directory that the plugin was asked about
	at   diagnostics.Pos
}

// Add adds a failure about the directory with this path. place is where it would be reported.
func (f *pluginFailures) Add(failure *adapters.Failure, path string, at diagnostics.Pos) {
	if f.byKind == nil {
		f.byKind = make(map[failureKind][]pluginFailure)
	}
	k := failureKind{failure.Adapter, failure.Code}
	f.byKind[k] = append(f.byKind[k], pluginFailure{failure, path, at})
}

// ByID returns a failure of each plugin.
func (f *pluginFailures) ByID() map[string]*adapters.Failure {
	byID := make(map[string]*adapters.Failure)
	for _, of := range f.byKind {
		if old := byID[of[0].Adapter]; old == nil || of[0].Code < old.Code { // the same in every run
			byID[of[0].Adapter] = of[0].Failure
		}
	}
	return byID
}

// Warnings returns one warning for each plugin and code. It is about the failure that caused the others,
// or else the first by path, and has the paths of the others.
func (f *pluginFailures) Warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, of := range f.byKind {
		slices.SortStableFunc(of, func(a, b pluginFailure) int {
			if a.Late != b.Late {
				return cmp.Compare(number(a.Late), number(b.Late))
			}
			return strings.Compare(a.path, b.path)
		})
		first := of[0]
		list = append(list, first.at.Warning(string(first.Code), "%v%s", first.Failure, others(of)).WithHint(first.RequireHint()))
	}
	return diagnostics.Sorted(list)
}

func number(late bool) int {
	if late {
		return 1
	}
	return 0
}

// others returns the other directories of a failure.
func others(of []pluginFailure) string {
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
