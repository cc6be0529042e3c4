package adapter_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// TestSuiteNamesTheClause: for each behaviour that bento reports as a fault, the conformance suite fails
// at least one clause.
func TestSuiteNamesTheClause(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts thousands of processes")
	}
	codes := adapter.Misbehaving()
	dir := t.TempDir()
	slots := make(chan struct{}, 12) // most of them only wait
	var all sync.WaitGroup
	for _, id := range slices.Sorted(maps.Keys(codes)) {
		path := adapter.Install(t, dir, id)
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r, err := plugintest.Run(t.Context(), path, plugintest.Options{Setup: plugintest.Setup{Within: 400 * time.Millisecond, Exit: 300 * time.Millisecond}})
			if err != nil {
				t.Error(err)
				return
			}
			var clauses []string
			for _, a := range r.Axes {
				if a.Status == plugintest.Fail {
					clauses = append(clauses, a.Clause)
				}
			}
			t.Logf("%-22s %-18s %6d ms  %s", id, codes[id], r.Took.Milliseconds(), strings.Join(clauses, " "))
			if len(clauses) == 0 {
				t.Errorf("%s: the suite finds nothing wrong", id)
			}
		})
	}
	all.Wait()
}
