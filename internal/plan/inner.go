package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// Nest has, for each dish, the dishes directly inside it, by path: those with no other dish in
// between. Dishes of one directory are siblings.
type Nest map[*dish.Dish][]*dish.Dish

// Nested returns the Nest of dishes.
func Nested(dishes []*dish.Dish) Nest {
	nest := make(Nest)
	var open [][]*dish.Dish // the dishes around; dishes of one directory are together
	for _, d := range slices.SortedStableFunc(slices.Values(dishes), byTree) {
		for len(open) > 0 && !contains(open[len(open)-1][0].Path, d.Path) {
			open = open[:len(open)-1]
		}
		if n := len(open); n > 0 && open[n-1][0].Path == d.Path {
			open[n-1] = append(open[n-1], d)
		} else {
			open = append(open, []*dish.Dish{d})
		}
		if n := len(open); n > 1 {
			for _, outer := range open[n-2] {
				nest[outer] = append(nest[outer], d)
			}
		}
	}
	return nest
}

// byTree orders dishes so that the dishes inside one directly follow it.
func byTree(x, y *dish.Dish) int { return strings.Compare(treeKey(x.Path), treeKey(y.Path)) }

func treeKey(p string) string {
	if p == "." {
		return ""
	}
	return strings.ReplaceAll(p, "/", "\x00")
}

// Counted returns the dishes inside d whose files are among its default inputs, outer ones first. A
// tool that stops at a dish does not read the dishes inside that dish either.
func (n Nest) Counted(d *dish.Dish) []*dish.Dish {
	var list []*dish.Dish
	var add func(of *dish.Dish)
	add = func(of *dish.Dish) {
		for rest := n[of]; len(rest) > 0; {
			same := 1
			for same < len(rest) && rest[same].Path == rest[0].Path {
				same++
			}
			if !slices.ContainsFunc(rest[:same], func(inner *dish.Dish) bool { return !d.Counts(inner) }) {
				list = append(list, rest[:same]...)
				add(rest[0])
			}
			rest = rest[same:]
		}
	}
	add(d)
	return list
}

// Carried returns the dishes of Counted whose files a link to d carries. It leaves out the dishes that are themselves
// linked to d, and the dishes inside these: d does not use them.
func (n Nest) Carried(d *dish.Dish) []*dish.Dish {
	list := n.Counted(d)
	if len(list) == 0 {
		return nil
	}
	leads := leadsTo{to: d, known: make(map[*dish.Dish]bool)}
	users := make(map[string]bool)
	for _, inner := range list {
		users[inner.Path] = users[inner.Path] || leads.from(inner)
	}
	return slices.DeleteFunc(list, func(inner *dish.Dish) bool { return users[inner.Path] })
}

// leadsTo decides whether links lead to a dish, directly or not.
type leadsTo struct {
	to    *dish.Dish
	known map[*dish.Dish]bool
	seen  []*dish.Dish // on the way of this question
}

func (l *leadsTo) from(d *dish.Dish) bool {
	l.seen = l.seen[:0]
	found := l.find(d)
	if found { // the answer about a dish of a circle may be incomplete
		for _, s := range l.seen {
			if !l.known[s] {
				delete(l.known, s)
			}
		}
	}
	return found
}

func (l *leadsTo) find(d *dish.Dish) bool {
	if d == l.to {
		return true
	}
	if leads, known := l.known[d]; known {
		return leads
	}
	l.known[d] = false
	l.seen = append(l.seen, d)
	l.known[d] = slices.ContainsFunc(d.Links, func(next dish.Link) bool { return l.find(next.To) })
	return l.known[d]
}

// count sets the dishes inside the dish of t that it counts.
func (b *builder) count(t *Task) {
	if !t.DefaultInputs {
		return
	}
	t.Inner = b.counted(t.Dish)
	if len(t.Inner) > 0 && slices.ContainsFunc(t.Inputs, func(glob string) bool { return strings.HasPrefix(glob, "!") }) {
		t.Inner = slices.DeleteFunc(slices.Clone(t.Inner), t.excludes)
	}
}

func (b *builder) counted(d *dish.Dish) []*dish.Dish {
	list, known := b.inner[d]
	if !known {
		list = b.nest.Counted(d)
		b.inner[d] = list
	}
	return list
}

// excludes reports whether the inputs of t exclude a dish as a whole.
func (t *Task) excludes(inner *dish.Dish) bool { return t.excludesPath(inner.Path) }

// excludesPath reports whether the inputs of t exclude everything at a path: a glob without wildcards
// matches it or a directory around it, and no later glob may include a file again.
func (t *Task) excludesPath(p string) bool {
	out := false
	for _, glob := range t.Inputs {
		glob, negated := strings.CutPrefix(glob, "!")
		base, rooted := t.Dish.Path, false
		if glob, rooted = strings.CutPrefix(glob, "//"); rooted {
			base = ""
		}
		if out = out && !negated && literal(glob); negated {
			glob = strings.TrimSuffix(strings.TrimSuffix(glob, "/"), "/**")
			out = literal(glob) && contains(path.Join(base, glob), p)
		}
	}
	return out
}

func literal(glob string) bool { return !strings.ContainsAny(glob, `*?[{\`) }

// awaitInner makes tasks come after the builds of the dishes that they count, if both are in one run,
// unless that closes a cycle or contradicts depends_on. The order pulls no build in: only a manifest,
// a source or dish.toml that names what a build makes does that.
func (b *builder) awaitInner() {
	for _, e := range b.acyclic(b.innerEdges()) {
		if !e.task.dependsOn(e.build) {
			e.task.behind = append(e.task.behind, e.build)
		}
	}
	for _, t := range b.tasks {
		if len(t.Inner) == 0 {
			continue
		}
		for i, d := range t.Deps {
			t.Deps[i].Inner = slices.Contains(t.Inner, d.Task.Dish)
		}
	}
}

// innerEdge is an edge: task runs after build, the build of a dish inside its own or another task.
type innerEdge struct{ task, build *Task }

// innerEdges returns the edges that depends_on does not contradict, those of inner dishes first.
func (b *builder) innerEdges() (edges []innerEdge) {
	var declared func(*dish.Dish) map[*dish.Dish]bool
	for _, d := range slices.Backward(b.ws.Dishes) {
		for _, t := range b.byDish[d] {
			if len(t.Inner) == 0 || !t.Lifecycle && t.Uncached != "" {
				continue
			}
			if declared == nil {
				declared = declaredDependents(b.ws.Dishes)
			}
			against := declared(d)
			for _, inner := range t.Inner {
				if build := b.task(inner, "build"); build != nil && !build.Persistent && !build.Interactive && !against[inner] {
					edges = append(edges, innerEdge{t, build})
				}
			}
		}
	}
	return edges
}

// declaredDependents returns a function that returns the dishes that depend on a dish by depends_on
// of dish.toml, directly or not.
func declaredDependents(dishes []*dish.Dish) func(*dish.Dish) map[*dish.Dish]bool {
	direct := make(map[*dish.Dish][]*dish.Dish)
	for _, d := range dishes {
		for _, l := range d.Links {
			if l.Kind == dish.Declared {
				direct[l.To] = append(direct[l.To], d)
			}
		}
	}
	known := make(map[*dish.Dish]map[*dish.Dish]bool)
	return func(of *dish.Dish) map[*dish.Dish]bool {
		if list, ok := known[of]; ok {
			return list
		}
		seen := make(map[*dish.Dish]bool)
		var add func(d *dish.Dish)
		add = func(d *dish.Dish) {
			for _, next := range direct[d] {
				if !seen[next] {
					seen[next] = true
					add(next)
				}
			}
		}
		add(of)
		known[of] = seen
		return seen
	}
}

// acyclic returns the edges without those that close a cycle together with existing dependencies or
// with earlier edges.
func (b *builder) acyclic(edges []innerEdge) []innerEdge {
	if len(edges) == 0 {
		return nil
	}
	number(b.tasks)
	all := dag.Of(len(b.tasks), func(add func(before, after int)) {
		addDeps(b.tasks, add)
		for _, e := range edges {
			add(e.build.Index, e.task.Index)
		}
	})
	ring := make([]int, len(b.tasks))
	for i, component := range all.Components() {
		for _, n := range component {
			ring[n] = i
		}
	}
	kept := make([]innerEdge, 0, len(edges))
	more := make(map[*Task][]*Task) // the kept edges of cycles
	for _, e := range edges {
		if ring[e.task.Index] != ring[e.build.Index] {
			kept = append(kept, e)
		} else if !e.build.reaches(e.task, ring, more) {
			kept = append(kept, e)
			more[e.task] = append(more[e.task], e.build)
		}
	}
	return kept
}

// reaches reports whether t depends on on, directly or not, by its dependencies or by more. A path
// back leads only through tasks of the same ring.
func (t *Task) reaches(on *Task, ring []int, more map[*Task][]*Task) bool {
	seen := make(map[*Task]bool)
	var leads func(t *Task) bool
	leads = func(t *Task) bool {
		if t == on {
			return true
		}
		if seen[t] || ring[t.Index] != ring[on.Index] {
			return false
		}
		seen[t] = true
		return slices.ContainsFunc(t.Deps, func(d Dep) bool { return leads(d.Task) }) || slices.ContainsFunc(more[t], leads)
	}
	return leads(t)
}
