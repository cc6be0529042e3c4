package node

import (
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// packageNames finds the members of workspaces by the names in their manifests. It keeps
// what it read for a second: reading all members for each member would be quadratic. A
// caller that depends on a manifest notes it itself.
type packageNames struct {
	mu     sync.Mutex
	byRoot map[string]*adapters.Moment[map[string]string]
}

// find returns the directory of the member with this name, or "".
func (n *packageNames) find(a *Adapter, sp *project.Space, name string) string {
	n.mu.Lock()
	if n.byRoot == nil {
		n.byRoot = make(map[string]*adapters.Moment[map[string]string])
	}
	seen := n.byRoot[sp.Dir]
	if seen == nil {
		seen = new(adapters.Moment[map[string]string])
		n.byRoot[sp.Dir] = seen
	}
	n.mu.Unlock()
	dirs, _ := seen.See(func() (map[string]string, error) {
		dirs := make(map[string]string)
		f := a.Files(sp.Dir)
		for _, dir := range a.Members(f, sp) {
			if m, err := a.Read(f, dir); err == nil && m != nil && m.Name != "" {
				dirs[m.Name] = dir
			}
		}
		return dirs, nil
	})
	return dirs[name]
}
