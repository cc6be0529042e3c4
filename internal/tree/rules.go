package tree

import (
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/node"
	"github.com/bentobuild/bento/internal/tree/outer"
)

// rulesIn gives the ignore rules for what is in n, its own ignore file included.
// Those of directories that are as the index says are read when somebody asks.
func (t *Tree) rulesIn(n *node.Node) *ignore.Rules {
	n.Ignores.Once.Do(func() {
		g := &n.Ignores
		g.Rules = t.rulesAbove(n)
		if g.There && !g.Read {
			g.Text, _ = outer.ReadRules(filepath.Join(t.root, filepath.FromSlash(n.Path), ignore.File), os.Lstat)
		}
		if g.There {
			g.Rules = g.Rules.With(n.Path, g.Text)
		}
	})
	return n.Ignores.Rules
}

// rulesAbove gives those that do not come from n itself.
func (t *Tree) rulesAbove(n *node.Node) *ignore.Rules {
	if n.Above == nil {
		return t.outer.Rules
	}
	return t.rulesIn(n.Above)
}

// ignoreEntry gives the ignore file of n, if it has one that is part of the
// workspace.
func ignoreEntry(n *node.Node) (Entry, bool) { return disk.Find(n.Entries, join(n.Path, ignore.File)) }
