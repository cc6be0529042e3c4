// Package denojson reads deno.json and deno.jsonc. Both are JSON with comments and trailing
// commas.
package denojson

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Config is a parsed deno.json. It does not change.
type Config struct {
	Path string // absolute
	Name string
	// Exports reports whether the directory is a package of its own.
	Exports bool
	// Exported are the paths of the modules that others import, as written.
	Exported []string

	Tasks   []jsonfile.Entry
	Imports []jsonfile.Entry // the import map
	Links   []jsonfile.Entry // directories of packages that replace published ones
	Deno    jsonfile.Entry   // the required version of Deno

	// Workspace lists the members, nil when the file is not the root of a workspace.
	Workspace []string

	ImportMap   string // path of a file with the import map, absolute; "" for none
	Lock        string // path of the lockfile, absolute; "" when it is disabled
	NodeModules bool   // packages of npm are installed in node_modules
}

// Parse reads the file at path; deno accepts one that is blank. The error is a diagnostics.Problems
// with a place for each problem.
func Parse(path string, data []byte) (*Config, error) {
	if jsonfile.IsBlank(data) {
		data = []byte("{}")
	}
	root, err := jsonfile.ParseLoose(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{jsonfile.Fields{Path: path}, filepath.Dir(path)}
	if root.Kind() != jsonfile.Object {
		r.Wrong(root, filepath.Base(path), "an object")
		return nil, r.Problems
	}
	c := &Config{Path: path, Exports: root.Get("exports").Kind() != 0}
	c.Exported = exported(root.Get("exports"))
	c.Name = r.Text(root, "name").Value
	c.Deno = r.Text(root, "deno")
	c.Tasks = r.tasks(root.Get("tasks"))
	c.Imports = r.entries(root.Get("imports"), "imports")
	if m := r.Text(root, "importMap").Value; m != "" && !strings.Contains(m, "://") {
		c.ImportMap = r.resolve(m)
	}
	c.Workspace = r.members(root.Get("workspace"))
	c.Links = append(r.list(root.Get("links"), "links"), r.list(root.Get("patch"), "patch")...)
	c.Lock = r.lock(root.Get("lock"))
	mode := root.Get("nodeModulesDir")
	c.NodeModules = mode.IsTrue() || mode.Text() == "auto" || mode.Text() == "manual"
	if len(r.Problems) > 0 {
		return nil, r.Problems
	}
	return c, cmp.Or(
		diagnostics.Bounded(path, root.Get("workspace").Line(), "members", len(c.Workspace), adapters.MaxMembers),
		diagnostics.Bounded(path, root.Get("tasks").Line(), "tasks", len(c.Tasks), adapters.MaxScripts),
	)
}

// exported returns the paths in a value of "exports": one, or one a name.
func exported(v *jsonfile.Value) []string {
	if v.Kind() != jsonfile.Object {
		return []string{v.Text()}
	}
	var paths []string
	for _, m := range v.Members() {
		paths = append(paths, m.Value.Text())
	}
	return paths
}

// ParseImportMap reads a file that holds only an import map.
func ParseImportMap(path string, data []byte) ([]jsonfile.Entry, error) {
	root, err := jsonfile.ParseLoose(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{Fields: jsonfile.Fields{Path: path}}
	list := r.entries(root.Get("imports"), "imports")
	if len(r.Problems) > 0 {
		return nil, r.Problems
	}
	return list, nil
}

// ParseScripts reads the scripts of a package.json, without the test that "npm init"
// writes.
func ParseScripts(path string, data []byte) ([]jsonfile.Entry, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{Fields: jsonfile.Fields{Path: path}}
	list := r.entries(root.Get("scripts"), "scripts")
	if len(r.Problems) > 0 {
		return nil, r.Problems
	}
	return slices.DeleteFunc(list, func(e jsonfile.Entry) bool {
		return snapshot.IsStubTest(e.Name, e.Value)
	}), nil
}

// Task returns the task of that name, with Line 0 when it is missing.
func (c *Config) Task(name string) jsonfile.Entry {
	return jsonfile.Find(c.Tasks, name)
}

// reader reads a file in dir.
type reader struct {
	jsonfile.Fields
	dir string
}

func (r *reader) resolve(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(r.dir, filepath.FromSlash(name))
}

func isAbsent(v *jsonfile.Value) bool { return v == nil || v.Kind() == jsonfile.Null }

// entries reads an optional object of strings; a null is mapped to "".
func (r *reader) entries(v *jsonfile.Value, name string) []jsonfile.Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.Wrong(v, name, "an object of strings")
	}
	var list []jsonfile.Entry
	for _, m := range v.Members() {
		switch m.Value.Kind() {
		case jsonfile.String:
			list = append(list, jsonfile.Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line})
		case jsonfile.Null:
		default:
			r.Wrong(m.Value, name+"."+m.Name, "a string")
		}
	}
	return list
}

// tasks reads commands, and objects with a command or with dependencies only.
func (r *reader) tasks(v *jsonfile.Value) []jsonfile.Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.Wrong(v, "tasks", "an object of commands")
	}
	var list []jsonfile.Entry
	for _, m := range v.Members() {
		e := jsonfile.Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line}
		command := m.Value.Get("command")
		switch kind := m.Value.Kind(); {
		case kind == jsonfile.Object && (isAbsent(command) || command.Kind() == jsonfile.String):
			e.Value = command.Text()
		case kind == jsonfile.Object:
			r.Wrong(command, "tasks."+m.Name+".command", "a string")
		case kind != jsonfile.String:
			r.Wrong(m.Value, "tasks."+m.Name, "a command")
		}
		list = append(list, e)
	}
	return list
}

// list reads an optional list of strings.
func (r *reader) list(v *jsonfile.Value, name string) []jsonfile.Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Array {
		r.Wrong(v, name, "a list of directories")
	}
	var list []jsonfile.Entry
	for _, item := range v.Items() {
		if item.Kind() != jsonfile.String {
			r.Wrong(item, name, "a list of directories")
			continue
		}
		list = append(list, jsonfile.Entry{Value: item.Text(), Line: item.Line()})
	}
	return list
}

// members reads both forms, a list and an object with a list.
func (r *reader) members(v *jsonfile.Value) []string {
	name := "workspace"
	if v.Kind() == jsonfile.Object {
		v, name = v.Get("members"), "workspace.members"
	}
	var members []string
	for _, e := range r.list(v, name) {
		members = append(members, e.Value)
	}
	return members
}

// lock reads the path of the lockfile: false, a path, or an object with a path.
func (r *reader) lock(v *jsonfile.Value) string {
	if v.Kind() == jsonfile.Object {
		v = v.Get("path")
	}
	switch {
	case v.Kind() == jsonfile.Bool && !v.IsTrue():
		return ""
	case v.Text() != "":
		return r.resolve(v.Text())
	}
	return r.resolve("deno.lock")
}
