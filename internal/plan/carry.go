package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// carrier finds what a link to a dish carries besides the sources of that dish: inputs of its tasks that lie
// elsewhere or that git ignores, and the tasks that make some of them. A link carries them to the dishes that are
// linked to that dish in turn, too.
type carrier struct {
	*builder
	loads map[*Circle]*load
	own   map[*dish.Dish]*load   // only those that carry something
	made  map[*dish.Dish][]*Task // the tasks that make files that the tasks of a dish read
	paths []string               // for reuse, see mayHide
}

// load is what a link carries.
type load struct {
	globs  []string // relative to the root; a negated one applies to those before it
	naming bool     // globs may name ignored files by their last elements
	onDisk []string // globs of files that may be ignored
	made   []*Task
}

// carry makes the tasks of each dish read what its links carry. It returns the edges to the tasks
// that make such files; those of the dishes themselves are in edges.
func (b *builder) carry(edges []innerEdge) []innerEdge {
	b.carrier = &carrier{
		builder: b, loads: make(map[*Circle]*load), own: make(map[*dish.Dish]*load), made: make(map[*dish.Dish][]*Task),
	}
	for _, e := range edges {
		if e.task.takesIn() && !slices.Contains(b.carrier.made[e.task.Dish], e.build) {
			b.carrier.made[e.task.Dish] = append(b.carrier.made[e.task.Dish], e.build)
		}
	}
	for _, d := range b.linkTargets() { // before the tasks of any dish have more inputs
		b.carrier.ownOf(d)
	}
	if len(b.carrier.own) == 0 {
		return nil
	}
	var more []innerEdge
	for _, t := range b.tasks {
		more = append(more, b.carrier.carryTo(t)...)
	}
	return more
}

// linkTargets returns the dishes that dishes are linked to, by path.
func (b *builder) linkTargets() []*dish.Dish {
	is := make(map[*dish.Dish]bool, len(b.ws.Dishes))
	for _, d := range b.ws.Dishes {
		for i := range d.Links {
			is[d.Links[i].To] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.ws.Dishes), func(d *dish.Dish) bool { return !is[d] })
}

// carryTo makes t read what its links carry, and returns the edges to the tasks that make such files.
func (c *carrier) carryTo(t *Task) (edges []innerEdge) {
	if !t.Lifecycle && t.Uncached != "" {
		return nil
	}
	for _, d := range t.Sources {
		l := c.loadOf(d)
		if l == nil {
			continue
		}
		t.Inputs = addFirst(t.Inputs, l.globs)
		if l.naming {
			t.Naming = addFirst(t.Naming, l.globs)
		}
		t.OnDisk = addFirst(t.OnDisk, l.onDisk)
		for _, m := range l.made {
			if m.Dish.Path != t.Dish.Path && !t.dependsOn(m) {
				edges = append(edges, innerEdge{t, m})
			}
		}
	}
	return edges
}

// addFirst returns list with the globs of more that it lacks in front, so that a negation of list
// applies to them. It does not change the arrays.
func addFirst(list, more []string) []string {
	lacks := func(g string) bool { return !slices.Contains(list, g) }
	if !slices.ContainsFunc(more, lacks) {
		return list
	}
	if !slices.ContainsFunc(more, func(g string) bool { return strings.HasPrefix(g, "!") }) {
		more = slices.DeleteFunc(slices.Clone(more), func(g string) bool { return !lacks(g) })
	}
	return slices.Concat(more, list)
}

// loadOf returns what a link to d carries, nil for nothing.
func (c *carrier) loadOf(d *dish.Dish) *load {
	return c.ofCircle(c.circles()[d])
}

func (c *carrier) ofCircle(circle *Circle) *load {
	l, known := c.loads[circle]
	if known {
		return l
	}
	for _, d := range circle.Dishes {
		l = l.with(c.own[d])
	}
	for _, d := range circle.Links {
		l = l.with(c.ofCircle(c.circles()[d]))
	}
	c.loads[circle] = l
	return l
}

// with returns what l and o carry together; it changes neither. Most carry the same.
func (l *load) with(o *load) *load {
	if l == nil || l == o {
		return o
	}
	if o == nil {
		return l
	}
	all := &load{globs: addFirst(l.globs, o.globs), naming: l.naming || o.naming, onDisk: addFirst(l.onDisk, o.onDisk), made: l.made}
	for _, m := range o.made {
		if !slices.Contains(all.made, m) {
			all.made = append(slices.Clip(all.made), m)
		}
	}
	return all
}

// ownOf finds what d itself adds to its load.
func (c *carrier) ownOf(d *dish.Dish) {
	l := load{made: c.made[d], globs: beyond(d)}
	add := func(globs ...string) {
		for _, g := range globs {
			if g = anchor(d, g); !slices.Contains(l.globs, g) {
				l.globs = append(l.globs, g)
			}
		}
	}
	for _, t := range c.readers(d) {
		add(c.extraOf(t)...)
	}
	for _, t := range c.byDish[d] {
		if t.takesIn() {
			add(c.declaredOf(t)...)
			l.onDisk = addFirst(l.onDisk, t.OnDisk)
		}
	}
	add(c.embedded[d]...)
	if l.naming = c.mayName(".", l.globs); len(l.globs)+len(l.onDisk)+len(l.made) > 0 {
		own := l // so that the l of most dishes needs no memory
		c.own[d] = &own
	}
}

// extraOf returns the globs of the recipe of t for files above the dish, without files of which a key has only
// the part that the dish uses.
func (c *carrier) extraOf(t *Task) []string {
	if len(t.extra) == 0 {
		return nil
	}
	parts := c.partsOf(t.Dish)
	return slices.DeleteFunc(slices.Clone(t.extra), func(g string) bool {
		return !leadsOut(g) || strings.HasPrefix(g, "!") || slices.Contains(parts, g)
	})
}

// declaredOf returns those globs of t, from dish.toml or its recipe, that may name files that are no default
// inputs of the dish: files elsewhere, and ignored ones that no task of the dish makes.
func (c *carrier) declaredOf(t *Task) (globs []string) {
	hide := c.mayHide(t)
	for _, g := range t.declared {
		if !strings.HasPrefix(g, "!") && (leadsOut(g) || hide && c.namesIgnored(t.Dish, g)) {
			globs = append(globs, g)
		}
	}
	return globs
}

// mayHide reports whether one of the globs of t may name ignored files. Most name none, and are not looked at
// one by one.
func (c *carrier) mayHide(t *Task) bool {
	if len(t.Naming) > 0 || c.ws.Files == nil {
		return true
	}
	c.paths = c.paths[:0]
	for _, g := range t.declared {
		if !strings.HasPrefix(g, "!") && !leadsOut(g) {
			c.paths = append(c.paths, path.Clean(dish.LiteralPart(g)))
		}
	}
	return len(c.paths) > 0 && c.ws.Files.IgnoresAny(t.Dish.Path, c.paths)
}

// partsOf returns the globs of the files of which a key has only the part that d uses.
func (c *carrier) partsOf(d *dish.Dish) (globs []string) {
	for _, part := range d.Lock.All() {
		if p, ok := c.ws.Relative(part.File); ok {
			globs = append(globs, "//"+Escape(p))
		}
	}
	return globs
}

// readers returns the tasks of d whose recipes name what a dependant may read, too: its build, and if
// it has none, what takes the place of one. The configuration of a linter is nothing to others.
func (c *carrier) readers(d *dish.Dish) (list []*Task) {
	own := c.byDish[d]
	if i := slices.IndexFunc(own, func(t *Task) bool { return t.Name == "build" && !t.script }); i >= 0 {
		return own[i : i+1]
	}
	for _, t := range own {
		if t.Lifecycle && !t.script && t.Name != "lint" {
			list = append(list, t)
		}
	}
	return list
}

// namesIgnored reports whether a glob of d, which does not lead out of it, may name ignored files that no task
// of d makes.
func (c *carrier) namesIgnored(d *dish.Dish, g string) bool {
	at := path.Clean(dish.LiteralPart(g))
	if t := c.ws.Files; t != nil && !t.IgnoresAny(d.Path, []string{at}) && !c.mayName(d.Path, []string{g}) {
		return false // its files are sources of d
	}
	set, err := glob.Compile(d.Path, []string{g})
	if err != nil {
		return false // config has reported it
	}
	return !slices.ContainsFunc(c.byDish[d], func(t *Task) bool {
		return slices.ContainsFunc(t.Outputs, func(o Output) bool {
			made, err := glob.Compile(d.Path, []string{strings.TrimPrefix(o.Glob, "!")})
			return err == nil && made.Overlaps(set)
		})
	})
}

// anchor returns a glob of d relative to the root, with "//" in front.
func anchor(d *dish.Dish, g string) string {
	if strings.HasPrefix(g, "//") {
		return g
	}
	return "//" + path.Join(Escape(d.Path), g)
}

// mayName reports whether one of globs, relative to base, may name ignored files by its last element. A glob
// without wildcards, or that ends in "**", does not.
func (b *builder) mayName(base string, globs []string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		last := path.Base(g)
		if strings.HasPrefix(g, "!") || strings.Trim(last, "*") == "" || literal(g) {
			return false
		}
		at := dish.Prefix(base, g)
		key := at + "\x00" + last
		may, known := b.naming[key]
		if !known {
			may = b.ws.Files == nil || b.ws.Files.MayHide(at, last)
			b.naming[key] = may
		}
		return may
	})
}
