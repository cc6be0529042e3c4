package node

import (
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// packageNames finds the members of workspaces by the names in their manifests. A caller
// that depends on a manifest notes it itself.
type packageNames struct {
	byRoot snapshot.Memo[map[string]string]
}

// find returns the directory of the member with this name, or "".
func (n *packageNames) find(a *Adapter, sp *project.Space, name string) string {
	dirs, _ := n.byRoot.Get(a.Files(sp.Dir), sp.Dir, func(f *snapshot.Files) (map[string]string, error) {
		dirs := make(map[string]string)
		for _, dir := range a.Members(f, sp) {
			if m, err := a.Read(f, dir); err == nil && m != nil && m.Name != "" {
				dirs[m.Name] = dir
			}
		}
		return dirs, nil
	})
	return dirs[name]
}
