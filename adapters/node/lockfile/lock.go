// Package lockfile reads the lockfiles of npm, pnpm, yarn and bun: packages, members, and their resolved
// dependencies.
package lockfile

import (
	"cmp"
	"path"

	"github.com/bentobuild/bento/internal/lockgraph"
)

// Root is the member in the lockfile's own directory.
const Root = "."

// Lock is a parsed lockfile. After Seal it is safe for concurrent use.
type Lock struct {
	Graph lockgraph.Graph

	members map[string]lockgraph.Node
	shared  []lockgraph.Node
}

// source returns the identity of a fetched package. The origin is not hashed if the digest is known.
func source(integrity, origin string) string { return cmp.Or(integrity, origin) }

// Member returns the node of a member, by its directory relative to the lockfile with
// forward slashes. It adds a new member.
func (l *Lock) Member(dir string) lockgraph.Node {
	dir = path.Clean(dir)
	if n, ok := l.members[dir]; ok {
		return n
	}
	n := l.Graph.Add("member")
	if l.members == nil {
		l.members = make(map[string]lockgraph.Node)
	}
	l.members[dir] = n
	return n
}

// IsMember reports whether a directory was added.
func (l *Lock) IsMember(dir string) bool {
	_, ok := l.members[path.Clean(dir)]
	return ok
}

// Share makes every member depend on n.
func (l *Lock) Share(n lockgraph.Node) { l.shared = append(l.shared, n) }

// Seal computes the digests. Nothing may be added after it.
func (l *Lock) Seal() { l.Graph.Seal() }

// Digest returns the digest of the packages that a member resolves to, of those of the root, whose commands and
// modules every member finds, and of the shared nodes. ok is false for a directory that the lockfile does not name.
func (l *Lock) Digest(dir string) (digest string, ok bool) {
	n, ok := l.members[path.Clean(dir)]
	if !ok {
		return "", false
	}
	return l.With(l.Graph.Sum(n)).String(), true
}

// With returns the digest of sums together with the nodes that every member sees.
func (l *Lock) With(sums ...lockgraph.Sum) lockgraph.Sum {
	for _, n := range l.shared {
		sums = append(sums, l.Graph.Sum(n))
	}
	if root, ok := l.members[Root]; ok {
		sums = append(sums, l.Graph.Sum(root))
	}
	return lockgraph.Join(sums...)
}
