package discovery

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// cycles reports cycles of links that dish.toml files declare, and marks inferred links that close
// a cycle.
func (f *finder) cycles() {
	all := rings(f.ws.Dishes, func(*dish.Link) bool { return true })
	if len(all) == 0 {
		return
	}
	declared := func(l *dish.Link) bool { return l.Kind == dish.Declared }
	for _, ring := range rings(f.ws.Dishes, declared) {
		path, last := shortestCycle(ring, declared)
		f.add(last.Pos.Error(RuleCycle, "the dishes depend on each other in a cycle: %s", strings.Join(path, " → ")).WithHint("remove one of these depends_on"))
	}
	for _, ring := range all {
		f.breakRing(ring)
	}
}

// breakRing marks the inferred links of a ring of dishes that close a cycle. It marks development
// links first, to keep as much of the order as possible.
func (f *finder) breakRing(ring []*dish.Dish) {
	kept, edges := ringEdges(ring)
	reported := false
	for _, e := range edges {
		path := findPath(e.link.To, e.from, func(l *dish.Link) bool { return kept[l] })
		if path == nil {
			kept[e.link] = true
			continue
		}
		e.link.Cyclic = true
		if !reported && !e.link.Inherited { // nobody wrote that one, so nobody can remove it
			reported = true
			names := append([]string{e.from.Name}, path...)
			f.add(e.link.Pos.Warning(RuleCycle, "%s depends on %s in a cycle: %s; this link orders no tasks",
				e.from.Name, e.link.To.Name, strings.Join(names, " → ")))
		}
	}
}

// edge is a link with its dish.
type edge struct {
	from *dish.Dish
	link *dish.Link
}

// ringEdges returns the links inside a ring: the declared ones, which stay, and the inferred ones. Of the latter,
// links for development come after the others, and links inherited from the root of the workspace last.
func ringEdges(ring []*dish.Dish) (declared map[*dish.Link]bool, inferred []edge) {
	inside := make(map[*dish.Dish]bool, len(ring))
	for _, d := range ring {
		inside[d] = true
	}
	declared = make(map[*dish.Link]bool)
	var dev, inherited []edge
	for _, d := range ring {
		for i := range d.Links {
			switch l := &d.Links[i]; {
			case !inside[l.To]:
			case l.Kind == dish.Declared:
				declared[l] = true
			case l.Inherited:
				inherited = append(inherited, edge{d, l})
			case l.Dev:
				dev = append(dev, edge{d, l})
			default:
				inferred = append(inferred, edge{d, l})
			}
		}
	}
	return declared, slices.Concat(inferred, dev, inherited)
}

// findPath returns the names of the dishes on the shortest path over the links for which counts returns
// true, both ends included; nil for none.
func findPath(from, to *dish.Dish, counts func(*dish.Link) bool) []string {
	before := map[*dish.Dish]*dish.Dish{from: nil}
	for queue := []*dish.Dish{from}; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		if d == to {
			var names []string
			for at := to; at != nil; at = before[at] {
				names = append(names, at.Name)
			}
			slices.Reverse(names)
			return names
		}
		for i := range d.Links {
			l := &d.Links[i]
			if _, seen := before[l.To]; !seen && counts(l) {
				before[l.To] = d
				queue = append(queue, l.To)
			}
		}
	}
	return nil
}

// shortestCycle returns the names of a shortest cycle through the first dish of a ring, and its
// first link.
func shortestCycle(ring []*dish.Dish, counts func(*dish.Link) bool) (names []string, first *dish.Link) {
	start := ring[0]
	for i := range start.Links {
		l := &start.Links[i]
		if !counts(l) {
			continue
		}
		if path := findPath(l.To, start, counts); path != nil && (names == nil || len(path) < len(names)-1) {
			names, first = append([]string{start.Name}, path...), l
		}
	}
	return names, first
}

// rings returns the strongly connected components of more than one dish, and dishes linked to
// themselves, over the counting links. dishes and the results are sorted by path.
func rings(dishes []*dish.Dish, counts func(*dish.Link) bool) [][]*dish.Dish {
	index := make(map[*dish.Dish]int, len(dishes))
	for i, d := range dishes {
		index[d] = i
	}
	g := dag.New(len(dishes))
	for i, d := range dishes {
		for j := range d.Links {
			if l := &d.Links[j]; counts(l) {
				g.AddEdge(index[l.To], i)
			}
		}
	}
	var found [][]*dish.Dish
	for _, component := range g.Components() {
		if first := component[0]; len(component) > 1 || slices.Contains(g.Before(first), first) {
			ring := make([]*dish.Dish, len(component))
			for i, n := range component {
				ring[i] = dishes[n]
			}
			found = append(found, ring)
		}
	}
	slices.SortFunc(found, func(a, b []*dish.Dish) int { return strings.Compare(a[0].Path, b[0].Path) })
	return found
}
