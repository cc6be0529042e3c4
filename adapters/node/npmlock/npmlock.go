// Package npmlock reads package-lock.json and npm-shrinkwrap.json
// (https://docs.npmjs.com/cli/configuring-npm/package-lock-json).
package npmlock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters/node/lockfile"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// Bounds of resolving names, in bytes of paths.
const (
	maxPath   = 4 << 10
	maxLooked = 1 << 28
)

// Parse reads a lockfile. The error says why Parse cannot read it.
func Parse(name string, data []byte) (*lockfile.Lock, error) {
	root, err := jsonfile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{lock: &lockfile.Lock{}}
	switch version := root.Get("lockfileVersion").Literal(); version {
	case "1":
		r.nested(r.lock.Member(lockfile.Root), root)
	case "2", "3":
		err = r.flat(root.Get("packages"))
	default:
		err = fmt.Errorf("npm lockfile version %q is not known", version)
	}
	if err != nil {
		return nil, err
	}
	r.lock.Seal()
	return r.lock, nil
}

// reader builds a lock.
type reader struct {
	lock   *lockfile.Lock
	nodes  map[string]lockgraph.Node // by path
	looked int
}

// nested adds the packages of a lockfile of version 1, which has one member.
func (r *reader) nested(from lockgraph.Node, v *jsonfile.Value) {
	for _, m := range v.Get("dependencies").Members() {
		n := r.lock.Graph.Add("package", m.Name, m.Value.Get("version").Text(), source(m.Value))
		r.lock.Graph.Link(from, m.Name, n)
		r.nested(n, m.Value)
	}
}

// source returns the identity of the fetched package. The origin is not hashed if the digest is
// known.
func source(v *jsonfile.Value) string {
	if integrity := v.Get("integrity").Text(); integrity != "" {
		return integrity
	}
	return v.Get("resolved").Text()
}

// flat adds the packages of a lockfile from version 2 on: each once, by its install path.
func (r *reader) flat(packages *jsonfile.Value) error {
	r.nodes = make(map[string]lockgraph.Node, len(packages.Members()))
	for _, m := range packages.Members() {
		if len(m.Name) > maxPath {
			return fmt.Errorf("a path of %d bytes", len(m.Name))
		}
		if !m.Value.Get("link").IsTrue() {
			r.nodes[m.Name] = r.add(m)
		}
	}
	for _, m := range packages.Members() {
		if m.Value.Get("link").IsTrue() {
			r.nodes[m.Name] = r.target(m.Value.Get("resolved").Text())
		}
	}
	for _, m := range packages.Members() {
		if m.Value.Get("link").IsTrue() {
			continue
		}
		if err := r.depend(m); err != nil {
			return err
		}
	}
	return nil
}

func isInstalled(key string) bool {
	return strings.HasPrefix(key, "node_modules/") || strings.Contains(key, "/node_modules/")
}

func (r *reader) add(m jsonfile.Member) lockgraph.Node {
	if !isInstalled(m.Name) {
		return r.lock.Member(m.Name)
	}
	return r.lock.Graph.Add("package", m.Value.Get("name").Text(), m.Value.Get("version").Text(), source(m.Value))
}

// target returns the node that a link leads to.
func (r *reader) target(dir string) lockgraph.Node {
	if n, ok := r.nodes[dir]; ok {
		return n
	}
	return r.lock.Graph.Add("directory", dir)
}

func (r *reader) depend(m jsonfile.Member) error {
	from := r.nodes[m.Name]
	groups := []string{"dependencies", "optionalDependencies", "peerDependencies"}
	if !isInstalled(m.Name) {
		groups = append(groups, "devDependencies")
	}
	for _, group := range groups {
		for _, d := range m.Value.Get(group).Members() {
			to, ok := r.find(m.Name, d.Name)
			if r.looked > maxLooked {
				return errors.New("its paths are nested too deep")
			}
			if !ok {
				to = r.lock.Graph.Add("absent", d.Name)
			}
			r.lock.Graph.Link(from, d.Name, to)
		}
	}
	return nil
}

// find resolves a package as Node.js does: in the node_modules of each directory from its
// user's upwards.
func (r *reader) find(from, name string) (lockgraph.Node, bool) {
	for dir := from; dir != "" && r.looked <= maxLooked; {
		key := dir + "/node_modules/" + name
		r.looked += len(key)
		if n, ok := r.nodes[key]; ok {
			return n, true
		}
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	}
	n, ok := r.nodes["node_modules/"+name]
	return n, ok
}
