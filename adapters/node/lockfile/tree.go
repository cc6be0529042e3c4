package lockfile

import (
	"errors"
	"fmt"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// Bounds of resolving names, in bytes of paths.
const (
	maxPath   = 4 << 10
	maxLooked = 1 << 28
)

// tree builds a lock of packages that are found by the path of their user.
type tree struct {
	lock   *Lock
	nodes  map[string]lockgraph.Node // by key
	looked int
}

func checkPath(key string) error {
	if len(key) > maxPath {
		return fmt.Errorf("a path of %d bytes", len(key))
	}
	return nil
}

// look returns the package with a key. Beyond maxLooked it finds none.
func (t *tree) look(key string) (lockgraph.Node, bool) {
	if t.looked > maxLooked {
		return 0, false
	}
	t.looked += len(key)
	n, ok := t.nodes[key]
	return n, ok
}

// depend links a package to its dependencies, which find resolves.
func (t *tree) depend(from lockgraph.Node, v *jsonfile.Value, withDev bool, find func(name string) (lockgraph.Node, bool)) error {
	groups := []string{"dependencies", "optionalDependencies", "peerDependencies"}
	if withDev {
		groups = append(groups, "devDependencies")
	}
	for _, group := range groups {
		for _, d := range v.Get(group).Members() {
			to, ok := find(d.Name)
			if t.looked > maxLooked {
				return errors.New("its paths are nested too deep")
			}
			if !ok {
				to = t.lock.Graph.Add("absent", d.Name)
			}
			t.lock.Graph.Link(from, d.Name, to)
		}
	}
	return nil
}
