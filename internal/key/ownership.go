package key

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// ownership is what is known of the files of one dish, whichever task asks.
type ownership struct {
	Dish   *discovery.Dish
	nested []string // the paths of dishes inside this one

	outputs func() outputs
	Outputs []string // the literal prefixes of all outputs, relative to the workspace
	Tasks   []*plan.Task

	files []tree.Entry // the default inputs, by-products still among them; nil when not looked
}

// outputs are what tasks of a dish may make: of that only tracked files count.
type outputs struct {
	declared *tree.Set // in dish.toml, by any task
	derived  *tree.Set // by recipes, and derived paths
}

// newOwnership makes one for every dish of the workspace.
func newOwnership(ws *discovery.Workspace, tasks func(*discovery.Dish) []*plan.Task) (map[*discovery.Dish]*ownership, error) {
	all := make(map[*discovery.Dish]*ownership, len(ws.Dishes))
	good := make(map[string]bool) // globs that can be compiled: most dishes have the same
	for _, d := range ws.Dishes {
		t, err := newOne(d, tasks(d), good)
		if err != nil {
			return nil, err
		}
		all[d] = t
	}
	nest(ws.Dishes, all)
	return all, nil
}

// nest tells every dish about those inside it. Dishes are sorted by path.
func nest(dishes []*discovery.Dish, all map[*discovery.Dish]*ownership) {
	var open []*discovery.Dish
	for _, d := range slices.SortedFunc(slices.Values(dishes), byTree) {
		for len(open) > 0 && !Inside(d.Path, open[len(open)-1].Path) {
			open = open[:len(open)-1]
		}
		for _, outer := range open {
			all[outer].nested = append(all[outer].nested, d.Path)
		}
		open = append(open, d)
	}
}

// byTree orders dishes so that what is inside one follows it directly.
func byTree(x, y *discovery.Dish) int {
	return strings.Compare(treeKey(x.Path), treeKey(y.Path))
}

func treeKey(p string) string {
	if p == "." {
		return ""
	}
	return strings.ReplaceAll(p, "/", "\x00")
}

// Inside reports whether p is dir or lies below it.
func Inside(p, dir string) bool {
	return dir == "." || dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
}

func newOne(d *discovery.Dish, tasks []*plan.Task, good map[string]bool) (*ownership, error) {
	t := &ownership{Dish: d, Tasks: tasks}
	var declared, derived []string
	for _, task := range tasks {
		for _, o := range task.Outputs {
			if o.Declared {
				declared = append(declared, o.Glob)
			} else {
				derived = append(derived, o.Glob)
			}
			t.Outputs = append(t.Outputs, prefix(d.Path, o.Glob))
		}
	}
	if d.Adapter != nil {
		derived = append(derived, d.Adapter.Manifest().DerivedPaths...)
	}
	compile := func() (o outputs, err error) {
		if o.declared, err = tree.CompileSet(d.Path, declared); err != nil {
			return o, err
		}
		o.derived, err = tree.CompileSet(d.Path, derived)
		return o, err
	}
	if id := strings.Join(slices.Concat(declared, derived), "\x00"); !good[id] {
		if _, err := compile(); err != nil {
			return nil, err
		}
		good[id] = true
	}
	t.outputs = sync.OnceValue(func() outputs {
		o, _ := compile() // it can be
		return o
	})
	return t, nil
}

// prefix returns the part of a glob in front of its first wildcard, relative to the
// workspace: a path that the glob names, or a directory that it looks into.
func prefix(base, glob string) string {
	glob = strings.TrimPrefix(glob, "!")
	rooted := strings.HasPrefix(glob, "//")
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "//"), "/")
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		glob = glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	if rooted {
		base = "."
	}
	return path.Join(base, glob)
}

// Defaults returns the default inputs of the dish, by-products still among them.
func (t *ownership) Defaults(tr *tree.Tree) []tree.Entry {
	if t.files == nil {
		t.files = make([]tree.Entry, 0, 32)
		for _, e := range tr.Under(t.Dish.Path) {
			if t.isSource(tr, e.Path) {
				t.files = append(t.files, e)
			}
		}
	}
	return t.files
}

func (t *ownership) isSource(tr *tree.Tree, p string) bool {
	if t.Foreign(p) || IsOwnFile(t.Dish.Path, p) {
		return false
	}
	return !t.IsOutput(p) || tr.Tracked(p)
}

// IsOutput reports whether tasks of the dish may make p, or its tools leave it there.
func (t *ownership) IsOutput(p string) bool {
	o := t.outputs()
	return o.declared.Match(p) || o.derived.Match(p)
}

// Known returns the default inputs as they were found last, nil when they were not
// looked for.
func (t *ownership) Known() []tree.Entry { return t.files }

// Forget forgets the files: they are looked for again.
func (t *ownership) Forget() { t.files = nil }

// Describe writes what, beside the files themselves, decides which of them are the
// dish's own.
func (t *ownership) Describe(w *pack.Writer) {
	w.String(t.Dish.Path)
	w.Strings(t.nested)
	for _, task := range t.Tasks {
		for _, o := range task.Outputs {
			w.String(o.Glob)
			if o.Declared {
				w.Byte(1)
			}
		}
	}
	if t.Dish.Adapter != nil {
		w.Strings(t.Dish.Adapter.Manifest().DerivedPaths)
	}
}

// Foreign reports whether a path belongs to a dish inside this one.
func (t *ownership) Foreign(p string) bool {
	return slices.ContainsFunc(t.nested, func(dir string) bool { return Inside(p, dir) })
}

// IsOwn reports whether bento reads its configuration from p, whichever dish p lies in:
// no task makes such a file, and nothing removes it.
func IsOwn(p string) bool {
	return path.Base(p) == "dish.toml" || IsOwnFile(".", p)
}

// IsOwnFile reports whether p is one of bento's own files: what they say enters the
// keys as ingredients of their own.
func IsOwnFile(dish, p string) bool {
	if Inside(p, state.Name) {
		return true
	}
	switch path.Base(p) {
	case "dish.toml":
		return p == path.Join(dish, "dish.toml")
	case "bento.toml", "bento.plugins.lock":
		return path.Dir(p) == "."
	}
	return dish == "." && path.Dir(p) == "bentos" && strings.HasSuffix(p, ".toml")
}
