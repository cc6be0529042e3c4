package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
)

// connect finds what t depends on: what depends_on names, the builds of linked
// dishes, and the dishes whose sources its key needs.
func (b *builder) connect(t *Task) {
	via := ViaKey
	if t.independent() {
		via = ViaNothing
	}
	for _, w := range t.wants {
		b.dependOn(t, w, via)
	}
	if t.Lifecycle || t.Uncached == "" {
		for _, l := range t.Dish.Links {
			b.awaitBuild(t, l, via, map[*discovery.Dish]bool{t.Dish: true})
		}
	}
	t.Sources = Linked(t.Dish)
}

func (t *Task) independent() bool {
	return t.Dish.Config != nil && t.Dish.Config.ForceIndependent
}

// awaitBuild makes t wait for the build of a linked dish. One whose build makes
// nothing stands aside: then those that it is itself linked to have to be built.
func (b *builder) awaitBuild(t *Task, l discovery.Link, via Via, seen map[*discovery.Dish]bool) {
	if l.Cyclic || seen[l.To] {
		return
	}
	seen[l.To] = true
	if build := b.task(l.To, "build"); build != nil && len(build.Outputs) > 0 {
		if l.Via == "outputs" && via == ViaKey {
			via = ViaOutputs
		}
		t.depend(build, via)
		return
	}
	for _, next := range l.To.Links {
		b.awaitBuild(t, next, via, seen)
	}
}

// Linked lists the dishes whose sources count for d, by path: those that it is
// linked to directly, other than by what they make. What those are linked to in
// turn is in their own digest. An independent dish has none.
func Linked(d *discovery.Dish) []*discovery.Dish {
	if d.Config != nil && d.Config.ForceIndependent {
		return nil
	}
	var list []*discovery.Dish
	for _, l := range d.Links {
		if l.Via != "outputs" && l.To != d && !slices.Contains(list, l.To) {
			list = append(list, l.To)
		}
	}
	slices.SortFunc(list, func(x, y *discovery.Dish) int { return strings.Compare(x.Path, y.Path) })
	return list
}

// depend adds a dependency. Of two on one task the key wins over its outputs.
func (t *Task) depend(on *Task, via Via) {
	if via == ViaKey && t.cutsOff(on) {
		via = ViaOutputs
	}
	if i := slices.IndexFunc(t.Deps, func(d Dep) bool { return d.Task == on }); i >= 0 {
		t.Deps[i].Via = min(t.Deps[i].Via, via)
		return
	}
	t.Deps = append(t.Deps, Dep{Task: on, Via: via})
}

// cutsOff tells whether what on has made says all that t has to know of it. So it is
// with a task that always runs, whose key says nothing of its last run, and with one
// of the same dish, where dish.toml tells what it makes: recipes do not know it for
// sure.
func (t *Task) cutsOff(on *Task) bool {
	if on.Uncached != "" {
		return len(on.Outputs) > 0
	}
	return on.Dish == t.Dish && slices.ContainsFunc(on.Outputs, func(o Output) bool { return o.Declared })
}

// dependOn adds what one entry of depends_on names.
func (b *builder) dependOn(t *Task, w want, via Via) {
	if name, ok := strings.CutPrefix(w.text, "^"); ok {
		b.dependOnLinked(t, name, via)
		return
	}
	dish, name := t.Dish, w.text
	if other, task, ok := strings.Cut(w.text, ":"); ok && b.task(t.Dish, w.text) == nil {
		if dish = b.byName[other]; dish == nil {
			hint := diagnostics.Suggest(other, b.dishNames())
			if w.byPlugin(t) {
				b.blame(t, w, fmt.Sprintf("a task that there is, and %q names no dish of this workspace", w.text), hint)
				return
			}
			b.problem(diagnostics.Error, w.at, "unknown_dish", w.said(t)+" names no dish of this workspace", hint)
			return
		}
		name = task
	}
	on := b.task(dish, name)
	if on == nil {
		why, hint := "dish \""+dish.Name+"\" has no task \""+name+"\"", diagnostics.Suggest(name, b.taskNames(dish))
		if w.byPlugin(t) {
			b.blame(t, w, fmt.Sprintf("a task that there is, got %q: %s", w.text, why), hint)
			return
		}
		b.problem(diagnostics.Error, w.at, "unknown_task", w.said(t)+": "+why, hint)
		return
	}
	if name != w.text && w.byPlugin(t) {
		b.across = append(b.across, across{t, on, w})
	}
	t.depend(on, via)
}

// said says who asks for it: what dish.toml says has a place, a recipe is its adapter's.
func (w *want) said(t *Task) string {
	text := "depends_on \"" + w.text + "\""
	if a := t.Dish.Adapter; w.at.File == "" && a != nil {
		return "the " + a.Manifest().AdapterID + " adapter's recipe for " + t.ID() + ": " + text
	}
	return text
}

func (b *builder) dependOnLinked(t *Task, name string, via Via) {
	for _, l := range t.Dish.Links {
		if on := b.task(l.To, name); on != nil && !l.Cyclic {
			v := via
			if l.Via == "outputs" && via == ViaKey && len(on.Outputs) > 0 {
				v = ViaOutputs
			}
			t.depend(on, v)
		}
	}
}

func (b *builder) dishNames() []string {
	names := make([]string, len(b.ws.Dishes))
	for i, d := range b.ws.Dishes {
		names[i] = d.Name
	}
	return names
}

func (b *builder) taskNames(dishes ...*discovery.Dish) []string {
	var names []string
	for _, d := range dishes {
		for _, t := range b.byDish[d] {
			names = append(names, t.Name)
		}
	}
	return sortedSet(names)
}
