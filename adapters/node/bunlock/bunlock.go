// Package bunlock reads bun.lock (https://bun.com/docs/pm/lockfile).
package bunlock

import (
	"errors"
	"fmt"
	"slices"
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
	root, err := jsonfile.ParseLoose(name, data)
	if err != nil {
		return nil, err
	}
	switch version := root.Get("lockfileVersion").Literal(); version {
	case "0", "1", "2":
	default:
		return nil, fmt.Errorf("bun lockfile version %q is not known", version)
	}
	r := &reader{lock: &lockfile.Lock{}, root: root}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.lock.Seal()
	return r.lock, nil
}

// reader builds a lock.
type reader struct {
	lock    *lockfile.Lock
	root    *jsonfile.Value
	nodes   map[string]lockgraph.Node // by key: the names that lead to it, with slashes
	patches map[string]string         // by "name@version"
	looked  int
}

func (r *reader) read() error {
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
		if len(p.Name) > maxPath {
			return fmt.Errorf("a path of %d bytes", len(p.Name))
		}
		r.nodes[p.Name] = r.add(p.Value)
	}
	for _, w := range workspaces {
		if err := r.link(r.lock.Member(w.Name), w.Value.Get("name").Text(), w.Value, true); err != nil {
			return err
		}
	}
	for _, p := range packages {
		if _, isMember := member(p.Value); isMember {
			continue
		}
		if err := r.link(r.nodes[p.Name], p.Name, info(p.Value), false); err != nil {
			return err
		}
	}
	r.shareTrust()
	return nil
}

// add adds a package: a list of its name with version, its origin, its dependencies and its
// digest. The origin is not hashed.
func (r *reader) add(v *jsonfile.Value) lockgraph.Node {
	if dir, ok := member(v); ok {
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

// member returns the directory of a package that is a member.
func member(v *jsonfile.Value) (dir string, ok bool) {
	if len(v.Items()) == 0 {
		return "", false
	}
	_, dir, ok = strings.Cut(v.Items()[0].Text(), "@workspace:")
	return dir, ok
}

// info returns the description of a package.
func info(v *jsonfile.Value) *jsonfile.Value {
	for _, item := range v.Items() {
		if item.Kind() == jsonfile.Object {
			return item
		}
	}
	return nil
}

func (r *reader) link(from lockgraph.Node, key string, v *jsonfile.Value, withDev bool) error {
	groups := []string{"dependencies", "optionalDependencies", "peerDependencies"}
	if withDev {
		groups = append(groups, "devDependencies")
	}
	for _, group := range groups {
		for _, d := range v.Get(group).Members() {
			to, ok := r.find(key, d.Name)
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

// find returns the package that name means for the package at from, the longest path first.
func (r *reader) find(from, name string) (lockgraph.Node, bool) {
	for ; from != "" && r.looked <= maxLooked; from = withoutLast(from) {
		key := from + "/" + name
		r.looked += len(key)
		if n, ok := r.nodes[key]; ok {
			return n, true
		}
	}
	n, ok := r.nodes[name]
	return n, ok
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
func (r *reader) shareTrust() {
	var names []string
	for _, item := range r.root.Get("trustedDependencies").Items() {
		names = append(names, item.Text())
	}
	slices.Sort(names)
	r.lock.Share(r.lock.Graph.Add(append([]string{"trusted"}, names...)...))
}
