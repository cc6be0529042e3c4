package plan

import (
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dag"
)

// line is the order in which a request names tasks. Two tasks of one dish run in the order in which they are named,
// unless a dependency or another order requires otherwise. Adjacent lifecycle tasks keep the order of Lifecycle.
type line struct {
	named [][]*Task // by name of the request
	at    []int     // by index of the task: the first name that needs it; len(named) for none
}

// orderByLine adds the order of the line to tasks, which the plan has. It is an order only.
func (b *builder) orderByLine(tasks []*Task) {
	l := line{named: b.line}
	if len(l.named) < 2 || len(tasks) == 0 { // no task: the problems say why
		return
	}
	g := orderOf(tasks)
	order := g.Order()
	if len(order) < len(tasks) || !l.place(tasks, g, order) {
		return // a cycle is reported later
	}
	dishes := make(map[string][]*Task)
	for _, t := range tasks {
		dishes[t.Dish.Path] = append(dishes[t.Dish.Path], t)
	}
	for _, own := range dishes {
		l.chain(own)
	}
	for _, list := range l.named {
		for _, t := range list {
			if t.sweeps() && l.at[t.Index] < len(l.named) {
				l.around(t, tasks)
			}
		}
	}
}

// place fills in at, and reports whether it is not the same for all tasks. What comes before a task by
// any edge of g has no later place than it, so an edge to a later place closes no cycle.
func (l *line) place(tasks []*Task, g *dag.Graph, order []int) (differ bool) {
	l.at = make([]int, len(tasks))
	for i := range l.at {
		l.at[i] = len(l.named)
	}
	type group struct {
		at        int
		lifecycle bool
	}
	last := make(map[string]group) // by path
	for i, list := range l.named {
		for _, t := range list {
			if t.Index >= len(tasks) || tasks[t.Index] != t {
				continue // excluded
			}
			if before, had := last[t.Dish.Path]; had && before.at < i && isLifecycle(t) && before.lifecycle {
				l.at[t.Index] = min(l.at[t.Index], before.at)
				continue
			}
			last[t.Dish.Path] = group{i, isLifecycle(t)}
			l.at[t.Index] = min(l.at[t.Index], i)
		}
	}
	for _, i := range slices.Backward(order) {
		for _, before := range g.Before(i) {
			l.at[before] = min(l.at[before], l.at[i])
		}
	}
	return slices.Min(l.at) < slices.Max(l.at)
}

func isLifecycle(t *Task) bool { return adapters.IsLifecycle(t.Name) }

// chain orders the tasks of one directory.
func (l *line) chain(own []*Task) {
	slices.SortStableFunc(own, func(x, y *Task) int { return l.at[x.Index] - l.at[y.Index] })
	var before, now []*Task
	for i, t := range own {
		if i > 0 && l.at[t.Index] != l.at[own[i-1].Index] {
			before, now = now, nil
		}
		now = append(now, t)
		t.behind = append(t.behind, before...)
	}
}

// sweeps reports whether a task may remove what dishes below its own have made: no name of the
// lifecycle is that of such a task, and its result is never stored.
func (t *Task) sweeps() bool { return !isLifecycle(t) && t.Uncached != "" && !t.Persistent }

// around orders a task that sweeps and the tasks of the dishes below its own.
func (l *line) around(sweep *Task, tasks []*Task) {
	at := l.at[sweep.Index]
	for _, t := range tasks {
		switch {
		case t.Dish.Path == sweep.Dish.Path || !contains(sweep.Dish.Path, t.Dish.Path):
		case l.at[t.Index] > at:
			t.behind = append(t.behind, sweep)
		case l.at[t.Index] < at:
			sweep.behind = append(sweep.behind, t)
		}
	}
}
