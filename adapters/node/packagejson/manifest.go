// Package packagejson reads package.json, and the JSON of its neighbours, with
// the line of everything that another project can be told about.
//
// It is as lenient as npm is: what has the wrong type is as good as absent.
package packagejson

import (
	"fmt"
	"strings"
)

// Manifest is what a package.json says. It does not change.
type Manifest struct {
	Path string // absolute
	Name string

	Scripts        []Entry
	Dependencies   []Dependency
	PackageManager Entry // "npm@10.2.0+sha224.…"
	Node           Entry // engines.node
	NPM            Entry // engines.npm
	Volta          Entry // volta.node

	// Workspaces are the globs of the members, nil when there are none.
	Workspaces []string
}

// Entry is a name with a text, and where it stands.
type Entry struct {
	Name  string
	Value string
	Line  int // 1-based, 0 for an absent entry
}

// Group is the list in which a dependency stands.
type Group string

// The groups, in the order of precedence when a name stands in several.
const (
	Prod     Group = "dependencies"
	Optional Group = "optionalDependencies"
	Peer     Group = "peerDependencies"
	Dev      Group = "devDependencies"
)

// Dependency is one entry of a group.
type Dependency struct {
	Entry
	Group Group
}

// ParseManifest reads the package.json at path. The error is a
// diagnostics.Problems with file, line and column.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	root, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	if root.Kind() != Object {
		return nil, syntaxError(path, data, 0, "expected an object")
	}
	m := &Manifest{
		Path:           path,
		Name:           root.Get("name").Text(),
		Scripts:        entries(root.Get("scripts")),
		PackageManager: entry(root, "packageManager"),
		Node:           entry(root.Get("engines"), "node"),
		NPM:            entry(root.Get("engines"), "npm"),
		Volta:          entry(root.Get("volta"), "node"),
		Workspaces:     workspaces(root.Get("workspaces")),
	}
	for _, group := range []Group{Prod, Optional, Peer, Dev} {
		for _, e := range entries(root.Get(string(group))) {
			m.Dependencies = append(m.Dependencies, Dependency{e, group})
		}
	}
	return m, nil
}

func entry(object *Value, name string) Entry {
	for _, m := range object.Members() {
		if m.Name == name && m.Value.Kind() == String {
			return Entry{Name: name, Value: m.Value.Text(), Line: m.Line}
		}
	}
	return Entry{Name: name}
}

func entries(object *Value) []Entry {
	var list []Entry
	for _, m := range object.Members() {
		if m.Value.Kind() == String {
			list = append(list, Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line})
		}
	}
	return list
}

// workspaces reads both forms, a list and yarn's object with a list.
func workspaces(v *Value) []string {
	if v.Kind() == Object {
		v = v.Get("packages")
	}
	var globs []string
	for _, item := range v.Items() {
		if text := item.Text(); text != "" {
			globs = append(globs, text)
		}
	}
	return globs
}

// Script gives the script of that name, with Line 0 when there is none.
func (m *Manifest) Script(name string) Entry {
	for _, s := range m.Scripts {
		if s.Name == name {
			return s
		}
	}
	return Entry{Name: name}
}

// Depends gives the first dependency on name, in the order of the groups; ok is
// false when there is none.
func (m *Manifest) Depends(name string) (d Dependency, ok bool) {
	for _, d := range m.Dependencies {
		if d.Name == name {
			return d, true
		}
	}
	return Dependency{}, false
}

// Manager gives name and version of the field packageManager, without the digest
// that may follow; both are empty when there is no such field.
func (m *Manifest) Manager() (name, version string) {
	name, version, _ = strings.Cut(m.PackageManager.Value, "@")
	version, _, _ = strings.Cut(version, "+")
	return strings.TrimSpace(name), version
}

// At says where an entry stands, for messages.
func (m *Manifest) At(e Entry) string { return fmt.Sprintf("%s:%d", m.Path, e.Line) }
