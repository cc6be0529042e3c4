package discovery

import "github.com/bentobuild/bento/internal/dish"

// spread adds the shared links of the root of a workspace to its members: what the root requires for
// development lies where every member finds it, and no manifest of a member names it.
func (f *finder) spread() {
	for _, root := range f.ws.Dishes {
		shared := sharedBy(root)
		if len(shared) == 0 {
			continue
		}
		for _, m := range f.ws.Members(root) {
			if m.Family() == root.Family() {
				takeOver(m, shared)
			}
		}
	}
}

// sharedBy returns the shared links of the manifest of d.
func sharedBy(d *dish.Dish) []dish.Link {
	var shared []dish.Link
	for _, l := range d.Links {
		if l.Shared {
			l.Kind, l.Dev, l.Via, l.Deep = dish.Inferred, true, "", false
			shared = append(shared, l)
		}
	}
	return shared
}

// takeOver adds the links to dishes that d has no link to yet.
func takeOver(d *dish.Dish, shared []dish.Link) {
	have := make(map[*dish.Dish]bool, len(d.Links))
	for _, l := range d.Links {
		have[l.To] = true
	}
	for _, l := range shared {
		if l.To.Path != d.Path && !have[l.To] {
			have[l.To] = true
			l.Inherited = true
			d.Links = append(d.Links, l)
		}
	}
}
