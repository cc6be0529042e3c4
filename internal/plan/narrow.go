package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
)

// Narrow returns the plan of the requested tasks for which keep returns true, with their
// dependencies, and the other requested tasks. The tasks of the new plan are copies: p and its tasks
// do not change.
func (p *Plan) Narrow(keep func(*Task) bool) (narrowed *Plan, left []*Task) {
	copies, kept := make(map[*Task]*Task), make(map[*Task]bool)
	for _, t := range p.Tasks {
		switch {
		case !t.Requested:
		case keep(t):
			kept[t] = true
			t.copyTo(copies)
		default:
			left = append(left, t)
		}
	}
	var tasks []*Task
	for _, t := range p.Tasks {
		if c := copies[t]; c != nil {
			c.Requested = kept[t]
			tasks = append(tasks, c)
		}
	}
	for _, t := range tasks {
		t.behind = slices.Clone(t.behind)
		for i, first := range t.behind {
			t.behind[i] = cmp.Or(copies[first], first)
		}
	}
	narrowed = planOf(p.Workspace, tasks, orderOf(tasks))
	narrowed.included, narrowed.circles, narrowed.Lost = p.included, p.circles, slices.Clone(p.Lost)
	narrowed.Dishes, narrowed.byDish = p.Dishes, make(map[*dish.Dish][]*Task, len(p.byDish))
	for d, list := range p.byDish {
		list = slices.Clone(list)
		for i, t := range list {
			list[i] = cmp.Or(copies[t], t)
		}
		narrowed.byDish[d] = list
	}
	return narrowed, left
}

// copyTo adds copies of t and of its direct and indirect dependencies.
func (t *Task) copyTo(copies map[*Task]*Task) *Task {
	if c := copies[t]; c != nil {
		return c
	}
	c := *t
	copies[t] = &c
	c.Deps = slices.Clone(t.Deps)
	for i, d := range c.Deps {
		c.Deps[i].Task = d.Task.copyTo(copies)
	}
	return &c
}

// Hold returns a plan in which every task is held except the requested ones.
func (p *Plan) Hold() *Plan {
	held, _ := p.Narrow(func(*Task) bool { return true })
	for _, t := range held.Tasks {
		t.Held = !t.Requested
	}
	return held
}

// Shard returns the requested tasks of part index of count, from 1. See Parts.
func (p *Plan) Shard(index, count int, weight func(*Task) int64) func(*Task) bool {
	part := p.Parts(count, weight)
	return func(t *Task) bool {
		i, requested := part[t.Dish]
		return requested && i == index-1
	}
}

// Parts divides the dishes of the requested tasks into count parts, and returns the part of each, from 0. The
// parts are disjoint and complete, and never split a dish. They are as even as weight allows. weight must return
// the same on every machine, so it must not depend on local data.
func (p *Plan) Parts(count int, weight func(*Task) int64) map[*dish.Dish]int {
	type load struct {
		dish *dish.Dish
		sum  int64
	}
	var loads []load
	at := make(map[*dish.Dish]int)
	for _, t := range p.Tasks {
		if !t.Requested {
			continue
		}
		i, ok := at[t.Dish]
		if !ok {
			i = len(loads)
			at[t.Dish] = i
			loads = append(loads, load{dish: t.Dish})
		}
		loads[i].sum += max(1, weight(t))
	}
	slices.SortFunc(loads, func(x, y load) int {
		return cmp.Or(cmp.Compare(y.sum, x.sum), strings.Compare(x.dish.Path, y.dish.Path))
	})
	// The heaviest first, each to the lightest part so far.
	sums := make([]int64, count)
	part := make(map[*dish.Dish]int, len(loads))
	for _, l := range loads {
		least := 0
		for i := range sums {
			if sums[i] < sums[least] {
				least = i
			}
		}
		sums[least] += l.sum
		part[l.dish] = least
	}
	return part
}
