// Package denojson reads deno.json and deno.jsonc. Both are JSON with comments and trailing
// commas.
package denojson

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
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

	Tasks   []Entry
	Imports []Entry // the import map
	Links   []Entry // directories of packages that replace published ones
	Deno    Entry   // the required version of Deno

	// Workspace lists the members, nil when the file is not the root of a workspace.
	Workspace []string

	ImportMap   string // path of a file with the import map, absolute; "" for none
	Lock        string // path of the lockfile, absolute; "" when it is disabled
	NodeModules bool   // packages of npm are installed in node_modules
}

// Entry is a name with a text, and its place.
type Entry struct {
	Name  string
	Value string
	Line  int
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
	r := &reader{path: path, dir: filepath.Dir(path)}
	if root.Kind() != jsonfile.Object {
		r.wrong(root, filepath.Base(path), "an object")
		return nil, r.problems
	}
	c := &Config{Path: path, Exports: root.Get("exports").Kind() != 0}
	c.Exported = exported(root.Get("exports"))
	c.Name = r.text(root, "name").Value
	c.Deno = r.text(root, "deno")
	c.Tasks = r.tasks(root.Get("tasks"))
	c.Imports = r.entries(root.Get("imports"), "imports")
	if m := r.text(root, "importMap").Value; m != "" && !strings.Contains(m, "://") {
		c.ImportMap = r.resolve(m)
	}
	c.Workspace = r.members(root.Get("workspace"))
	c.Links = append(r.list(root.Get("links"), "links"), r.list(root.Get("patch"), "patch")...)
	c.Lock = r.lock(root.Get("lock"))
	mode := root.Get("nodeModulesDir")
	c.NodeModules = mode.IsTrue() || mode.Text() == "auto" || mode.Text() == "manual"
	if len(r.problems) > 0 {
		return nil, r.problems
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
func ParseImportMap(path string, data []byte) ([]Entry, error) {
	root, err := jsonfile.ParseLoose(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path}
	list := r.entries(root.Get("imports"), "imports")
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return list, nil
}

// ParseScripts reads the scripts of a package.json, without the test that "npm init"
// writes.
func ParseScripts(path string, data []byte) ([]Entry, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path}
	list := r.entries(root.Get("scripts"), "scripts")
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return slices.DeleteFunc(list, func(e Entry) bool {
		return adapters.IsStubTest(e.Name, e.Value)
	}), nil
}

// Task returns the task of that name, with Line 0 when it is missing.
func (c *Config) Task(name string) Entry {
	for _, t := range c.Tasks {
		if t.Name == name {
			return t
		}
	}
	return Entry{Name: name}
}

// reader collects the problems of a file.
type reader struct {
	path, dir string
	problems  diagnostics.Problems
}

func (r *reader) wrong(v *jsonfile.Value, name, want string) {
	r.problems = append(r.problems, v.Mistyped(r.path, name, want))
}

func (r *reader) resolve(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(r.dir, filepath.FromSlash(name))
}

func (r *reader) text(object *jsonfile.Value, name string) Entry {
	for _, m := range object.Members() {
		if m.Name != name || m.Value.Kind() == jsonfile.Null {
			continue
		}
		if m.Value.Kind() != jsonfile.String {
			r.wrong(m.Value, name, "a string")
		}
		return Entry{Name: name, Value: m.Value.Text(), Line: m.Line}
	}
	return Entry{Name: name}
}

func isAbsent(v *jsonfile.Value) bool { return v == nil || v.Kind() == jsonfile.Null }

// entries reads an optional object of strings; a null is mapped to "".
func (r *reader) entries(v *jsonfile.Value, name string) []Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.wrong(v, name, "an object of strings")
	}
	var list []Entry
	for _, m := range v.Members() {
		switch m.Value.Kind() {
		case jsonfile.String:
			list = append(list, Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line})
		case jsonfile.Null:
		default:
			r.wrong(m.Value, name+"."+m.Name, "a string")
		}
	}
	return list
}

// tasks reads commands, and objects with a command or with dependencies only.
func (r *reader) tasks(v *jsonfile.Value) []Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Object {
		r.wrong(v, "tasks", "an object of commands")
	}
	var list []Entry
	for _, m := range v.Members() {
		e := Entry{Name: m.Name, Value: m.Value.Text(), Line: m.Line}
		command := m.Value.Get("command")
		switch kind := m.Value.Kind(); {
		case kind == jsonfile.Object && (isAbsent(command) || command.Kind() == jsonfile.String):
			e.Value = command.Text()
		case kind == jsonfile.Object:
			r.wrong(command, "tasks."+m.Name+".command", "a string")
		case kind != jsonfile.String:
			r.wrong(m.Value, "tasks."+m.Name, "a command")
		}
		list = append(list, e)
	}
	return list
}

// list reads an optional list of strings.
func (r *reader) list(v *jsonfile.Value, name string) []Entry {
	if isAbsent(v) {
		return nil
	}
	if v.Kind() != jsonfile.Array {
		r.wrong(v, name, "a list of directories")
	}
	var list []Entry
	for _, item := range v.Items() {
		if item.Kind() != jsonfile.String {
			r.wrong(item, name, "a list of directories")
			continue
		}
		list = append(list, Entry{Value: item.Text(), Line: item.Line()})
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
