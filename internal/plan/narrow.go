package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bentobuild/bento/discovery"
)

// Narrow gives the plan of those requested tasks that keep wants, with all that they
// depend on, and the requested tasks that it leaves out. The tasks of p are used
// again: p itself is of no use afterwards.
func (p *Plan) Narrow(keep func(*Task) bool) (narrowed *Plan, left []*Task) {
	wanted := make(map[*Task]bool)
	var want func(*Task)
	want = func(t *Task) {
		if wanted[t] {
			return
		}
		wanted[t] = true
		for _, d := range t.Deps {
			want(d.Task)
		}
	}
	for _, t := range p.Tasks {
		switch {
		case !t.Requested:
		case keep(t):
			want(t)
		default:
			t.Requested = false
			left = append(left, t)
		}
	}
	tasks := slices.DeleteFunc(slices.Clone(p.Tasks), func(t *Task) bool { return !wanted[t] })
	narrowed = planOf(p.Workspace, tasks, graphOf(tasks))
	narrowed.Dishes, narrowed.byDish = p.Dishes, p.byDish
	return narrowed, left
}

// Hold leaves everything as it is but the requested tasks.
func (p *Plan) Hold() {
	for _, t := range p.Tasks {
		t.Held = !t.Requested
	}
}

// Shard tells which of the requested tasks are those of part index, 1 to count. The
// parts are disjoint, together they are everything, and a dish is never torn apart.
// They are as even as weight says, which must say the same wherever a part is worked
// out: nothing that one machine alone knows may enter it.
func (p *Plan) Shard(index, count int, weight func(*Task) int64) func(*Task) bool {
	type load struct {
		dish *discovery.Dish
		sum  int64
	}
	var loads []load
	at := make(map[*discovery.Dish]int)
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
	// The heaviest first, each to the part that has least so far.
	sums := make([]int64, count)
	mine := make(map[*discovery.Dish]bool)
	for _, l := range loads {
		least := 0
		for i := range sums {
			if sums[i] < sums[least] {
				least = i
			}
		}
		sums[least] += l.sum
		mine[l.dish] = least == index-1
	}
	return func(t *Task) bool { return mine[t.Dish] }
}
