package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// selectDishes returns the dishes of the request, by path. A task in the form dish:task selects its
// dish.
func (b *builder) selectDishes(req Request) []*dish.Dish {
	chosen := make(map[*dish.Dish]bool)
	add := func(dishes []*dish.Dish) {
		for _, d := range dishes {
			chosen[d] = true
		}
	}
	if len(req.Targets)+len(req.Dishes)+len(req.Bentos) == 0 {
		add(b.ws.Dishes)
	}
	for _, name := range req.Dishes {
		add(b.dish(name))
	}
	for _, name := range req.Bentos {
		add(b.bento(name))
	}
	for _, target := range req.Targets {
		add(b.target(target, req.Dir))
	}
	for _, target := range req.Exclude {
		if isTaskID(target) && b.byName[target] == nil {
			continue // excludeTasks handles it
		}
		for _, d := range b.target(target, req.Dir) {
			delete(chosen, d)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.ws.Dishes), func(d *dish.Dish) bool { return !chosen[d] })
}

func (b *builder) dish(name string) []*dish.Dish {
	if d := b.byName[name]; d != nil {
		return b.ws.Named(d)
	}
	if tag, ok := strings.CutPrefix(name, tagPrefix); ok {
		return b.tagged(tag)
	}
	dir := path.Clean(name)
	if i := slices.IndexFunc(b.ws.Dishes, func(d *dish.Dish) bool { return d.Path == dir }); i >= 0 {
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "unknown_dish", fmt.Sprintf("no dish is named %q", name), fmt.Sprintf("the dish in that directory is named %q", b.ws.Dishes[i].Name))
		return nil
	}
	b.unknown("unknown_dish", "no dish is named", name, b.dishNames())
	return nil
}

// tagPrefix is in front of a tag in place of the name of a dish: "tag:ui" means every dish with the tag ui.
const tagPrefix = "tag:"

// isTaskID reports whether a target has the form dish:task.
func isTaskID(target string) bool {
	return strings.Contains(target, ":") && !strings.HasPrefix(strings.TrimPrefix(target, "..."), tagPrefix)
}

// tagged returns the dishes with a tag.
func (b *builder) tagged(tag string) (dishes []*dish.Dish) {
	var known []string
	for _, d := range b.ws.Dishes {
		if d.HasTag(tag) {
			dishes = append(dishes, d)
		}
		known = append(known, d.Tags()...)
	}
	if len(dishes) == 0 {
		b.unknown("unknown_tag", "no dish has the tag", tag, sortedSet(known))
	}
	return dishes
}

func (b *builder) bento(name string) []*dish.Dish {
	if dishes, ok := b.findBento(name); ok {
		return dishes
	}
	b.unknown("unknown_bento", "no bento is named", name, b.bentoNames())
	return nil
}

func (b *builder) findBento(name string) ([]*dish.Dish, bool) {
	for _, bento := range b.ws.Bentos {
		if bento.Name != name {
			continue
		}
		var dishes []*dish.Dish
		for _, d := range bento.Dishes {
			dishes = append(dishes, b.byName[d])
		}
		return dishes, true
	}
	return nil, false
}

// target resolves the name of a dish or a bento, a path (of a dish, above dishes, or, with "/" in
// front, inside a dish), or a glob of names or paths. A name without "/" in front may be misspelt, so
// it is never a path inside a dish.
func (b *builder) target(target, dir string) []*dish.Dish {
	if rest, ok := strings.CutPrefix(target, "..."); ok && rest != "" {
		return b.around(b.target(rest, dir), b.dependents())
	}
	if rest, ok := strings.CutSuffix(target, "..."); ok && rest != "" {
		return b.around(b.target(rest, dir), b.dependencies)
	}
	if tag, ok := strings.CutPrefix(target, tagPrefix); ok && b.byName[target] == nil {
		return b.tagged(tag)
	}
	d := b.byName[target]
	bento, isBento := b.findBento(target)
	switch {
	case d != nil && isBento:
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "target_ambiguous",
			"\""+target+"\" is the name of a dish and of a bento", "use --dish "+target+" or --bento "+target)
		return nil
	case d != nil:
		return b.ws.Named(d)
	case isBento:
		return bento
	}
	p := path.Join("/", dir, target)
	if path.IsAbs(target) { // it exists
		p = path.Clean(target)
	}
	below, around := b.byPath(p[1:])
	if len(below) > 0 {
		return below
	}
	if around != nil && path.IsAbs(target) {
		return []*dish.Dish{around}
	}
	if dishes := b.byGlob(target, p[1:]); len(dishes) > 0 {
		return dishes
	}
	if why := b.ws.WhyLeftOut(p[1:]); why != "" {
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "target_not_found", "there is no dish at \""+p[1:]+"\"", why)
		return nil
	}
	message := "no dish, bento or path with dishes is named"
	if dish, task, ok := strings.Cut(target, ":"); ok && b.byName[dish] != nil && b.taskIn(b.byName[dish], task) != nil {
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "target_not_found", message+" \""+target+"\"", "it is a task: bento run "+target)
		return nil
	}
	b.unknown("target_not_found", message, target, append(b.dishNames(), b.bentoNames()...))
	return nil
}

// Center returns a target without the dots at its ends.
func Center(target string) string {
	inner := strings.TrimPrefix(target, "...")
	if inner = strings.TrimSuffix(inner, "..."); inner == "" {
		return target
	}
	return inner
}

// around returns dishes and all dishes that next leads to from them.
func (b *builder) around(dishes []*dish.Dish, next func(*dish.Dish) []*dish.Dish) []*dish.Dish {
	seen := make(map[*dish.Dish]bool)
	for len(dishes) > 0 {
		d := dishes[len(dishes)-1]
		dishes = slices.Clip(dishes[:len(dishes)-1])
		if !seen[d] {
			seen[d] = true
			dishes = append(dishes, next(d)...)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.ws.Dishes), func(d *dish.Dish) bool { return !seen[d] })
}

// dependencies returns the dishes that d is linked to, or whose files it includes.
func (b *builder) dependencies(d *dish.Dish) []*dish.Dish {
	list := make([]*dish.Dish, 0, len(d.Links)+len(b.included[d]))
	for _, l := range d.Links {
		list = append(list, l.To)
	}
	for _, t := range b.included[d] {
		list = append(list, t.From)
	}
	return list
}

// dependents returns a function that returns the dishes linked to a dish.
func (b *builder) dependents() func(*dish.Dish) []*dish.Dish {
	to := make(map[*dish.Dish][]*dish.Dish)
	for _, d := range b.ws.Dishes {
		for _, on := range b.dependencies(d) {
			to[on] = append(to[on], d)
		}
	}
	return func(d *dish.Dish) []*dish.Dish { return to[d] }
}

// byPath returns the dishes at or below a path, and the innermost one around it, nil if that is
// only the workspace's root.
func (b *builder) byPath(p string) (below []*dish.Dish, around *dish.Dish) {
	for _, d := range b.ws.Dishes {
		switch {
		case contains(p, d.Path):
			below = append(below, d)
		case contains(d.Path, p) && (around == nil || len(d.Path) > len(around.Path)):
			around = d
		}
	}
	if around != nil && around.Path == "." {
		around = nil
	}
	return below, around
}

// byGlob returns the dishes whose names match, or whose paths match or are below a match.
func (b *builder) byGlob(name, path string) []*dish.Dish {
	return slices.DeleteFunc(slices.Clone(b.ws.Dishes), func(d *dish.Dish) bool {
		return !doublestar.MatchUnvalidated(name, d.Name) && !doublestar.MatchUnvalidated(path, d.Path) && !doublestar.MatchUnvalidated(path+"/**", d.Path)
	})
}

// contains reports whether the directory dir is p or a parent of p. "" and "." are the workspace.
func contains(dir, p string) bool {
	if dir == "" || dir == "." {
		return true
	}
	return p == dir || strings.HasPrefix(p, dir+"/")
}

func (b *builder) bentoNames() []string {
	names := make([]string, len(b.ws.Bentos))
	for i, bento := range b.ws.Bentos {
		names[i] = bento.Name
	}
	return names
}

func (b *builder) unknown(code, message, name string, candidates []string) {
	hint := diagnostics.Suggest(name, candidates)
	if len(candidates) > 0 && len(diagnostics.Nearest(name, candidates)) == 0 {
		if hint != "" { // they are few
			hint += "; "
		}
		hint += "bento plan lists the dishes and their tasks"
	}
	b.problem(diagnostics.Error, diagnostics.Diagnostic{}, code, message+" \""+name+"\"", hint)
}

// selectTasks returns the tasks in the selected dishes that the request names.
func (b *builder) selectTasks(req Request, dishes []*dish.Dish) []*Task {
	return b.excludeTasks(req.Exclude, b.requestedTasks(req, dishes))
}

// excludeTasks removes the tasks in entries of the form dish:task. They still run as dependencies.
func (b *builder) excludeTasks(exclude []string, tasks []*Task) []*Task {
	for _, id := range exclude {
		of, name, _ := strings.Cut(id, ":")
		if !isTaskID(id) || b.byName[id] != nil {
			continue
		}
		if IsGlob(id) {
			tasks = b.excludeGlob(id, tasks)
			continue
		}
		if d := b.byName[of]; d == nil {
			b.unknown("unknown_dish", "no dish is named", of, b.dishNames())
		} else if t := b.calledIn(d, name); t != nil {
			id = t.ID()
		} else {
			b.unknown("unknown_task", "dish \""+of+"\" has no task", name, b.taskNames(d))
		}
		tasks = slices.DeleteFunc(tasks, func(t *Task) bool { return t.ID() == id })
	}
	return tasks
}

func (b *builder) requestedTasks(req Request, dishes []*dish.Dish) []*Task {
	var roots []*Task
	if req.AllTasks {
		for _, d := range dishes {
			roots = append(roots, b.byDish[d]...)
		}
		return roots
	}
	if len(req.Tasks) == 0 {
		return b.ciTasks(dishes)
	}
	for _, name := range req.Tasks {
		named := b.named(req, name, dishes)
		for _, t := range named {
			if len(req.Args) > 0 && t.Tool != nil {
				b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "usage", fmt.Sprintf("%s calls a tool, which takes no arguments", t.ID()), "write them into input of [tasks."+t.Name+"]")
				continue
			}
			b.addArgs(t, req.Args)
		}
		roots = append(roots, named...)
		b.line = append(b.line, named)
	}
	return roots
}

// ciTasks returns the tasks of ci in dishes: the lifecycle tasks and those with ci = true, without
// persistent and interactive ones.
func (b *builder) ciTasks(dishes []*dish.Dish) []*Task {
	var roots []*Task
	for _, d := range dishes {
		for _, t := range b.byDish[d] {
			if (t.Lifecycle || t.ci) && !t.script && !t.Persistent && !t.Interactive {
				roots = append(roots, t)
			}
		}
	}
	return roots
}

// named returns the tasks of a name: "dish:task", or every task of that name.
func (b *builder) named(req Request, name string, dishes []*dish.Dish) []*Task {
	whole := b.wholeNamed(name, dishes)
	of, task, ok := strings.Cut(name, ":")
	d := b.byName[of]
	if ok && d != nil {
		if t := b.calledIn(d, task); t != nil && (req.IDs || len(whole) == 0) {
			return []*Task{t}
		} else if t != nil {
			b.ambiguousTask(t, whole[0])
			return nil
		}
	}
	switch {
	case len(whole) > 0:
		return whole
	case len(dishes) == 0 && req.AllowEmpty:
	case IsGlob(name):
		return b.globbed(name, dishes)
	case ok && d != nil && len(Lost(d)) > 0:
		b.asked[d] = true // its adapter may have the task
	case ok && d != nil:
		b.unknown("unknown_task", "dish \""+of+"\" has no task", task, b.taskNames(d))
	case b.meant(name) != "":
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "unknown_task", "no task is named \""+name+"\"", b.meant(name))
	case ok:
		b.unknown("unknown_dish", "no dish is named", of, b.dishNames())
	case adapters.IsLifecycle(name) && slices.ContainsFunc(dishes, func(d *dish.Dish) bool { return len(Lost(d)) > 0 }):
		// Their adapters may have the task: see lostDishes.
	case len(diagnostics.Errors(b.problems)) == 0: // otherwise the selection itself is wrong
		b.unknown("unknown_task", "no selected dish has a task", name, b.taskNames(dishes...))
	}
	return nil
}

// meant returns the hint for a name that is a dish, or that is a task as other tools write it:
// "lib#build", "lib/build", "//lib:build", "build:lib", "build@lib". It returns "" for any other.
func (b *builder) meant(name string) string {
	if d := b.byName[name]; d != nil {
		if tasks := b.byDish[d]; len(tasks) > 0 { // lifecycle tasks come first
			return "it is a dish; name one of its tasks, as \"" + tasks[0].ID() + "\""
		}
		return "it is a dish without tasks"
	}
	name = strings.TrimPrefix(name, "//")
	at := strings.LastIndexAny(name, "#:@/")
	if at < 0 {
		return ""
	}
	for _, id := range [][2]string{{name[:at], name[at+1:]}, {name[at+1:], name[:at]}} {
		d := b.byName[id[0]]
		for _, other := range b.ws.Dishes {
			if d == nil && other.Path == id[0] {
				d = other
			}
		}
		if d != nil && b.taskIn(d, id[1]) != nil {
			return "did you mean \"" + d.Name + ":" + id[1] + "\"?"
		}
	}
	return ""
}

// wholeNamed returns the tasks of dishes with exactly this name or alias. If a member has such a task, it
// leaves out a script of a workspace's root with the name: such a script mostly builds the members.
func (b *builder) wholeNamed(name string, dishes []*dish.Dish) []*Task {
	var found, scripts []*Task
	for _, d := range dishes {
		switch t := b.called(d, name); {
		case t == nil:
		case t.Lifecycle && t.script:
			scripts = append(scripts, t)
		default:
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return scripts
	}
	return found
}

// ambiguousTask reports the id of a task that is also the whole name of another one.
func (b *builder) ambiguousTask(t, whole *Task) {
	b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "target_ambiguous",
		"\""+t.ID()+"\" is task \""+t.Name+"\" of dish \""+t.Dish.Name+"\", and a task of dish \""+whole.Dish.Name+"\" has that name",
		"say "+t.Name+" with --dish "+t.Dish.Name+", or "+whole.ID())
}
