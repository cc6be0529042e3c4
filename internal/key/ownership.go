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
	ws     *discovery.Workspace
	all    map[*discovery.Dish]*ownership
	nested []*discovery.Dish // directly inside this one
	// counted returns the dishes inside this one whose files are among its default inputs. It
	// is nil when no dish is inside.
	counted func() innerDishes

	compiling sync.Once
	compiled  outputs      // once IsOutput was called
	declared  []string     // globs of outputs in dish.toml
	implied   []string     // globs of outputs of recipes, and derived
	derived   []string     // paths that the tools of the directory write
	Outputs   []string     // the literal prefixes of all outputs, relative to the workspace
	Tasks     []*plan.Task // of all dishes of the directory

	sketch rangeDigest // of its files, see sketcher.dish

	files []tree.Entry // its own sources, by-products still among them; nil when not looked
	below []tree.Entry // files and the sources of the dishes that count; nil when not looked
}

// innerDishes are dishes inside another, one for each directory, outer ones first.
type innerDishes struct {
	list   []*ownership
	byPath map[string]*ownership
}

func countedBy(d *discovery.Dish, nest plan.Nest, all map[*discovery.Dish]*ownership) innerDishes {
	in := innerDishes{byPath: make(map[string]*ownership)}
	for _, inner := range nest.Counted(d) {
		if in.byPath[inner.Path] == nil {
			in.byPath[inner.Path] = all[inner]
			in.list = append(in.list, all[inner])
		}
	}
	return in
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
	nest := plan.Nested(ws.Dishes)
	for _, d := range ws.Dishes {
		t, err := newOne(d, beside(ws, d), tasks, good)
		if err != nil {
			return nil, err
		}
		t.ws, t.nested = ws, nest[d]
		if len(t.nested) > 0 {
			t.counted = sync.OnceValue(func() innerDishes { return countedBy(d, nest, all) })
		}
		all[d] = t
	}
	for _, t := range all {
		t.all = all
	}
	return all, nil
}

// Inside reports whether p is dir or lies below it.
func Inside(p, dir string) bool {
	return dir == "." || dir == "" || strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// beside returns all dishes of the directory of d. They share its files: what tasks and tools of one
// make is no input of the others.
func beside(ws *discovery.Workspace, d *discovery.Dish) []*discovery.Dish {
	if list := ws.At(d.Path); len(list) > 0 {
		return list
	}
	return []*discovery.Dish{d}
}

func newOne(d *discovery.Dish, all []*discovery.Dish, tasks func(*discovery.Dish) []*plan.Task, good map[string]bool) (*ownership, error) {
	t := &ownership{Dish: d, Tasks: slices.Clip(tasks(all[0]))}
	for i, o := range all {
		if i > 0 {
			t.Tasks = append(t.Tasks, tasks(o)...)
		}
		if o.Adapter != nil {
			t.derived = append(t.derived, o.Adapter.Manifest().DerivedPaths...)
		}
	}
	for _, task := range t.Tasks {
		for _, o := range task.Outputs {
			if o.Declared {
				t.declared = append(t.declared, o.Glob)
			} else {
				t.implied = append(t.implied, o.Glob)
			}
			t.Outputs = append(t.Outputs, prefix(d.Path, o.Glob))
		}
	}
	t.implied = append(t.implied, t.derived...)
	if id := strings.Join(t.declared, "\x00") + "\x00" + strings.Join(t.implied, "\x00"); !good[id] {
		if _, err := t.compile(); err != nil {
			return nil, err
		}
		good[id] = true
	}
	return t, nil
}

// compile returns the outputs of the dish.
func (t *ownership) compile() (o outputs, err error) {
	if o.declared, err = tree.CompileSet(t.Dish.Path, t.declared); err != nil {
		return o, err
	}
	o.derived, err = tree.CompileSet(t.Dish.Path, t.implied)
	return o, err
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
	if glob == "" || strings.HasPrefix(glob, "/") {
		return path.Join(base, glob)
	}
	if base == "." {
		return path.Clean(glob)
	}
	return path.Clean(base + "/" + glob) // as path.Join, with one allocation in place of three
}

// Own returns the sources of the dish that lie in no dish inside it, by-products still among them.
func (t *ownership) Own(tr *tree.Tree) []tree.Entry {
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

// Inner returns the dishes inside this one whose sources are among its default inputs.
func (t *ownership) Inner() []*ownership {
	if t.counted == nil {
		return nil
	}
	return t.counted().list
}

// Defaults returns the default inputs of the tasks of the dish: its own sources, and those of the
// dishes inside it that count, less what its own tasks may make there.
func (t *ownership) Defaults(tr *tree.Tree) []tree.Entry {
	if len(t.Inner()) == 0 {
		return t.Own(tr)
	}
	if t.below == nil {
		t.below = slices.Clone(t.Own(tr))
		for _, inner := range t.Inner() {
			around := t.around(inner)
			for _, e := range inner.Own(tr) {
				if !slices.ContainsFunc(around, func(o *ownership) bool { return o.IsOutput(e.Path) }) || tr.Tracked(e.Path) {
					t.below = append(t.below, e)
				}
			}
		}
		t.below = sortedEntries(t.below)
	}
	return t.below
}

// around returns the dishes around inner up to this one, which may make files there.
func (t *ownership) around(inner *ownership) (list []*ownership) {
	for inner.Dish.Path != t.Dish.Path {
		inner = inner.outer()
		list = append(list, inner)
	}
	return list
}

// outer returns the dish directly around this one, nil for none.
func (t *ownership) outer() *ownership {
	if t.Dish.Path == "." {
		return nil
	}
	return t.all[t.ws.Owner(path.Dir(t.Dish.Path))]
}

// Counts returns the dish whose sources are among the default inputs of this one, and that p
// belongs to; nil when p lies elsewhere.
func (t *ownership) Counts(p string) *ownership {
	if !Inside(p, t.Dish.Path) {
		return nil
	}
	owner := t.ws.Owner(p)
	switch {
	case owner == nil || owner.Path == t.Dish.Path:
		return t
	case t.counted == nil:
		return nil
	}
	return t.counted().byPath[owner.Path]
}

// MayMake reports whether p, which belongs to owner, may be made by tasks of this dish, of owner or
// of a dish between them.
func (t *ownership) MayMake(p string, owner *ownership) bool {
	return owner.IsOutput(p) || slices.ContainsFunc(t.around(owner), func(o *ownership) bool { return o.IsOutput(p) })
}

// IsOutput reports whether tasks of the dish may make p, or its tools leave it there.
func (t *ownership) IsOutput(p string) bool {
	t.compiling.Do(func() { t.compiled, _ = t.compile() }) // newOne has found no error
	o := &t.compiled
	return o.declared.Match(p) || o.derived.Match(p)
}

// Known returns the sources of the dish as they were found last, nil when they were not looked
// for.
func (t *ownership) Known() []tree.Entry { return t.files }

// Forget forgets the files: they are looked for again.
func (t *ownership) Forget() { t.files, t.below = nil, nil }

// Describe writes what, beside the files themselves, decides which of them are the
// dish's own.
func (t *ownership) Describe(w *pack.Writer) {
	w.String(t.Dish.Path)
	for _, d := range t.nested {
		w.String(d.Path)
	}
	for _, task := range t.Tasks {
		for _, o := range task.Outputs {
			w.String(o.Glob)
			if o.Declared {
				w.Byte(1)
			}
		}
	}
	w.Strings(t.derived)
}

// Foreign reports whether a path below the dish belongs to a dish inside this one.
func (t *ownership) Foreign(p string) bool {
	if len(t.nested) == 0 {
		return false
	}
	owner := t.ws.Owner(p)
	return owner != nil && owner.Path != t.Dish.Path
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
