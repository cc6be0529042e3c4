package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// This file alone decides which scripts of a workspace's root are its lifecycle tasks.

// RootTask describes how bento treats a script with a lifecycle name at the root of a workspace.
type RootTask struct {
	Rule      string // one of the constants below
	Lifecycle bool   // it is part of bento ci and of "bento run NAME"
	Why       string // for people

	members []*dish.Dish
}

// The rules of RootTask.
const (
	RootOwnWork  = "own_work"  // it does more than run the scripts of members
	RootNoMember = "no_member" // it only hands on, and no member has a task of that name
	RootHandsOn  = "hands_on"  // it only hands on to members that have a task of that name
	RootDeclared = "declared"  // the root's dish.toml decides
)

// setLifecycle applies the setting of dish.toml for a task with a lifecycle name.
func (t *Task) setLifecycle(lifecycle bool) {
	t.script = !lifecycle
	t.Uncached = ""
	if !lifecycle {
		t.Uncached = uncachedScript
	}
	t.Root = &RootTask{Rule: RootDeclared, Lifecycle: lifecycle, Why: "dish.toml says lifecycle = " + fmt.Sprint(lifecycle)}
}

// uncachedScript is the reason why the result of a script is not stored.
const uncachedScript = "its recipe says so"

// decideRoot decides, for a dish with members, which scripts with a lifecycle name are lifecycle
// tasks.
func (b *builder) decideRoot(d *dish.Dish) {
	members := b.ws.Members(d)
	for _, t := range b.byDish[d] {
		switch {
		case !t.Lifecycle || t.body == "":
			t.Root = nil
		case len(members) == 0:
			t.Root = nil // the settings of dish.toml still apply
		default:
			b.decide(t, members)
		}
	}
	b.passOver(d)
}

func (b *builder) decide(t *Task, members []*dish.Dish) {
	root := t.Root
	switch {
	case root != nil:
	case t.ci:
		root = &RootTask{Rule: RootDeclared, Lifecycle: true, Why: "dish.toml says ci = true"}
	default:
		if root = b.ruleOf(t, members); !root.Lifecycle {
			t.script, t.Uncached = true, cmp.Or(t.Uncached, uncachedScript)
		} else if t.script { // the task of a runner
			t.script = false
			if t.Uncached == uncachedScript {
				t.Uncached = ""
			}
		}
	}
	if root.Rule != RootHandsOn {
		root.members = members
	}
	t.Root = root
}

func (b *builder) ruleOf(t *Task, members []*dish.Dish) *RootTask {
	bodyOf := func(name string) string {
		if s := b.task(t.Dish, name); s != nil {
			return s.body
		}
		return ""
	}
	filters, ok := fansOut(t.body, bodyOf)
	if !ok {
		return &RootTask{Rule: RootOwnWork, Lifecycle: true, Why: "it does more than to run the scripts of members"}
	}
	to := handedTo(t.Dish, filters, members)
	var with []string
	for _, m := range to {
		if own := b.task(m, t.Name); own != nil && !own.script {
			with = append(with, m.Name)
		}
	}
	if len(with) == 0 {
		why := "no member has a task of that name"
		if len(to) < len(members) {
			why = "no member that it selects has a task of that name"
		}
		return &RootTask{Rule: RootNoMember, Lifecycle: true, Why: why}
	}
	runners := with[0]
	if len(with) > 1 {
		runners = fmt.Sprintf("%d members", len(with))
	}
	verb := " has a task of that name, which bento runs itself"
	if len(with) > 1 {
		verb = " have a task of that name, which bento runs itself"
	}
	return &RootTask{Rule: RootHandsOn, members: to, Why: "it only runs the scripts of members, and " + runners + verb}
}

// passOver replaces, in the tasks of a root, the dependency of a recipe on a build that only hands on
// by dependencies on the builds of the members.
func (b *builder) passOver(d *dish.Dish) {
	build := b.task(d, "build")
	if build == nil || build.Root == nil || build.Root.Lifecycle {
		return
	}
	for _, t := range b.byDish[d] {
		i := slices.IndexFunc(t.wants, func(w want) bool { return w.text == "build" && w.at.File == "" })
		if i < 0 || !t.Lifecycle || t.script {
			continue
		}
		t.wants = slices.Delete(slices.Clone(t.wants), i, i+1)
		for _, m := range build.Root.members {
			if own := b.task(m, "build"); own != nil && !own.script {
				t.depend(own, ViaKey)
			}
		}
	}
}

// RunsScript reports whether the task runs a script of the project by its name, so that only the
// script knows which files it makes.
func (t *Task) RunsScript() bool { return t.body != "" }

// RootTasks returns the scripts of the root of a workspace that have a lifecycle name.
func (p *Plan) RootTasks(d *dish.Dish) []*Task {
	return slices.DeleteFunc(slices.Clone(p.byDish[d]), func(t *Task) bool { return t.Root == nil })
}

// orderRoots adds the order of the tasks of roots. A root's task comes after the members' tasks of
// its name and after their builds. The root's build comes before the other tasks of members, which
// may need its outputs. This is only an order of tasks that run anyway. If a member's task already
// waits for the root's task, the order does not change.
func (b *builder) orderRoots() {
	var all *dag.Graph
	var last *Task
	for _, t := range b.tasks {
		if t.Root == nil || t.script {
			continue
		}
		if all == nil {
			all = orderOf(b.tasks)
		}
		o := rootOrder{graph: all, root: t}
		if last != nil && last.Dish == t.Dish {
			o.first = append(o.first, last)
		}
		last = t
		for _, m := range t.Root.members {
			for _, other := range b.byDish[m] {
				switch {
				case !other.Lifecycle:
				case other.Name == t.Name || other.Name == "build":
					o.first = append(o.first, other)
				case t.Name == "build":
					o.after = append(o.after, other)
				}
			}
		}
		o.add()
	}
}

// rootOrder is the wanted order around one task of a root.
type rootOrder struct {
	graph *dag.Graph
	root  *Task
	first []*Task // tasks that come before it
	after []*Task
}

// add adds the order as far as it closes no cycle.
func (o *rootOrder) add() {
	behind := reach(o.root.Index, o.graph.After)
	for _, t := range o.first {
		if !behind[t.Index] {
			o.graph.AddEdge(t.Index, o.root.Index)
			o.root.behind = append(o.root.behind, t)
		}
	}
	before := reach(o.root.Index, o.graph.Before)
	for _, t := range o.after {
		if !before[t.Index] {
			o.graph.AddEdge(o.root.Index, t.Index)
			t.behind = append(t.behind, o.root)
		}
	}
}

// reach returns the nodes that next leads to from a node, and the node itself.
func reach(from int, next func(int) []int) map[int]bool {
	seen := map[int]bool{from: true}
	for stack := []int{from}; len(stack) > 0; {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, n := range next(node) {
			if !seen[n] {
				seen[n] = true
				stack = append(stack, n)
			}
		}
	}
	return seen
}
