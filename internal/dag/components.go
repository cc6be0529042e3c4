package dag

import "slices"

// Components returns the strongly connected components: a single node, or the nodes of connected
// cycles, sorted. Each component comes after the components that its nodes wait for.
func (g *Graph) Components() [][]int {
	s := &tarjan{g: g, index: make([]int, g.Len()), low: make([]int, g.Len()), open: make([]bool, g.Len())}
	for node := range g.Len() {
		if s.index[node] == 0 {
			s.visit(node)
		}
	}
	return s.found
}

// tarjan is the state of Tarjan's algorithm. Its recursion is as deep as the longest path, which
// fits the stack for task graphs.
type tarjan struct {
	g          *Graph
	next       int
	index, low []int // counted from 1; 0 is unseen
	open       []bool
	stack      []int
	found      [][]int
}

func (s *tarjan) visit(node int) {
	s.next++
	s.index[node], s.low[node] = s.next, s.next
	s.stack, s.open[node] = append(s.stack, node), true
	for _, dep := range s.g.before[node] {
		if s.index[dep] == 0 {
			s.visit(dep)
			s.low[node] = min(s.low[node], s.low[dep])
		} else if s.open[dep] {
			s.low[node] = min(s.low[node], s.index[dep])
		}
	}
	if s.low[node] == s.index[node] {
		s.close(node)
	}
}

func (s *tarjan) close(node int) {
	at := slices.Index(s.stack, node)
	members := slices.Clone(s.stack[at:])
	s.stack = s.stack[:at]
	for _, m := range members {
		s.open[m] = false
	}
	slices.Sort(members)
	s.found = append(s.found, members)
}
