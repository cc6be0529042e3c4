package plan

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// assemble returns the plan of roots and all their dependencies.
func (b *builder) assemble(roots []*Task) *Plan {
	wanted := make([]*Task, 0, len(b.tasks))
	for _, t := range roots {
		t.Requested = true
	}
	needed := needs(roots)
	for _, t := range b.tasks {
		if needed[t] {
			wanted = append(wanted, t)
		}
	}
	b.orderMutexes(wanted)
	b.orderByLine(wanted)
	return b.order(wanted)
}

// needs returns roots and their direct and indirect dependencies.
func needs(roots []*Task) map[*Task]bool {
	seen := make(map[*Task]bool, len(roots))
	for stack := slices.Clone(roots); len(stack) > 0; {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[t] {
			continue
		}
		seen[t] = true
		for _, d := range t.Deps {
			stack = append(stack, d.Task)
		}
	}
	return seen
}

// order returns the tasks so that each comes after its dependencies, and tasks of one dish follow
// one another where possible. It leaves out tasks of a cycle and those that wait for one.
func (b *builder) order(tasks []*Task) *Plan {
	g := orderOf(tasks)
	if cycle := g.Cycle(); cycle != nil {
		b.cycle(tasks, cycle)
	}
	return planOf(b.ws, tasks, g)
}

// planOf returns the plan of tasks, in the order of their graph.
func planOf(ws *dish.Workspace, tasks []*Task, g *dag.Graph) *Plan {
	ordered := make([]*Task, 0, len(tasks))
	for _, i := range g.Order() {
		ordered = append(ordered, tasks[i])
	}
	p := &Plan{Workspace: ws, Tasks: ordered, Graph: orderOf(ordered)}
	last := make(map[string]*Task)
	for _, t := range ordered {
		if before := last[t.Dish.Path]; before != nil {
			p.Graph.AddEdge(before.Index, t.Index)
		}
		last[t.Dish.Path] = t
	}
	return p
}

// graphOf numbers tasks by their position and returns the graph of their dependencies.
func graphOf(tasks []*Task) *dag.Graph {
	number(tasks)
	return dag.Of(len(tasks), func(add func(before, after int)) { addDeps(tasks, add) })
}

// orderOf is graphOf with edges from the tasks in behind, which come first but are no dependencies.
func orderOf(tasks []*Task) *dag.Graph {
	number(tasks)
	return dag.Of(len(tasks), func(add func(before, after int)) {
		addDeps(tasks, add)
		for _, t := range tasks {
			for _, first := range t.behind {
				if i := first.Index; i < len(tasks) && tasks[i] == first {
					add(i, t.Index)
				}
			}
		}
	})
}

func number(tasks []*Task) {
	for i, t := range tasks {
		t.Index = i
	}
}

func addDeps(tasks []*Task, add func(before, after int)) {
	for _, t := range tasks {
		for _, d := range t.Deps {
			add(d.Task.Index, t.Index)
		}
	}
}

func (b *builder) cycle(tasks []*Task, cycle []int) {
	ids := make([]string, 0, len(cycle)+1)
	var place diagnostics.Diagnostic
	for i, n := range cycle {
		ids = append(ids, tasks[n].ID())
		next := tasks[cycle[(i+1)%len(cycle)]]
		for _, w := range tasks[n].wants {
			if place.File == "" && w.at.File != "" && strings.HasSuffix(w.text, next.Name) {
				place = w.at
			}
		}
	}
	ids = append(slices.Clip(ids), ids[0])
	b.problem(diagnostics.Error, place, "task_cycle", "tasks wait for each other: "+strings.Join(ids, " → "),
		"remove one of these from depends_on")
}
