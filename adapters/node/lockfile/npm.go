package lockfile

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// ParseNPM reads package-lock.json and npm-shrinkwrap.json
// (https://docs.npmjs.com/cli/configuring-npm/package-lock-json). The error says why they cannot be read.
func ParseNPM(name string, data []byte) (*Lock, error) {
	root, err := jsonfile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &npmReader{tree{lock: &Lock{}}}
	switch version := root.Get("lockfileVersion").Literal(); version {
	case "1":
		r.nested(r.lock.Member(Root), root)
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

// npmReader builds a lock. The key of a package is its install path.
type npmReader struct{ tree }

// nested adds the packages of a lockfile of version 1, which has one member.
func (r *npmReader) nested(from lockgraph.Node, v *jsonfile.Value) {
	for _, m := range v.Get("dependencies").Members() {
		n := r.lock.Graph.Add("package", m.Name, m.Value.Get("version").Text(), npmSource(m.Value))
		r.lock.Graph.Link(from, m.Name, n)
		r.nested(n, m.Value)
	}
}

func npmSource(v *jsonfile.Value) string {
	return source(v.Get("integrity").Text(), v.Get("resolved").Text())
}

// flat adds the packages of a lockfile from version 2 on: each once, by its install path.
func (r *npmReader) flat(packages *jsonfile.Value) error {
	r.nodes = make(map[string]lockgraph.Node, len(packages.Members()))
	for _, m := range packages.Members() {
		if err := checkPath(m.Name); err != nil {
			return err
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
		if err := r.link(m); err != nil {
			return err
		}
	}
	return nil
}

func isInstalled(key string) bool {
	return strings.HasPrefix(key, "node_modules/") || strings.Contains(key, "/node_modules/")
}

func (r *npmReader) add(m jsonfile.Member) lockgraph.Node {
	if !isInstalled(m.Name) {
		return r.lock.Member(m.Name)
	}
	return r.lock.Graph.Add("package", m.Value.Get("name").Text(), m.Value.Get("version").Text(), npmSource(m.Value))
}

// target returns the node that a link leads to.
func (r *npmReader) target(dir string) lockgraph.Node {
	if n, ok := r.nodes[dir]; ok {
		return n
	}
	return r.lock.Graph.Add("directory", dir)
}

// link adds the dependencies of a package. Node.js resolves them in the node_modules of each directory from
// the package's upwards.
func (r *npmReader) link(m jsonfile.Member) error {
	return r.depend(r.nodes[m.Name], m.Value, !isInstalled(m.Name), func(name string) (lockgraph.Node, bool) {
		for dir := m.Name; dir != ""; dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)] {
			if n, ok := r.look(dir + "/node_modules/" + name); ok {
				return n, true
			}
		}
		return r.look("node_modules/" + name)
	})
}
