package lockgraph

import (
	"fmt"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// The digests of n packages take at most n log n, for any dependencies.
func TestSealingGrowsWithTheGraph(t *testing.T) {
	of := func(link func(g *Graph, n int)) growth.Reader {
		return growth.Of(func(data []byte) any {
			var g Graph
			for i := range data {
				g.Add(fmt.Sprint(i))
			}
			link(&g, len(data))
			g.Seal()
			return g.Sum(0)
		}, func(n int) string { return string(make([]byte, n)) })
	}
	growth.Check(t, map[string]growth.Reader{
		"chain":  of(func(g *Graph, n int) { each(n-1, func(i int) { g.Link(Node(i), "x", Node(i+1)) }) }),
		"back":   of(func(g *Graph, n int) { each(n-1, func(i int) { g.Link(Node(i+1), "x", Node(i)) }) }),
		"circle": of(func(g *Graph, n int) { each(n, func(i int) { g.Link(Node(i), "x", Node((i+1)%n)) }) }),
		"pairs":  of(func(g *Graph, n int) { each(n, func(i int) { g.Link(Node(i), "x", Node(i^1)) }) }),
		"star":   of(func(g *Graph, n int) { each(n, func(i int) { g.Link(0, "x", Node(i)); g.Link(Node(i), "y", 0) }) }),
		"twins": of(func(g *Graph, n int) {
			each(n, func(i int) { g.Link(Node(i), "x", Node(1)); g.Link(Node(i), fmt.Sprint(i), Node(1)) })
		}),
	})
}

func each(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}
