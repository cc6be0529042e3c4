// Package dag is a directed graph over the integers 0..n-1 with the queries of planning and
// scheduling. It does not depend on tasks.
package dag

import "slices"

// Graph has n nodes and edges that say "before comes first". It is not safe for
// concurrent changes.
type Graph struct {
	after  [][]int // by node: the nodes that wait for it
	before [][]int // by node: the nodes that it waits for
}

// New returns a graph of n nodes without edges.
func New(n int) *Graph {
	g := &Graph{after: make([][]int, n), before: make([][]int, n)}
	room := make([]int, 2*usual*n) // one allocation for all
	for i := range n {
		at := room[2*usual*i:]
		g.after[i], g.before[i] = at[:0:usual], at[usual:usual:2*usual]
	}
	return g
}

// Of returns the graph of n nodes with the edges that edges passes to its argument. It calls edges twice: the
// first time only counts them.
func Of(n int, edges func(add func(before, after int))) *Graph {
	g := &Graph{after: make([][]int, n), before: make([][]int, n)}
	outs, ins, all := make([]int, n), make([]int, n), 0
	edges(func(before, after int) {
		outs[before]++
		ins[after]++
		all++
	})
	room := make([]int, 2*all) // one allocation for all
	take := func(size int) (list []int) {
		list, room = room[:0:size], room[size:]
		return list
	}
	for i := range n {
		g.after[i], g.before[i] = take(outs[i]), take(ins[i])
	}
	edges(g.AddEdge)
	return g
}

// usual is the initial capacity of a node for edges in each direction.
const usual = 2

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.after) }

// AddEdge adds the edge that before comes first. A second equal edge has no effect.
func (g *Graph) AddEdge(before, after int) {
	if len(g.after[before]) < len(g.before[after]) && slices.Contains(g.after[before], after) ||
		len(g.after[before]) >= len(g.before[after]) && slices.Contains(g.before[after], before) {
		return
	}
	g.after[before] = append(g.after[before], after)
	g.before[after] = append(g.before[after], before)
}

// After returns the nodes that wait for node. The caller must not change it.
func (g *Graph) After(node int) []int { return g.after[node] }

// Before returns the nodes that node waits for. The caller must not change it.
func (g *Graph) Before(node int) []int { return g.before[node] }

// Order returns the nodes so that each comes after those it waits for; among several possible nodes
// the smallest comes first. It leaves out nodes of a cycle, and those that wait for one.
func (g *Graph) Order() []int {
	waits := make([]int, g.Len())
	var ready intHeap
	for node := range waits {
		if waits[node] = len(g.before[node]); waits[node] == 0 {
			ready = append(ready, node)
		}
	}
	order := make([]int, 0, g.Len())
	for len(ready) > 0 {
		node := ready.pop()
		order = append(order, node)
		for _, next := range g.after[node] {
			if waits[next]--; waits[next] == 0 {
				ready.push(next)
			}
		}
	}
	return order
}

// Cycle returns the nodes of one cycle, each waiting for the next and the last for the first; nil
// when there is none.
func (g *Graph) Cycle() []int {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, g.Len())
	for start := range state {
		var path []int // the nodes in progress, outermost first
		next := []int{0}
		if state[start] != unseen {
			continue
		}
		path, state[start] = append(path, start), open
		for len(path) > 0 {
			node := path[len(path)-1]
			if i := next[len(next)-1]; i < len(g.before[node]) {
				next[len(next)-1]++
				switch dep := g.before[node][i]; state[dep] {
				case open:
					return slices.Clone(path[slices.Index(path, dep):])
				case unseen:
					path, next, state[dep] = append(path, dep), append(next, 0), open
				}
				continue
			}
			state[node] = done
			path, next = path[:len(path)-1], next[:len(next)-1]
		}
	}
	return nil
}

// Longest returns, by node, the weight of the heaviest path that starts there, including the node.
// The graph must have no cycle.
func (g *Graph) Longest(weight func(node int) int64) []int64 {
	longest := make([]int64, g.Len())
	for _, node := range slices.Backward(g.anyOrder()) {
		for _, next := range g.after[node] {
			longest[node] = max(longest[node], longest[next])
		}
		longest[node] += weight(node)
	}
	return longest
}

// anyOrder is Order without the preference for small nodes.
func (g *Graph) anyOrder() []int {
	order, waits := make([]int, 0, g.Len()), make([]int, g.Len())
	for node := range waits {
		if waits[node] = len(g.before[node]); waits[node] == 0 {
			order = append(order, node)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, next := range g.after[order[i]] {
			if waits[next]--; waits[next] == 0 {
				order = append(order, next)
			}
		}
	}
	return order
}

// Heaviest returns the heaviest path, its first node first. The graph must have no cycle, and no
// weight may be negative.
func (g *Graph) Heaviest(weight func(node int) int64) (path []int) {
	longest, at := g.Longest(weight), 0
	for node := range longest {
		if longest[node] > longest[at] {
			at = node
		}
	}
	for at >= 0 && at < len(longest) {
		path = append(path, at)
		left := longest[at] - weight(at)
		next := slices.IndexFunc(g.after[at], func(n int) bool { return longest[n] == left })
		if next < 0 {
			break
		}
		at = g.after[at][next]
	}
	return path
}

// intHeap is a binary heap, whose smallest number is the first. A sorted slice is one.
type intHeap []int

func (h *intHeap) push(x int) {
	*h = append(*h, x)
	list := *h
	for i := len(list) - 1; i > 0 && list[(i-1)/2] > list[i]; i = (i - 1) / 2 {
		list[i], list[(i-1)/2] = list[(i-1)/2], list[i]
	}
}

// pop removes the smallest number.
func (h *intHeap) pop() int {
	list := *h
	smallest, last := list[0], len(list)-1
	list[0] = list[last]
	list = list[:last]
	for i := 0; ; {
		least := 2*i + 1 // the smaller child
		if right := least + 1; right < last && list[right] < list[least] {
			least = right
		}
		if least >= last || list[i] <= list[least] {
			break
		}
		list[i], list[least] = list[least], list[i]
		i = least
	}
	*h = list
	return smallest
}
