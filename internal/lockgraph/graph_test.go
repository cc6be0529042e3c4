package lockgraph

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// sums returns the digests of packages by name. Each line is a package and its dependencies, in the
// order in which they are added.
func sums(lines ...[]string) map[string]Sum {
	var g Graph
	nodes := make(map[string]Node)
	for _, line := range lines {
		nodes[line[0]] = g.Add(line[0])
	}
	for _, line := range lines {
		for _, to := range line[1:] {
			g.Link(nodes[line[0]], "as-"+to, nodes[to])
		}
	}
	g.Seal()
	out := make(map[string]Sum)
	for name, n := range nodes {
		out[name] = g.Sum(n)
	}
	return out
}

func TestOnlyWhatIsReachedCounts(t *testing.T) {
	before := sums([]string{"app", "lib"}, []string{"lib", "x"}, []string{"x"}, []string{"other", "y"}, []string{"y"})
	after := sums([]string{"app", "lib"}, []string{"lib", "x"}, []string{"x"}, []string{"other", "y", "x"}, []string{"y"})
	for name, changed := range map[string]bool{"app": false, "lib": false, "x": false, "y": false, "other": true} {
		if (before[name] != after[name]) != changed {
			t.Errorf("%s: changed is %v", name, !changed)
		}
	}
	deep := sums([]string{"app", "lib"}, []string{"lib", "x"}, []string{"x", "y"}, []string{"other", "y"}, []string{"y"})
	for name, changed := range map[string]bool{"app": true, "lib": true, "x": true, "other": false} {
		if (before[name] != deep[name]) != changed {
			t.Errorf("deep: %s: changed is %v", name, !changed)
		}
	}
}

func TestCircles(t *testing.T) {
	ring := sums([]string{"a", "b"}, []string{"b", "c"}, []string{"c", "a"}, []string{"d", "a"}, []string{"e"})
	if ring["a"] == ring["b"] || ring["b"] == ring["c"] {
		t.Error("the nodes of a circle are the same")
	}
	more := sums([]string{"a", "b"}, []string{"b", "c"}, []string{"c", "a", "e"}, []string{"d", "a"}, []string{"e"})
	turned := sums([]string{"a", "c"}, []string{"b", "a"}, []string{"c", "b"}, []string{"d", "a"}, []string{"e"})
	for _, name := range []string{"a", "b", "c", "d"} {
		if ring[name] == more[name] || ring[name] == turned[name] {
			t.Errorf("%s does not see what its circle has become", name)
		}
	}
	if ring["e"] != more["e"] {
		t.Error("e depends on nothing")
	}
}

func TestALongChain(t *testing.T) {
	var g Graph
	const n = 300_000
	for i := range n {
		g.Add(fmt.Sprint(i))
	}
	for i := range n - 1 {
		g.Link(Node(i), "next", Node(i+1))
	}
	g.Link(n-1, "next", n/2)
	g.Seal()
	if g.Sum(0) == g.Sum(1) || g.Len() != n {
		t.Error("the nodes are the same")
	}
}

func TestTexts(t *testing.T) {
	if Of("a", "b") == Of("ab") || Of("a", "b") == Of("b", "a") || Of() == Of("") {
		t.Error("parts run together")
	}
	if Join(Of("a"), Of("b")) != Join(Of("b"), Of("a")) || Join(Of("a")) == Of("a") {
		t.Error("Join is not what it says")
	}
	if s := Of("a").String(); len(s) != 64 {
		t.Error(s)
	}
}

// TestOrder: a digest depends on the packages that a package reaches, and not on the order of nodes
// or edges.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "nodes")
		var lines [][]string
		for i := range n {
			line := []string{fmt.Sprint(i)}
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(t, "edges") {
				line = append(line, fmt.Sprint(to))
			}
			lines = append(lines, line)
		}
		want := sums(lines...)
		var shuffled [][]string
		for _, line := range rapid.Permutation(lines).Draw(t, "order") {
			to := rapid.Permutation(line[1:]).Draw(t, "order of edges")
			shuffled = append(shuffled, append([]string{line[0]}, to...))
		}
		got := sums(shuffled...)
		for name, sum := range want {
			if got[name] != sum {
				t.Fatalf("%s depends on the order", name)
			}
		}
		// A change of one package changes the digests of exactly those that reach it.
		victim := rapid.IntRange(0, n-1).Draw(t, "victim")
		changed := sums(append(lines[:victim:victim], append([][]string{append(lines[victim], "new")}, append(lines[victim+1:], []string{"new"})...)...)...)
		for i := range n {
			if (changed[fmt.Sprint(i)] != want[fmt.Sprint(i)]) != reaches(lines, i, victim) {
				t.Fatalf("%d reaches %d: %v", i, victim, reaches(lines, i, victim))
			}
		}
	})
}

func reaches(lines [][]string, from, to int) bool {
	seen, queue := map[string]bool{fmt.Sprint(from): true}, []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at == to {
			return true
		}
		for _, next := range lines[at][1:] {
			if !seen[next] {
				seen[next] = true
				var i int
				fmt.Sscan(next, &i)
				queue = append(queue, i)
			}
		}
	}
	return false
}
