package discovery

import (
	"slices"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// warned returns the warnings of the adapter about one dish, or those that dishes may share. A dish whose
// tasks are written down needs no word about its scripts and tests.
func (c *decision) warned(shared bool) diagnostics.Problems {
	return slices.DeleteFunc(slices.Clone(c.recipes.Warnings), func(p diagnostics.Diagnostic) bool {
		written := (p.Rule == snapshot.RuleUnmapped || p.Rule == snapshot.RuleUntested) && c.dish.Config != nil && len(c.dish.Config.Tasks) > 0
		return written || (p.Alike != "") != shared
	})
}

// reportShared adds the warnings that several dishes may share, with the names of the dishes.
func (f *finder) reportShared() {
	for _, d := range f.ws.Dishes {
		list := f.decided[d].warned(true)
		for i := range list {
			list[i].Dish = d.Name
		}
		if len(list) > 0 {
			f.fail(list, d)
		}
	}
}
