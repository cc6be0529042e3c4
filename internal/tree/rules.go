package tree

import (
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// rulesIn returns the ignore rules for the entries of n, including its own ignore file. It reads the
// ignore files of unchanged directories on first use.
func (t *Tree) rulesIn(n *dirNode) *ignore.Rules {
	n.Ignores.Once.Do(func() {
		g := &n.Ignores
		g.Rules = t.rulesAbove(n)
		if g.There && !g.Read {
			g.Text, _ = readRules(filepath.Join(t.root, filepath.FromSlash(n.Path), ignore.File), os.Lstat)
		}
		if g.There {
			g.Rules = g.Rules.With(n.Path, g.Text)
		}
	})
	return n.Ignores.Rules
}

// rulesAbove returns the rules from above n.
func (t *Tree) rulesAbove(n *dirNode) *ignore.Rules {
	if n.Above == nil {
		return t.outer.Rules
	}
	return t.rulesIn(n.Above)
}

// ignoreEntry returns the ignore file of n, if it is part of the workspace.
func ignoreEntry(n *dirNode) (Entry, bool) { return disk.Find(n.Entries, join(n.Path, ignore.File)) }
