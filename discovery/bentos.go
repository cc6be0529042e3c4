package discovery

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// fillBentos sets the dishes of each bento. It sorts bentos by name.
func (f *finder) fillBentos() {
	for _, b := range f.Config.Bentos {
		out := dish.Bento{Name: b.Name, Pos: b.Pos}
		for _, g := range b.Dishes {
			dishes := f.selected(g)
			if len(dishes) == 0 && g.Text != "" {
				f.add(f.noSuchDish(b.Name, g))
			}
			for _, d := range dishes {
				if !slices.Contains(d.Bentos, b.Name) {
					out.Dishes = append(out.Dishes, d.Name)
					d.Bentos = append(d.Bentos, b.Name)
				}
			}
		}
		f.ws.Bentos = append(f.ws.Bentos, out)
	}
}

// selected returns the dishes of one entry of a bento: the dish at a path, or those whose paths
// match a glob.
func (f *finder) selected(g dish.Glob) []*dish.Dish {
	if list := f.ws.ByPath[g.Text]; len(list) > 0 {
		return list
	}
	if !isGlob(g.Text) {
		return nil
	}
	var dishes []*dish.Dish
	for _, d := range f.ws.Dishes {
		// "*" matches names, and the root has none.
		if (d.Path != "." || g.Text == "**") && doublestar.MatchUnvalidated(g.Text, d.Path) {
			dishes = append(dishes, d)
		}
	}
	return dishes
}

func isGlob(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// maxSuggested is for how many paths without a dish the nearest ones are looked for: each is compared with
// the paths of all dishes.
const maxSuggested = 100

// noSuchDish reports an entry of a bento without a dish. A glob may match nothing yet, a path may
// not.
func (f *finder) noSuchDish(bento string, g dish.Glob) diagnostics.Diagnostic {
	if isGlob(g.Text) {
		return g.Pos.Warning(RuleUnknownDish, "bento %q: no dish has a path that matches %q", bento, g.Text)
	}
	d := g.Pos.Error(RuleUnknownDish, "bento %q: no dish found at %q", bento, g.Text)
	if f.Tree.Ignored(g.Text, true) {
		d.Hint = "git ignores the directory"
		return d
	}
	if d.Hint = f.ws.WhyLeftOut(g.Text); d.Hint != "" {
		return d
	}
	if f.unknown++; f.unknown > maxSuggested {
		return d
	}
	var paths []string
	for _, dish := range f.ws.Dishes {
		if dish.Name == g.Text {
			d.Hint = "the path of the dish " + dish.Name + " is " + dish.Path
			return d
		}
		paths = append(paths, dish.Path)
	}
	d.Hint = diagnostics.Suggest(g.Text, paths)
	return d
}
