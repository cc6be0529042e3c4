package node

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/modules"
)

// Portable implements adapters.Porter: the directories node_modules of the scope and of its members, without the caches that
// tools keep there.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	f := a.Now().Files(dir)
	switch left, err := a.traces(f, scope.Dir); {
	case err != nil:
		return adapters.Portable{}, err
	case left.plain:
		return adapters.Portable{Stays: "Yarn's Plug'n'Play reads packages from a cache of this machine; nodeLinker: node-modules in .yarnrc.yml makes a node_modules"}, nil
	}
	var p adapters.Portable
	for _, name := range append([]string{modules.Dir}, modules.Recorded(f, scope.Dir)...) {
		p.Trees = append(p.Trees, adapters.PortableTree{Dir: filepath.Join(scope.Dir, name), Except: []string{".cache", ".vite"}})
	}
	return p, nil
}
