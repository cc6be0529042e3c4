package tree

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/outer"
)

// ignores is the ignore file of a directory.
type ignores struct {
	there bool // there is one
	read  bool // it was, and holds text
	bad   bool // it could not be
	text  string
	once  sync.Once
	rules *ignore.Rules // with those from above
}

// rulesIn gives the ignore rules for what is in n, its own ignore file included.
// Those of directories that are as the index says are read when somebody asks.
func (t *Tree) rulesIn(n *node) *ignore.Rules {
	n.ignores.once.Do(func() {
		g := &n.ignores
		g.rules = t.rulesAbove(n)
		if g.there && !g.read {
			g.text, _ = outer.ReadRules(filepath.Join(t.root, filepath.FromSlash(n.path), ignore.File), os.Lstat)
		}
		if g.there {
			g.rules = g.rules.With(n.path, g.text)
		}
	})
	return n.ignores.rules
}

// rulesAbove gives those that do not come from n itself.
func (t *Tree) rulesAbove(n *node) *ignore.Rules {
	if n.above == nil {
		return t.outer.Rules
	}
	return t.rulesIn(n.above)
}

// ignoreEntry gives the ignore file of n, if it has one that is part of the
// workspace.
func (n *node) ignoreEntry() (Entry, bool) { return disk.Find(n.entries, join(n.path, ignore.File)) }
