package lockfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// ParseBun reads bun.lock (https://bun.com/docs/pm/lockfile). The error says why it cannot be read.
func ParseBun(name string, data []byte) (*Lock, error) {
	root, err := jsonfile.ParseLoose(name, data)
	if err != nil {
		return nil, err
	}
	switch version := root.Get("lockfileVersion").Literal(); version {
	case "0", "1", "2":
	default:
		return nil, fmt.Errorf("bun lockfile version %q is not known", version)
	}
	r := &bunReader{tree: tree{lock: &Lock{}}, root: root}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.lock.Seal()
	return r.lock, nil
}

// bunReader builds a lock. The key of a package is the names that lead to it, with slashes.
type bunReader struct {
	tree
	root    *jsonfile.Value
	patches map[string]string // by "name@version"
}

func (r *bunReader) read() error {
	r.patches = make(map[string]string)
	for _, m := range r.root.Get("patchedDependencies").Members() {
		r.patches[m.Name] = m.Value.Text()
	}
	workspaces, packages := r.root.Get("workspaces").Members(), r.root.Get("packages").Members()
	for _, w := range workspaces {
		r.lock.Member(w.Name)
	}
	r.nodes = make(map[string]lockgraph.Node, len(packages))
	for _, p := range packages {
		if err := checkPath(p.Name); err != nil {
			return err
		}
		r.nodes[p.Name] = r.add(p.Value)
	}
	for _, w := range workspaces {
		if err := r.link(r.lock.Member(w.Name), w.Value.Get("name").Text(), w.Value, true); err != nil {
			return err
		}
	}
	for _, p := range packages {
		if _, isMember := bunMember(p.Value); isMember {
			continue
		}
		if err := r.link(r.nodes[p.Name], p.Name, bunInfo(p.Value), false); err != nil {
			return err
		}
	}
	r.shareTrust()
	return nil
}

// add adds a package: a list of its name with version, its origin, its dependencies and its
// digest. The origin is not hashed.
func (r *bunReader) add(v *jsonfile.Value) lockgraph.Node {
	if dir, ok := bunMember(v); ok {
		return r.lock.Member(dir)
	}
	parts := []string{"package"}
	for i, item := range v.Items() {
		if item.Kind() == jsonfile.String && (i != 1 || len(v.Items()) < 4) {
			parts = append(parts, item.Text())
		}
	}
	if len(parts) > 1 {
		parts = append(parts, r.patches[parts[1]])
	}
	return r.lock.Graph.Add(parts...)
}

// bunMember returns the directory of a package that is a member.
func bunMember(v *jsonfile.Value) (dir string, ok bool) {
	if len(v.Items()) == 0 {
		return "", false
	}
	_, dir, ok = strings.Cut(v.Items()[0].Text(), "@workspace:")
	return dir, ok
}

// bunInfo returns the description of a package.
func bunInfo(v *jsonfile.Value) *jsonfile.Value {
	for _, item := range v.Items() {
		if item.Kind() == jsonfile.Object {
			return item
		}
	}
	return nil
}

// link adds the dependencies of the package with a key.
func (r *bunReader) link(from lockgraph.Node, key string, v *jsonfile.Value, withDev bool) error {
	return r.depend(from, v, withDev, func(name string) (lockgraph.Node, bool) {
		for at := key; at != ""; at = withoutLast(at) { // the longest path first
			if n, ok := r.look(at + "/" + name); ok {
				return n, true
			}
		}
		return r.look(name)
	})
}

// withoutLast removes the last name, which contains a slash if it has a scope.
func withoutLast(key string) string {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return ""
	}
	if at := strings.LastIndexByte(key[:i], '/') + 1; key[at] == '@' {
		i = at - 1
	}
	return key[:max(i, 0)]
}

// shareTrust adds the packages whose scripts the install runs.
func (r *bunReader) shareTrust() {
	var names []string
	for _, item := range r.root.Get("trustedDependencies").Items() {
		names = append(names, item.Text())
	}
	slices.Sort(names)
	r.lock.Share(r.lock.Graph.Add(append([]string{"trusted"}, names...)...))
}
