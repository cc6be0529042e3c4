package discovery

import (
	"slices"
	"strings"
)

// cycles refuses cycles through what dish.toml files declare, and marks inferred
// links that close one.
func (f *finder) cycles() {
	declared := func(l *Link) bool { return l.Kind == Declared }
	for _, ring := range rings(f.ws.Dishes, declared) {
		path, last := shortestCycle(ring, declared)
		p := last.pos.Error(RuleCycle, "the dishes depend on each other in a cycle: %s", strings.Join(path, " → "))
		p.Hint = "take one of these depends_on away"
		f.add(p)
	}
	all := func(*Link) bool { return true }
	for _, ring := range rings(f.ws.Dishes, all) {
		f.breakRing(ring)
	}
}

// breakRing marks the inferred links of a ring of dishes that close a cycle, those
// for development first, so that as much of the order as possible is kept.
func (f *finder) breakRing(ring []*Dish) {
	kept, edges := ringEdges(ring)
	told := false
	for _, e := range edges {
		path := findPath(e.link.To, e.from, func(l *Link) bool { return kept[l] })
		if path == nil {
			kept[e.link] = true
			continue
		}
		e.link.Cyclic = true
		if !told {
			told = true
			names := append([]string{e.from.Name}, path...)
			f.add(e.link.pos.Warning(RuleCycle, "%s depends on %s in a cycle: %s; this link orders no tasks",
				e.from.Name, e.link.To.Name, strings.Join(names, " → ")))
		}
	}
}

// edge is a link with the dish that it starts from.
type edge struct {
	from *Dish
	link *Link
}

// ringEdges gives the links inside a ring: the declared ones, which stay, and the
// inferred ones in the order in which they may stay, those for development last.
func ringEdges(ring []*Dish) (declared map[*Link]bool, inferred []edge) {
	inside := make(map[*Dish]bool, len(ring))
	for _, d := range ring {
		inside[d] = true
	}
	declared = make(map[*Link]bool)
	var dev []edge
	for _, d := range ring {
		for i := range d.Links {
			switch l := &d.Links[i]; {
			case !inside[l.To]:
			case l.Kind == Declared:
				declared[l] = true
			case l.Dev:
				dev = append(dev, edge{d, l})
			default:
				inferred = append(inferred, edge{d, l})
			}
		}
	}
	return declared, append(inferred, dev...)
}

// findPath gives the names of the dishes from one to another over the links that
// count, both included, by the shortest way; nil when there is none.
func findPath(from, to *Dish, counts func(*Link) bool) []string {
	before := map[*Dish]*Dish{from: nil}
	for queue := []*Dish{from}; len(queue) > 0; queue = queue[1:] {
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

// shortestCycle gives a cycle through the first dish of a ring, by the names in
// order, and the link that it starts with.
func shortestCycle(ring []*Dish, counts func(*Link) bool) (names []string, first *Link) {
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

// rings gives the sets of dishes that reach each other over the links that count
// (strongly connected components of more than one dish, and dishes linked to
// themselves), each and all by path. It is Tarjan's algorithm with a stack of its
// own, since a chain of dishes may be long.
func rings(dishes []*Dish, counts func(*Link) bool) [][]*Dish {
	t := &tarjan{counts: counts, index: make(map[*Dish]int), low: make(map[*Dish]int), onStack: make(map[*Dish]bool)}
	for _, d := range dishes {
		if t.index[d] == 0 {
			t.visit(d)
		}
	}
	for _, ring := range t.rings {
		slices.SortFunc(ring, byPath)
	}
	slices.SortFunc(t.rings, func(a, b []*Dish) int { return byPath(a[0], b[0]) })
	return t.rings
}

func byPath(a, b *Dish) int { return strings.Compare(a.Path, b.Path) }

type tarjan struct {
	counts  func(*Link) bool
	index   map[*Dish]int // from 1, in the order of the visit
	low     map[*Dish]int
	onStack map[*Dish]bool
	stack   []*Dish
	rings   [][]*Dish
}

// frame is a dish whose links are being followed.
type frame struct {
	dish *Dish
	next int
}

func (t *tarjan) enter(d *Dish) frame {
	t.index[d] = len(t.index) + 1
	t.low[d] = t.index[d]
	t.stack = append(t.stack, d)
	t.onStack[d] = true
	return frame{dish: d}
}

func (t *tarjan) visit(start *Dish) {
	frames := []frame{t.enter(start)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		d := top.dish
		if top.next == len(d.Links) {
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].dish
				t.low[up] = min(t.low[up], t.low[d])
			}
			t.leave(d)
			continue
		}
		l := &d.Links[top.next]
		top.next++
		switch {
		case !t.counts(l):
		case t.index[l.To] == 0:
			frames = append(frames, t.enter(l.To))
		case t.onStack[l.To]:
			t.low[d] = min(t.low[d], t.index[l.To])
		}
	}
}

// leave takes the ring that d is the root of, if it is one, off the stack.
func (t *tarjan) leave(d *Dish) {
	if t.low[d] != t.index[d] {
		return
	}
	var ring []*Dish
	for t.onStack[d] {
		last := len(t.stack) - 1
		ring = append(ring, t.stack[last])
		t.onStack[t.stack[last]] = false
		t.stack = t.stack[:last]
	}
	self := slices.ContainsFunc(d.Links, func(l Link) bool { return l.To == d && t.counts(&l) })
	if len(ring) > 1 || self {
		t.rings = append(t.rings, ring)
	}
}
