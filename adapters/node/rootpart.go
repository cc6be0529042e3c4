package node

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// rootPart returns the part of the root's package.json that the member p may read: a change of the root's
// version or scripts does not concern it, unless a script of the member may lead to the root.
func rootPart(p *project.Project) []adapters.LockPart {
	root := p.Root()
	if !p.IsMember() || root == nil {
		return nil
	}
	for _, s := range p.Scripts {
		for _, w := range shellWords(s.Value) {
			global := strings.Contains(w, ":") && root.Script(w).Line > 0 && p.Script(w).Line == 0 // yarn runs it from any member
			if global || leadsUp(w) {
				return nil
			}
		}
	}
	return []adapters.LockPart{{File: root.Path, Digest: root.Shared}}
}

// leadsUp reports whether a word of a script may lead out of its package: a path, or an option or variable
// by which a manager, or the script, gets to the root.
func leadsUp(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains([]string{"-w", "--workspace-root", "-T", "--top-level", "--prefix", "-C", "--cwd", "--dir", "--root"}, flag) ||
		strings.Contains(word, "..") || strings.Contains(word, "INIT_CWD") || strings.Contains(word, "PROJECT_CWD")
}
