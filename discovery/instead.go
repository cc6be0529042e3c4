package discovery

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
)

// chooseOutputs replaces the commands of recipes whose outputs git does not ignore by others whose outputs
// it ignores, or that have none. It leaves those alone whose outputs the author of dish.toml names.
func (f *finder) chooseOutputs() {
	for _, d := range f.ws.Dishes {
		for i := range d.Tasks {
			t := &d.Tasks[i]
			if len(t.Instead) == 0 || namesOutputs(d, t.Name) || slices.ContainsFunc(t.Outputs, func(g string) bool { return f.ignores(d, strings.TrimSuffix(g, "/**")) }) {
				continue
			}
			at := slices.IndexFunc(t.Instead, func(a adapters.Alternative) bool {
				return a.Path == "" && f.Tree.InRepository() || a.Path != "" && f.ignores(d, a.Path)
			})
			if at < 0 {
				continue
			}
			d.Tasks = slices.Clone(d.Tasks) // the saved answers have the others
			d.Tasks[i].Run, d.Tasks[i].Outputs = t.Instead[at].Run, t.Instead[at].Outputs
		}
	}
}

// namesOutputs reports whether dish.toml names the outputs of a task: then its command makes them as before.
func namesOutputs(d *dish.Dish, task string) bool {
	if d.Config == nil {
		return false
	}
	return task == "build" && len(d.Config.Outputs) > 0 || slices.ContainsFunc(d.Config.Tasks, func(t dish.TaskSettings) bool {
		return t.Name == task && (t.Outputs != nil || t.WorkspaceOutputs != nil)
	})
}

// ignores reports whether git ignores a file at p, relative to d.
func (f *finder) ignores(d *dish.Dish, p string) bool {
	return f.Tree.Ignored(path.Join(d.Path, p), false)
}
