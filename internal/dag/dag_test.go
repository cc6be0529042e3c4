package dag

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderPrefersSmallNumbers(t *testing.T) {
	g := New(4)
	g.AddEdge(3, 0)
	g.AddEdge(3, 0)
	if got, want := g.Order(), []int{1, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

func TestCycleIsNamedInOrder(t *testing.T) {
	g := New(5)
	g.AddEdge(1, 0)
	g.AddEdge(2, 1)
	g.AddEdge(3, 2)
	g.AddEdge(1, 3)
	if got, want := g.Cycle(), []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("cycle = %v, want %v", got, want)
	}
	if got, want := g.Order(), []int{4}; !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

func TestSelfEdgeIsACycle(t *testing.T) {
	g := New(1)
	g.AddEdge(0, 0)
	if got := g.Cycle(); !slices.Equal(got, []int{0}) {
		t.Errorf("cycle = %v, want [0]", got)
	}
}

func TestLongest(t *testing.T) {
	g := New(4)
	g.AddEdge(0, 1)
	g.AddEdge(1, 2)
	g.AddEdge(0, 3)
	got := g.Longest(func(node int) int64 { return []int64{1, 2, 3, 9}[node] })
	if want := []int64{10, 5, 3, 9}; !slices.Equal(got, want) {
		t.Errorf("longest = %v, want %v", got, want)
	}
}

// Order returns all nodes exactly if Cycle finds no cycle, and respects every edge. A cycle that
// Cycle returns is one.
func TestOrderAndCycleAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		g := New(n)
		for range rapid.IntRange(0, 20).Draw(t, "edges") {
			g.AddEdge(rapid.IntRange(0, n-1).Draw(t, "before"), rapid.IntRange(0, n-1).Draw(t, "after"))
		}
		order, cycle := g.Order(), g.Cycle()
		if (len(order) == n) != (cycle == nil) {
			t.Fatalf("order %v, cycle %v", order, cycle)
		}
		at := make(map[int]int)
		for i, node := range order {
			at[node] = i
			for _, dep := range g.Before(node) {
				if j, ok := at[dep]; !ok || j >= i {
					t.Fatalf("%d does not come behind %d in %v", node, dep, order)
				}
			}
		}
		for i, node := range cycle {
			if !slices.Contains(g.Before(node), cycle[(i+1)%len(cycle)]) {
				t.Fatalf("%v is no cycle", cycle)
			}
		}
	})
}

func TestComponents(t *testing.T) {
	g := New(5)
	g.AddEdge(1, 0) // 0 waits for 1, 1 for 2, 2 for 1
	g.AddEdge(2, 1)
	g.AddEdge(1, 2)
	g.AddEdge(4, 2)
	want := [][]int{{4}, {1, 2}, {0}, {3}}
	if got := g.Components(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("components = %v, want %v", got, want)
	}
}

// The heaviest path has the weight that Longest returns, and each node on it follows the one before.
func TestHeaviest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		g, weights := New(n), make([]int64, n)
		for i := range n {
			weights[i] = rapid.Int64Range(0, 3).Draw(t, "weight")
			for j := range i {
				if rapid.Bool().Draw(t, "edge") {
					g.AddEdge(j, i)
				}
			}
		}
		weight := func(i int) int64 { return weights[i] }
		sum, path := int64(0), g.Heaviest(weight)
		for i, node := range path {
			if sum += weights[node]; i > 0 && !slices.Contains(g.After(path[i-1]), node) {
				t.Fatalf("%d does not follow %d in %v", node, path[i-1], path)
			}
		}
		if want := slices.Max(g.Longest(weight)); sum != want {
			t.Fatalf("%v weighs %d, want %d", path, sum, want)
		}
	})
}
