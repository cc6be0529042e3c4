package lockgraph

// walk finds the cycles of a graph (Tarjan's strongly connected components), dependencies first,
// and seals each. It does not recurse: a lockfile may contain a chain as long as itself.
type walk struct {
	g     *Graph
	next  int32
	order []int32 // order of the first visit, from 1; 0 for not visited
	low   []int32 // the earliest node known to be reachable
	of    []int32 // the cycle of a sealed node, from 1; 0 for none yet
	count int32
	path  []step
	open  []Node // visited nodes without a cycle yet
}

// step is a node on the path. Its edges before i are done.
type step struct {
	n Node
	i int
}

func newWalk(g *Graph) *walk {
	n := len(g.own)
	return &walk{g: g, order: make([]int32, n), low: make([]int32, n), of: make([]int32, n)}
}

func (w *walk) from(n Node) {
	if w.order[n] != 0 {
		return
	}
	w.enter(n)
	for len(w.path) > 0 {
		w.advance(&w.path[len(w.path)-1])
	}
}

func (w *walk) enter(n Node) {
	w.next++
	w.order[n], w.low[n] = w.next, w.next
	w.path = append(w.path, step{n: n})
	w.open = append(w.open, n)
}

// advance follows the next edge of the last node on the path, or leaves the node.
func (w *walk) advance(s *step) {
	n := s.n
	if s.i == len(w.g.edges[n]) {
		w.leave(n)
		return
	}
	to := w.g.edges[n][s.i].to
	s.i++
	switch {
	case w.order[to] == 0:
		w.enter(to)
	case w.of[to] == 0:
		w.low[n] = min(w.low[n], w.order[to])
	}
}

func (w *walk) leave(n Node) {
	w.path = w.path[:len(w.path)-1]
	if len(w.path) > 0 {
		before := w.path[len(w.path)-1].n
		w.low[before] = min(w.low[before], w.low[n])
	}
	if w.low[n] == w.order[n] {
		w.close(n)
	}
}

// close seals the cycle whose first node is n.
func (w *walk) close(n Node) {
	w.count++
	first := len(w.open)
	for {
		first--
		w.of[w.open[first]] = w.count
		if w.open[first] == n {
			break
		}
	}
	w.g.seal(w.open[first:], w.of)
	w.open = w.open[:first]
}
