// Package packagejson reads package.json, with the lines of its entries. It refuses an
// entry of a wrong type: a tool would ignore it, and the project would seem to have no
// tasks.
package packagejson

import (
	"cmp"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Manifest is a parsed package.json. It does not change.
type Manifest struct {
	Path string // absolute
	Name string

	Scripts        []jsonfile.Entry
	Dependencies   []Dependency
	Injected       []string         // dependencies that are copied although they are members
	Overrides      []jsonfile.Entry // resolutions and overrides whose value is a text
	PackageManager jsonfile.Entry   // "npm@10.2.0+sha224.…"
	Engines        []jsonfile.Entry // by tool
	Volta          []jsonfile.Entry // by tool
	DevEngines     []DevEngine

	// Workspaces are the globs of the members, nil when missing.
	Workspaces []string

	// BuildOutputs are the outputs of the build in the configuration of Nx, with its variables.
	BuildOutputs []string

	// Open are globs of the files that other packages may read, see openFiles.
	Open []string

	// Shared is a digest of what the members of the workspace may read, if this is its root.
	Shared string

	// Hint reports whether the file only configures how tools read the files beside it ("type",
	// "main", "sideEffects"), and describes no project.
	Hint bool
}

// Group is the list of a dependency.
type Group string

// The groups, in the order of precedence when several hold a name.
const (
	Prod     Group = "dependencies"
	Optional Group = "optionalDependencies"
	Peer     Group = "peerDependencies"
	Dev      Group = "devDependencies"
)

// Dependency is one entry of a group.
type Dependency struct {
	jsonfile.Entry
	Group Group
}

// DevEngine is a tool that devEngines requires
// (https://docs.npmjs.com/cli/configuring-npm/package-json#devengines).
type DevEngine struct {
	jsonfile.Entry        // the range, "" for any
	Kind           string // "runtime", "packageManager"
	OnFail         string // "error" by default
}

// ParseManifest reads the package.json at path. The error is a diagnostics.Problems with
// file, line and column of each problem.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{jsonfile.Fields{Path: path}}
	m := &Manifest{Path: path}
	if root.Kind() != jsonfile.Object {
		r.Wrong(root, "package.json", "an object")
		return nil, r.Problems
	}
	m.Name = r.Text(root, "name").Value
	m.Open = openFiles(root)
	m.Hint, m.Shared = isHint(root), sharedDigest(root)
	for _, v := range root.Get("nx", "targets", "build", "outputs").Items() {
		m.BuildOutputs = append(m.BuildOutputs, v.Text())
	}
	m.Scripts = r.texts(root, "scripts")
	m.PackageManager = r.Text(root, "packageManager")
	m.Engines = r.engines(root)
	m.Volta = r.tools(root, "volta")
	m.DevEngines = devEngines(root.Get("devEngines"))
	m.Workspaces = r.workspaces(root.Get("workspaces"))
	for _, group := range []Group{Prod, Optional, Peer, Dev} {
		for _, e := range r.texts(root, string(group)) {
			m.Dependencies = append(m.Dependencies, Dependency{e, group})
		}
	}
	for _, d := range root.Get("dependenciesMeta").Members() {
		if d.Value.Get("injected").IsTrue() {
			m.Injected = append(m.Injected, d.Name)
		}
	}
	for _, v := range []*jsonfile.Value{root.Get("resolutions"), root.Get("overrides"), root.Get("pnpm", "overrides")} {
		m.Overrides = append(m.Overrides, entries(v)...)
	}
	if len(r.Problems) > 0 {
		return nil, r.Problems
	}
	return m, cmp.Or(
		diagnostics.Bounded(path, root.Get("scripts").Line(), "scripts", len(m.Scripts), adapters.MaxScripts),
		diagnostics.Bounded(path, root.Get("workspaces").Line(), "globs of workspaces", len(m.Workspaces), adapters.MaxMembers),
	)
}

// isHint reports whether all entries tell how to read the files of a directory. An empty
// manifest is none: tools write one for a new project.
func isHint(root *jsonfile.Value) bool {
	for _, m := range root.Members() {
		switch m.Name {
		case "type", "private", "main", "module", "browser", "exports", "imports", "types", "typings", "typesVersions", "sideEffects",
			"react-native", "unpkg", "jsdelivr", "description", "license", "comment", "//":
		default:
			return false
		}
	}
	return len(root.Members()) > 0
}

// reader reads a manifest.
type reader struct{ jsonfile.Fields }

// isEmpty reports whether v has no entries: some tools write [] for none.
func isEmpty(v *jsonfile.Value) bool {
	return v == nil || v.Kind() == jsonfile.Null || v.Kind() == jsonfile.Array && len(v.Items()) == 0
}

// texts reads an optional object of strings.
func (r *reader) texts(object *jsonfile.Value, name string) []jsonfile.Entry {
	v := object.Get(name)
	if isEmpty(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.Wrong(v, name, "an object of strings")
		return nil
	}
	for _, m := range v.Members() {
		if m.Value.Kind() != jsonfile.String {
			r.Wrong(m.Value, name+"."+m.Name, "a string")
		}
	}
	return entries(v)
}

// entries returns the strings of an object.
func entries(object *jsonfile.Value) []jsonfile.Entry {
	list := make([]jsonfile.Entry, 0, len(object.Members()))
	for _, m := range object.Members() {
		if m.Value.Kind() == jsonfile.String {
			list = append(list, jsonfile.Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// tools reads an object by tool; the values of unknown tools may have any type.
func (r *reader) tools(root *jsonfile.Value, name string) []jsonfile.Entry {
	v := root.Get(name)
	if isEmpty(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.Wrong(v, name, "an object")
		return nil
	}
	for _, m := range v.Members() {
		switch m.Name {
		case "node", "npm", "pnpm", "yarn", "bun":
			if m.Value.Kind() != jsonfile.String {
				r.Wrong(m.Value, name+"."+m.Name, "a string")
			}
		}
	}
	return entries(v)
}

// engines reads "engines", which in old packages is a list that every tool ignores.
func (r *reader) engines(root *jsonfile.Value) []jsonfile.Entry {
	if root.Get("engines").Kind() == jsonfile.Array {
		return nil
	}
	return r.tools(root, "engines")
}

func devEngines(v *jsonfile.Value) []DevEngine {
	var list []DevEngine
	for _, kind := range []string{"runtime", "packageManager"} {
		entries := v.Get(kind).Items()
		if one := v.Get(kind); one.Kind() == jsonfile.Object {
			entries = []*jsonfile.Value{one}
		}
		for _, e := range entries {
			d := DevEngine{Kind: kind, OnFail: e.Get("onFail").Text()}
			d.Name, d.Value, d.Line = e.Get("name").Text(), e.Get("version").Text(), e.Line()
			if d.OnFail == "" {
				d.OnFail = "error"
			}
			list = append(list, d)
		}
	}
	return list
}

// workspaces reads both forms, a list and an object with a list.
func (r *reader) workspaces(v *jsonfile.Value) []string {
	const want = "a list of globs"
	name := "workspaces"
	if v.Kind() == jsonfile.Object {
		if v, name = v.Get("packages"), "workspaces.packages"; v == nil {
			return nil
		}
	}
	if v != nil && v.Kind() != jsonfile.Array && v.Kind() != jsonfile.Null {
		r.Wrong(v, name, want)
		return nil
	}
	var globs []string
	for _, item := range v.Items() {
		if item.Kind() != jsonfile.String {
			r.Wrong(item, name, want)
		} else if item.Text() != "" {
			globs = append(globs, item.Text())
		}
	}
	return globs
}

// Script returns the script of that name, with Line 0 when it is missing.
func (m *Manifest) Script(name string) jsonfile.Entry { return jsonfile.Find(m.Scripts, name) }

// Engine returns the version of a tool in "engines", with Line 0 when it is missing.
func (m *Manifest) Engine(tool string) jsonfile.Entry { return jsonfile.Find(m.Engines, tool) }

// VoltaPin returns the version of a tool in "volta", with Line 0 when it is missing.
func (m *Manifest) VoltaPin(tool string) jsonfile.Entry { return jsonfile.Find(m.Volta, tool) }

// Depends returns the first dependency on name, in the order of the groups; ok is false
// when it is missing.
func (m *Manifest) Depends(name string) (d Dependency, ok bool) {
	for _, d := range m.Dependencies {
		if d.Name == name {
			return d, true
		}
	}
	return Dependency{}, false
}

// Manager returns name and version of the field packageManager, without the digest that may
// follow; both are empty when the field is missing.
func (m *Manifest) Manager() (name, version string) {
	name, version, _ = strings.Cut(m.PackageManager.Value, "@")
	version, _, _ = strings.Cut(version, "+")
	return strings.TrimSpace(name), strings.TrimSpace(version)
}
