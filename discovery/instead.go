package discovery

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// chooseOutputs replaces the commands of recipes whose outputs git does not ignore by others whose outputs
// it ignores.
func (f *finder) chooseOutputs() {
	for _, d := range f.ws.Dishes {
		for i := range d.Tasks {
			t := &d.Tasks[i]
			if len(t.Instead) == 0 || slices.ContainsFunc(t.Outputs, func(g string) bool { return f.ignores(d, strings.TrimSuffix(g, "/**")) }) {
				continue
			}
			at := slices.IndexFunc(t.Instead, func(a adapters.Alternative) bool { return f.ignores(d, a.Path) })
			if at < 0 {
				continue
			}
			d.Tasks = slices.Clone(d.Tasks) // the saved answers have the others
			d.Tasks[i].Run, d.Tasks[i].Outputs = t.Instead[at].Run, t.Instead[at].Outputs
		}
	}
}

// ignores reports whether git ignores a file at p, relative to d.
func (f *finder) ignores(d *Dish, p string) bool { return f.Tree.Ignored(path.Join(d.Path, p), false) }
