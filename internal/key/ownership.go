package key

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// ownership decides which files belong to one dish, and which of them are its sources.
type ownership struct {
	Dish   *dish.Dish
	ws     *dish.Workspace
	all    map[*dish.Dish]*ownership
	nested []*dish.Dish // directly inside this one
	// counted returns the dishes inside this one whose files are among its default inputs. It
	// is nil when no dish is inside.
	counted func() innerDishes
	// carried returns those of counted whose files a link to this one carries. It is nil as counted is.
	carried func() []*ownership

	compiling sync.Once
	compiled  outputs      // set by the first call of IsOutput
	declared  []string     // globs of outputs in dish.toml
	implied   []string     // globs of outputs of recipes, and derived
	derived   []string     // paths that the tools of the directory write
	Outputs   []string     // the literal prefixes of all outputs, relative to the workspace
	Tasks     []*plan.Task // of all dishes of the directory

	validator rangeDigest // of its files, see validatorMaker.dish

	files []tree.Entry // its own sources, with by-products; nil before they are needed
	among []tree.Entry // all entries of its directory when files was computed
	below []tree.Entry // files and the sources of counted dishes; nil before they are needed
	load  []tree.Entry // files and the sources of carried dishes; nil before they are needed
}

// innerDishes are dishes inside another, one for each directory, outer ones first.
type innerDishes struct {
	list   []*ownership
	byPath map[string]*ownership
}

func innerOf(dishes []*dish.Dish, all map[*dish.Dish]*ownership) innerDishes {
	in := innerDishes{byPath: make(map[string]*ownership)}
	for _, inner := range dishes {
		if in.byPath[inner.Path] == nil {
			in.byPath[inner.Path] = all[inner]
			in.list = append(in.list, all[inner])
		}
	}
	return in
}

// outputs are the globs of the files that tasks of a dish may make. Only tracked ones are sources.
type outputs struct {
	declared *tree.Set // in dish.toml, by any task
	derived  *tree.Set // by recipes, and derived paths
}

// newOwnerships returns the ownership of every dish of the workspace.
func newOwnerships(ws *dish.Workspace, tasks func(*dish.Dish) []*plan.Task) (map[*dish.Dish]*ownership, error) {
	all := make(map[*dish.Dish]*ownership, len(ws.Dishes))
	good := make(map[string]bool) // sets of globs that compile: most dishes have the same set
	nest := plan.Nested(ws.Dishes)
	for _, d := range ws.Dishes {
		own, err := newOwnership(d, beside(ws, d), tasks, good)
		if err != nil {
			return nil, err
		}
		own.ws, own.nested = ws, nest[d]
		if len(own.nested) > 0 {
			own.counted = sync.OnceValue(func() innerDishes { return innerOf(nest.Counted(d), all) })
			own.carried = sync.OnceValue(func() []*ownership { return innerOf(nest.Carried(d), all).list })
		}
		all[d] = own
	}
	for _, own := range all {
		own.all = all
	}
	return all, nil
}

// Inside reports whether p is dir or is below it.
func Inside(p, dir string) bool {
	return dir == "." || dir == "" || strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// beside returns all dishes of the directory of d. They share its files: the outputs of one are no
// inputs of the others.
func beside(ws *dish.Workspace, d *dish.Dish) []*dish.Dish {
	if list := ws.ByPath[d.Path]; len(list) > 0 {
		return list
	}
	return []*dish.Dish{d}
}

func newOwnership(d *dish.Dish, all []*dish.Dish, tasks func(*dish.Dish) []*plan.Task, good map[string]bool) (*ownership, error) {
	own := &ownership{Dish: d, Tasks: slices.Clip(tasks(all[0]))}
	for i, o := range all {
		if i > 0 {
			own.Tasks = append(own.Tasks, tasks(o)...)
		}
		if o.Adapter != nil {
			own.derived = append(own.derived, o.Adapter.Manifest().DerivedPaths...)
		}
	}
	for _, task := range own.Tasks {
		for _, o := range task.Outputs {
			if o.Declared {
				own.declared = append(own.declared, o.Glob)
			} else {
				own.implied = append(own.implied, o.Glob)
			}
			own.Outputs = append(own.Outputs, prefix(d.Path, o.Glob))
		}
	}
	own.implied = append(own.implied, own.derived...)
	if id := strings.Join(own.declared, "\x00") + "\x00" + strings.Join(own.implied, "\x00"); !good[id] {
		if _, err := own.compile(); err != nil {
			return nil, err
		}
		good[id] = true
	}
	return own, nil
}

// compile returns the outputs of the dish.
func (own *ownership) compile() (o outputs, err error) {
	if o.declared, err = tree.CompileSet(own.Dish.Path, own.declared); err != nil {
		return o, err
	}
	o.derived, err = tree.CompileSet(own.Dish.Path, own.implied)
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

// Own returns the sources of the dish, with by-products and without the sources of the dishes
// inside it.
func (own *ownership) Own(tr *tree.Tree) []tree.Entry {
	if own.files == nil {
		all := tr.Under(own.Dish.Path)
		own.among = all
		own.files = make([]tree.Entry, 0, min(len(all), 256)) // the dish of the root may own few of very many files
		for _, e := range all {
			if own.isSource(tr, e.Path) {
				own.files = append(own.files, e)
			}
		}
	}
	return own.files
}

func (own *ownership) isSource(tr *tree.Tree, p string) bool {
	if own.Foreign(p) || IsOwnFile(own.Dish.Path, p) {
		return false
	}
	return !own.IsOutput(p) || tr.Tracked(p)
}

// Inner returns the dishes inside this one whose sources are among its default inputs.
func (own *ownership) Inner() []*ownership {
	if own.counted == nil {
		return nil
	}
	return own.counted().list
}

// Defaults returns the default inputs of the tasks of the dish: its own sources, and those of the
// counted dishes inside it, without files that its own tasks may make there.
func (own *ownership) Defaults(tr *tree.Tree) []tree.Entry {
	if len(own.Inner()) == 0 {
		return own.Own(tr)
	}
	if own.below == nil {
		own.below = own.with(tr, own.Inner())
	}
	return own.below
}

// with returns the sources of the dish and of dishes inside it, without files that a dish around
// them may make there.
func (own *ownership) with(tr *tree.Tree, dishes []*ownership) []tree.Entry {
	list := slices.Clone(own.Own(tr))
	for _, inner := range dishes {
		around := own.around(inner)
		for _, e := range inner.Own(tr) {
			if !slices.ContainsFunc(around, func(o *ownership) bool { return o.IsOutput(e.Path) }) || tr.Tracked(e.Path) {
				list = append(list, e)
			}
		}
	}
	return sortedEntries(list)
}

// Load returns the files that a link to the dish carries: its default inputs, without those of dishes
// that are themselves linked to it.
func (own *ownership) Load(tr *tree.Tree) []tree.Entry {
	if len(own.Carried()) == 0 {
		return own.Own(tr)
	}
	if own.load == nil {
		own.load = own.with(tr, own.Carried())
	}
	return own.load
}

// Carried returns the dishes inside this one whose files a link to this one carries.
func (own *ownership) Carried() []*ownership {
	if own.carried == nil {
		return nil
	}
	return own.carried()
}

// around returns the dishes around inner up to this one, which may make files there.
func (own *ownership) around(inner *ownership) (list []*ownership) {
	for inner.Dish.Path != own.Dish.Path {
		inner = inner.outer()
		list = append(list, inner)
	}
	return list
}

// outer returns the dish directly around this one, nil for none.
func (own *ownership) outer() *ownership {
	if own.Dish.Path == "." {
		return nil
	}
	return own.all[own.ws.Owner(path.Dir(own.Dish.Path))]
}

// Counts returns the ownership of the dish that p belongs to, if the sources of that dish are among
// the default inputs of this one; else nil.
func (own *ownership) Counts(p string) *ownership {
	if !Inside(p, own.Dish.Path) {
		return nil
	}
	owner := own.ws.Owner(p)
	switch {
	case owner == nil || owner.Path == own.Dish.Path:
		return own
	case own.counted == nil:
		return nil
	}
	return own.counted().byPath[owner.Path]
}

// MayMake reports whether a task may make p: a task of this dish, of owner, which is the dish of p,
// or of a dish between them.
func (own *ownership) MayMake(p string, owner *ownership) bool {
	return owner.IsOutput(p) || slices.ContainsFunc(own.around(owner), func(o *ownership) bool { return o.IsOutput(p) })
}

// IsOutput reports whether the tasks or the tools of the dish may make p.
func (own *ownership) IsOutput(p string) bool {
	own.compiling.Do(func() { own.compiled, _ = own.compile() }) // newOwnership has found no error
	o := &own.compiled
	return o.declared.Match(p) || o.derived.Match(p)
}

// Last returns the sources that Own returned last, nil if there are none.
func (own *ownership) Last() []tree.Entry { return own.files }

// Forget makes Own, Defaults and Load find the files again.
func (own *ownership) Forget() { own.files, own.below, own.load = nil, nil, nil }

// Describe writes the rules that decide which files are sources of the dish.
func (own *ownership) Describe(w *pack.Writer) {
	w.String(own.Dish.Path)
	for _, d := range own.nested {
		w.String(d.Path)
	}
	for _, task := range own.Tasks {
		for _, o := range task.Outputs {
			w.String(o.Glob)
			if o.Declared {
				w.Byte(1)
			}
		}
	}
	w.Strings(own.derived)
}

// Foreign reports whether a path below the dish belongs to a dish inside this one.
func (own *ownership) Foreign(p string) bool {
	if len(own.nested) == 0 {
		return false
	}
	owner := own.ws.Owner(p)
	return owner != nil && owner.Path != own.Dish.Path
}

// IsOwn reports whether p is a configuration file of bento, in any dish: no task makes such a
// file, and nothing removes it.
func IsOwn(p string) bool {
	return path.Base(p) == dish.File || IsOwnFile(".", p)
}

// IsOwnFile reports whether p is one of bento's own files of a dish. Their values enter the keys as
// separate ingredients.
func IsOwnFile(dir, p string) bool {
	if Inside(p, state.Name) {
		return true
	}
	switch path.Base(p) {
	case dish.File:
		return p == path.Join(dir, dish.File)
	case dish.WorkspaceFile, "bento.plugins.lock":
		return path.Dir(p) == "."
	}
	return dir == "." && (path.Dir(p) == dish.BentosDir || path.Dir(p) == dish.AdaptersDir) && strings.HasSuffix(p, ".toml")
}
