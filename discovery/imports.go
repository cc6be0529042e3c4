package discovery

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// imports are what the sources of a dish import, by the directory of the source relative to the root.
type imports struct {
	all, notTests map[string][]string
	whole         bool // false if the list was too long
	tree          *tree.Tree
	sources       []string                // the ends of the names of sources
	of            map[*dish.Dish]*imports // of all dishes

	walk    sync.Once               // sets the following
	open    map[*dish.Dish][]string // see from
	unknown bool
	reasons map[*dish.Dish]bool // dishes with a link by which sources do not import
}

// importScans looks for the imports that matter: if a task of dish.toml that is no build makes
// files, they say who reads these. In most workspaces there is none.
func (f *finder) importScans() (list []scan) {
	if !slices.ContainsFunc(f.ws.Dishes, makesMore) {
		return nil
	}
	for _, d := range f.ws.Dishes {
		if a, ok := d.Adapter.(adapters.Importer); ok && d.Failure == nil {
			of := answers.Project{Path: d.Path, Adapter: d.Adapter, Embeds: a.Imports, Kind: "imports", In: d.Adapter.Manifest().EmbedsIn}
			list = append(list, scan{of, func(list []adapters.Embed) { f.setImports(d, list) }})
		}
	}
	return list
}

// makesMore reports whether dish.toml declares outputs of a task that is no build, or outside.
func makesMore(d *dish.Dish) bool {
	if d.Config == nil {
		return false
	}
	for i := range d.Config.Tasks {
		t := &d.Config.Tasks[i]
		if t.WorkspaceOutputs != nil || t.Outputs != nil && t.Name != "build" {
			return true
		}
	}
	return false
}

func (f *finder) setImports(d *dish.Dish, list []adapters.Embed) {
	im := &imports{
		all: make(map[string][]string), notTests: make(map[string][]string), whole: len(list) <= answers.MaxEmbeds,
		of: f.imports, tree: f.Tree, sources: d.Adapter.Manifest().EmbedsIn,
	}
	for _, e := range list {
		dir := path.Dir(f.inWorkspace(e.File))
		im.all[dir] = append(im.all[dir], e.Path)
		if !e.Named {
			im.notTests[dir] = append(im.notTests[dir], e.Path)
		}
	}
	f.imports[d] = im
	d.Imports = func(of *dish.Dish) []string { return im.from(d, of) }
}

// from returns globs, relative to d, of the directories of d that the sources of reader import, directly
// or by way of other dishes. It is nil where that is unknown: sources that are not there yet may import
// more, and what depends_on says may have any reason.
func (im *imports) from(reader, d *dish.Dish) []string {
	if !im.whole {
		return nil
	}
	im.walk.Do(func() { im.follow(reader) })
	if im.unknown || im.reasons[d] {
		return nil
	}
	return append([]string{}, im.open[d]...)
}

// follow follows the imports of reader, whose imports these are.
func (im *imports) follow(reader *dish.Dish) {
	w := importWalk{reader: reader, imports: im.of, seen: make(map[string]bool), open: make(map[*dish.Dish][]string), links: linksBehind(reader)}
	for _, list := range im.all {
		for _, p := range list {
			w.visit(p)
		}
	}
	for _, globs := range w.open {
		slices.Sort(globs)
	}
	im.open, im.unknown, im.reasons = w.open, w.unknown, make(map[*dish.Dish]bool)
	for _, l := range w.links {
		named := func(as string) bool { return as != "" }
		im.reasons[l.To] = im.reasons[l.To] || l.Kind == dish.Declared || !slices.ContainsFunc(l.As, named)
	}
}

// holds reports whether a directory holds sources.
func (im *imports) holds(dir string) bool {
	return slices.ContainsFunc(im.tree.Under(dir), func(e tree.Entry) bool {
		return path.Dir(e.Path) == dir && slices.ContainsFunc(im.sources, func(end string) bool { return strings.HasSuffix(e.Path, end) })
	})
}

// importWalk follows imports from dish to dish.
type importWalk struct {
	reader  *dish.Dish
	imports map[*dish.Dish]*imports // of all dishes
	links   []*dish.Link
	seen    map[string]bool // imported paths
	open    map[*dish.Dish][]string
	unknown bool
}

func (w *importWalk) visit(imported string) {
	if w.seen[imported] {
		return
	}
	w.seen[imported] = true
	to, rest := w.target(imported)
	if to == nil || to == w.reader { // all imports of the reader are visited
		return
	}
	w.open[to] = append(w.open[to], path.Join(rest, "*"))
	dir := path.Join(to.Path, rest)
	im := w.imports[to]
	if im == nil || !im.whole || !im.holds(dir) {
		w.unknown = true
		return
	}
	for _, p := range im.notTests[dir] {
		w.visit(p)
	}
}

// target returns the dish that holds an imported path, and the path below it; nil for none.
func (w *importWalk) target(imported string) (to *dish.Dish, rest string) {
	longest := 0
	for _, l := range w.links {
		for _, as := range l.As {
			below, ok := strings.CutPrefix(imported, as)
			if ok && (below == "" || below[0] == '/') && len(as) > longest {
				longest, to, rest = len(as), l.To, strings.TrimPrefix(below, "/")
			}
		}
	}
	return to, rest
}

// linksBehind returns the links of d and of the dishes that they lead to.
func linksBehind(d *dish.Dish) (list []*dish.Link) {
	seen := map[*dish.Dish]bool{d: true}
	for todo := []*dish.Dish{d}; len(todo) > 0; todo = todo[1:] {
		for i := range todo[0].Links {
			l := &todo[0].Links[i]
			list = append(list, l)
			if !seen[l.To] {
				seen[l.To] = true
				todo = append(todo, l.To)
			}
		}
	}
	return list
}
