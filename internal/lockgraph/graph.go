// Package lockgraph computes the digest of all packages that a lockfile resolves for one project of a
// workspace. Readers of lockfiles add packages and their dependencies to a Graph in any order; cycles
// are allowed.
package lockgraph

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// Node is a package, or a project, of a Graph.
type Node int32

// Sum is a digest.
type Sum [sha256.Size]byte

// String returns the digest in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Graph is the content of a lockfile. The zero value is empty. One goroutine builds it; once
// sealed, it is safe for concurrent use.
type Graph struct {
	own   []Sum
	edges [][]edge
	sums  []Sum // digest of everything that a node reaches, set by Seal
}

type edge struct {
	as string
	to Node
}

// Add adds a node. parts identify it: name, version, integrity.
func (g *Graph) Add(parts ...string) Node {
	g.own = append(g.own, Of(parts...))
	g.edges = append(g.edges, nil)
	return Node(len(g.own) - 1)
}

// Link adds a dependency of from on to, under the name as.
func (g *Graph) Link(from Node, as string, to Node) {
	if from != to {
		g.edges[from] = append(g.edges[from], edge{as, to})
	}
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.own) }

// Of returns the digest of a list of texts.
func Of(parts ...string) Sum {
	h := make([]byte, 0, 256)
	for _, p := range parts {
		h = appendText(h, p)
	}
	return sha256.Sum256(h)
}

// Join returns the digest of a list of digests. Their order does not matter.
func Join(sums ...Sum) Sum {
	sums = slices.Clone(sums)
	sortSums(sums)
	return sha256.Sum256(appendSums(nil, sums))
}

// Seal computes the digests. The caller adds nothing afterwards.
func (g *Graph) Seal() {
	g.sums = make([]Sum, len(g.own))
	w := newWalk(g)
	for n := range g.own {
		w.from(Node(n))
	}
}

// Sum returns the digest of n and its transitive dependencies. The graph must be sealed.
func (g *Graph) Sum(n Node) Sum { return g.sums[n] }

// seal computes the digests of the nodes of a cycle. The digests of its dependencies must be known. A
// single node is a cycle of one.
func (g *Graph) seal(circle []Node, of []int32) {
	id := of[circle[0]]
	for _, n := range circle {
		g.sums[n] = g.outward(n, func(to Node) bool { return of[to] != id })
	}
	if len(circle) == 1 {
		return
	}
	whole := g.around(circle, func(to Node) bool { return of[to] == id })
	for _, n := range circle {
		g.sums[n] = sha256.Sum256(append(slices.Clone(g.sums[n][:]), whole[:]...))
	}
}

// outward returns the digest of a node and those dependencies for which outside returns true.
func (g *Graph) outward(n Node, outside func(Node) bool) Sum {
	edges := slices.DeleteFunc(slices.Clone(g.edges[n]), func(e edge) bool { return !outside(e.to) })
	slices.SortFunc(edges, func(x, y edge) int {
		return cmp.Or(cmp.Compare(x.as, y.as), bytes.Compare(g.sums[x.to][:], g.sums[y.to][:]))
	})
	text := append(make([]byte, 0, 64*(len(edges)+1)), g.own[n][:]...)
	for i, e := range edges {
		if i == 0 || e.as != edges[i-1].as || g.sums[e.to] != g.sums[edges[i-1].to] {
			text = append(appendText(text, e.as), g.sums[e.to][:]...)
		}
	}
	return sha256.Sum256(text)
}

// around returns the digest of the nodes of a cycle and the edges between them.
func (g *Graph) around(circle []Node, inside func(Node) bool) Sum {
	var sums []Sum
	for _, n := range circle {
		sums = append(sums, g.sums[n])
		for _, e := range g.edges[n] {
			if inside(e.to) {
				text := append(slices.Clone(g.sums[n][:]), g.sums[e.to][:]...)
				sums = append(sums, sha256.Sum256(appendText(text, e.as)))
			}
		}
	}
	sortSums(sums)
	return sha256.Sum256(appendSums(nil, slices.Compact(sums)))
}

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func sortSums(sums []Sum) {
	slices.SortFunc(sums, func(x, y Sum) int { return bytes.Compare(x[:], y[:]) })
}

func appendSums(b []byte, sums []Sum) []byte {
	for _, s := range sums {
		b = append(b, s[:]...)
	}
	return b
}
