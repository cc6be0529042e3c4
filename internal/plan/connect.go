package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// connect adds the dependencies of t: those that depends_on names, the builds of linked dishes, and
// the dishes whose sources are in its key.
func (b *builder) connect(t *Task) {
	via := t.viaOfLinks()
	for _, w := range t.wants {
		b.dependOn(t, w, via)
	}
	b.connectLinked(t, via)
}

// connectLinked adds the dependencies and sources that t has because of the links of its dish.
func (b *builder) connectLinked(t *Task, via Via) {
	if t.Lifecycle || t.Uncached == "" {
		for i := range t.Dish.Links {
			if l := &t.Dish.Links[i]; !l.Private || !t.skipsPrivate {
				b.awaitBuild(t, l, via, nil)
			}
		}
	}
	t.Sources = b.linked(t.Dish, !t.skipsPrivate)
}

// addArgs adds arguments of the command line to the command of t. With arguments the command may use
// private links and installed packages.
func (b *builder) addArgs(t *Task, args []string) {
	t.Args = args
	t.NoInstall = t.NoInstall && len(args) == 0
	if len(args) > 0 && t.skipsPrivate {
		t.skipsPrivate = false
		b.connectLinked(t, t.viaOfLinks())
		b.dependOnMakers(b.carrier.carryTo(t))
	}
}

func (t *Task) viaOfLinks() Via {
	if t.independent() {
		return ViaNothing
	}
	return ViaKey
}

func (t *Task) independent() bool {
	return t.Dish.Config != nil && t.Dish.Config.ForceIndependent
}

// awaitBuild adds a dependency of t on the build of a linked dish. If that build has no outputs, it
// adds dependencies on the builds of the dishes that the linked dish is linked to, but for those in seen.
func (b *builder) awaitBuild(t *Task, l *dish.Link, via Via, seen map[*dish.Dish]bool) {
	if l.Cyclic || l.To == t.Dish || seen[l.To] {
		return
	}
	if seen != nil {
		seen[l.To] = true
	}
	if build := b.task(l.To, "build"); build != nil && build.HasOutputs() {
		// By a link only the linked dish's own files are in the key. Files of dishes inside it are in
		// the key by the outputs of the build.
		if (l.Via == "outputs" || len(build.Inner) > 0) && via == ViaKey {
			via = ViaOutputs
		}
		t.depend(build, via)
		return
	}
	if seen == nil { // most links lead to a build, and need none
		seen = map[*dish.Dish]bool{l.To: true}
	}
	for i := range l.To.Links {
		if next := &l.To.Links[i]; !next.Private {
			b.awaitBuild(t, next, via, seen)
		}
	}
}

// linked returns the dishes whose sources are in the keys of d, by path: those that it is directly
// linked to, other than by outputs, and only with private also by private links. The digest of each covers the
// dishes that it is linked to in turn, except by private links. An independent dish has none.
func (b *builder) linked(d *dish.Dish, private bool) []*dish.Dish {
	l, known := b.links[d]
	if !known {
		l = sourceLinksOf(d)
		b.links[d] = l
	}
	if private {
		return l.all
	}
	return l.public
}

// sourceLinks are the results of builder.linked for one dish. Nobody changes them.
type sourceLinks struct{ all, public []*dish.Dish }

func sourceLinksOf(d *dish.Dish) (l sourceLinks) {
	if d.Config != nil && d.Config.ForceIndependent {
		return l
	}
	list := func(private bool) []*dish.Dish {
		list := make([]*dish.Dish, 0, len(d.Links))
		for i := range d.Links {
			if l := &d.Links[i]; l.Via != "outputs" && l.To != d && (private || !l.Private) && !slices.Contains(list, l.To) {
				list = append(list, l.To)
			}
		}
		slices.SortFunc(list, byPath)
		return list
	}
	l.public = list(false)
	if l.all = l.public; slices.ContainsFunc(d.Links, func(l dish.Link) bool { return l.Private }) {
		l.all = list(true)
	}
	return l
}

// depend adds a dependency. Of two dependencies on one task, by key and by outputs, the one by key
// remains.
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

// cutsOff reports whether the key of t needs only the outputs of on. It does for a task that always
// runs, whose key does not change with its last run, and for a task of the same dish whose outputs
// dish.toml declares. The outputs of recipes are not certain.
func (t *Task) cutsOff(on *Task) bool {
	if on.Uncached != "" {
		return on.HasOutputs()
	}
	return on.Dish == t.Dish && slices.ContainsFunc(on.Outputs, func(o Output) bool { return o.Declared })
}

// dependOn adds the dependencies of one entry of depends_on.
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
				b.blame(t, w, fmt.Sprintf("an existing task, got %q, whose dish is not in this workspace", w.text), hint)
				return
			}
			t.unresolved = true
			b.problem(diagnostics.Error, w.at, "unknown_dish", w.shown(t)+" names no dish of this workspace", hint)
			return
		}
		name = task
	}
	on := b.taskIn(dish, name)
	if on == nil && len(Lost(dish)) > 0 {
		t.fault, t.without = dish.Failure, dish // the problem of its language is reported
		return
	}
	if on == nil {
		why, hint := "dish \""+dish.Name+"\" has no task \""+name+"\"", diagnostics.Suggest(name, b.taskNames(dish))
		if w.byPlugin(t) {
			b.blame(t, w, fmt.Sprintf("an existing task, got %q: %s", w.text, why), hint)
			return
		}
		t.unresolved = true
		b.problem(diagnostics.Error, w.at, "unknown_task", w.shown(t)+": "+why, hint)
		return
	}
	if name != w.text && w.byPlugin(t) {
		b.across = append(b.across, across{t, on, w})
	}
	t.depend(on, via)
}

// shown returns the entry for a message, with the adapter if a recipe has it.
func (w *want) shown(t *Task) string {
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
			if l.Via == "outputs" && via == ViaKey && on.HasOutputs() {
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

func (b *builder) taskNames(dishes ...*dish.Dish) []string {
	var names []string
	for _, d := range dishes {
		for _, t := range b.byDish[d] {
			names = append(names, t.Name)
		}
	}
	return sortedSet(names)
}
