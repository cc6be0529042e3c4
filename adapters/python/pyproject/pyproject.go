// Package pyproject reads what a Python project says of itself: pyproject.toml
// (https://packaging.python.org/specifications/pyproject-toml/) and its elder,
// setup.cfg.
//
// Of the tables that it reads, what has the wrong type is as good as absent: the
// build backend will complain.
package pyproject

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Project is what the files say. It does not change.
type Project struct {
	Path string // absolute, of pyproject.toml; "" when there is none

	HasBuildSystem bool   // the table [build-system]
	HasProject     bool   // the table [project]
	HasPoetry      bool   // the table [tool.poetry]
	Backend        string // "" means setuptools

	Dependencies   []requirements.Requirement
	Extras         []Group // optional dependencies
	Groups         []Group // dependency groups, with what they include
	RequiresPython Entry
	Sources        []requirements.Requirement // packages that uv takes from a path; pip does not know
	PoetryPaths    []requirements.Requirement // and those of poetry, of which its backend tells pip

	file   *tomlfile.File
	config ini // setup.cfg
}

// Entry is a text with its place; Line 0 means that there is none.
type Entry struct {
	Value string
	File  string // absolute
	Line  int    // 1-based
}

// Group is a named list of requirements.
type Group struct {
	Name         string
	Requirements []requirements.Requirement
	Poetry       bool // written in poetry's own form, which pip does not read
}

// Has tells whether a package is asked for by name.
func (g Group) Has(name string) bool { return has(g.Requirements, name) }

func has(list []requirements.Requirement, name string) bool {
	return slices.ContainsFunc(list, func(r requirements.Requirement) bool { return r.Name == name })
}

// Read reads the project in f's directory. The error of a pyproject.toml that is
// no TOML is a diagnostics.Problems with file, line and column.
func Read(f *adapters.Files) (*Project, error) {
	p := &Project{}
	data, err := f.ReadIfExists("setup.cfg")
	if err != nil {
		return nil, err
	}
	p.config = parseINI(data)
	p.readSetup(f)
	if data, err = f.ReadIfExists("pyproject.toml"); data == nil || err != nil {
		return p, err
	}
	p.Path = f.Path("pyproject.toml")
	file, problems := tomlfile.ParseManifest(p.Path, data)
	if len(problems) > 0 {
		return nil, diagnostics.Problems(problems)
	}
	p.file = file
	p.HasBuildSystem = p.Table("build-system")
	p.HasProject = p.Table("project")
	p.HasPoetry = p.Table("tool", "poetry")
	p.Backend = text(file.Lookup("build-system", "build-backend"))
	p.readProject(f)
	p.readGroups(f)
	p.readPaths(f)
	return p, nil
}

// Table tells whether pyproject.toml has a table under key.
func (p *Project) Table(key ...string) bool {
	return p.file != nil && p.file.Lookup(key...) != nil && p.file.Lookup(key...).Kind() == tomlfile.Table
}

// Text gives a string of pyproject.toml, "" when there is none.
func (p *Project) Text(key ...string) string {
	if p.file == nil {
		return ""
	}
	return text(p.file.Lookup(key...))
}

// Has tells whether pyproject.toml has anything under key.
func (p *Project) Has(key ...string) bool { return p.file != nil && p.file.Lookup(key...) != nil }

func text(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	s, _ := v.Text()
	return s
}

// list reads an array of requirements.
func list(f *adapters.Files, v *tomlfile.Value) []requirements.Requirement {
	if v == nil {
		return nil
	}
	var out []requirements.Requirement
	for _, e := range v.Elems() {
		// What begins like an option must never reach pip as one.
		if s, ok := e.Text(); ok && !strings.HasPrefix(strings.TrimSpace(s), "-") {
			out = append(out, at(requirements.Parse(s, f.Dir()), e.Pos()))
		}
	}
	return out
}

func at(r requirements.Requirement, pos tomlfile.Pos) requirements.Requirement {
	r.File, r.Line = pos.File, pos.Line
	return r
}

func (p *Project) readProject(f *adapters.Files) {
	p.Dependencies = append(p.Dependencies, list(f, p.file.Lookup("project", "dependencies"))...)
	if v := p.file.Lookup("project", "requires-python"); text(v) != "" {
		p.RequiresPython = Entry{Value: text(v), File: p.Path, Line: v.KeyPos().Line}
	} else if v := p.file.Lookup("tool", "poetry", "dependencies", "python"); text(v) != "" {
		p.RequiresPython = Entry{Value: text(v), File: p.Path, Line: v.KeyPos().Line}
	}
	if extras := p.file.Lookup("project", "optional-dependencies"); extras != nil {
		for _, name := range extras.Keys() {
			p.Extras = append(p.Extras, Group{Name: name, Requirements: list(f, extras.Child(name))})
		}
	}
}

// readGroups reads dependency groups (https://peps.python.org/pep-0735/), uv's
// older list and those of poetry.
func (p *Project) readGroups(f *adapters.Files) {
	if groups := p.file.Lookup("dependency-groups"); groups != nil {
		for _, name := range groups.Keys() {
			g := &groupReader{files: f, groups: groups, seen: make(map[string]bool)}
			g.read(name)
			p.Groups = append(p.Groups, Group{Name: name, Requirements: g.out})
		}
	}
	if dev := p.file.Lookup("tool", "uv", "dev-dependencies"); dev != nil {
		p.Groups = append(p.Groups, Group{Name: "dev", Requirements: list(f, dev)})
	}
	poetry := []*tomlfile.Value{p.file.Lookup("tool", "poetry", "dev-dependencies")}
	if groups := p.file.Lookup("tool", "poetry", "group"); groups != nil {
		for _, name := range groups.Keys() {
			poetry = append(poetry, p.file.Lookup("tool", "poetry", "group", name, "dependencies"))
		}
	}
	for _, table := range poetry {
		if table != nil {
			p.Groups = append(p.Groups, Group{Name: table.Path(), Poetry: true, Requirements: poetryTable(table)})
		}
	}
}

// groupReader expands {include-group = "other"}; each group once, so that groups
// which include each other come to an end.
type groupReader struct {
	files  *adapters.Files
	groups *tomlfile.Value
	seen   map[string]bool
	out    []requirements.Requirement
}

func (g *groupReader) read(name string) {
	if g.seen[requirements.Normalize(name)] {
		return
	}
	g.seen[requirements.Normalize(name)] = true
	for _, key := range g.groups.Keys() {
		if requirements.Normalize(key) != requirements.Normalize(name) {
			continue
		}
		array := g.groups.Child(key)
		g.out = append(g.out, list(g.files, array)...)
		for _, e := range array.Elems() {
			if other := text(e.Child("include-group")); other != "" {
				g.read(other)
			}
		}
	}
}

// poetryTable reads names only: the versions have a form of their own.
func poetryTable(table *tomlfile.Value) []requirements.Requirement {
	var out []requirements.Requirement
	for _, name := range table.Keys() {
		out = append(out, at(requirements.Requirement{Name: requirements.Normalize(name)}, table.Child(name).KeyPos()))
	}
	return out
}

// readPaths finds the packages that uv and poetry take from a directory.
func (p *Project) readPaths(f *adapters.Files) {
	p.Sources = paths(f, p.file.Lookup("tool", "uv", "sources"))
	p.PoetryPaths = paths(f, p.file.Lookup("tool", "poetry", "dependencies"))
	p.PoetryPaths = append(p.PoetryPaths, paths(f, p.file.Lookup("tool", "poetry", "dev-dependencies"))...)
	if groups := p.file.Lookup("tool", "poetry", "group"); groups != nil {
		for _, name := range groups.Keys() {
			p.PoetryPaths = append(p.PoetryPaths, paths(f, groups.Child(name).Child("dependencies"))...)
		}
	}
}

// paths reads a table of packages, of which some are like {path = "../lib"}.
func paths(f *adapters.Files, table *tomlfile.Value) []requirements.Requirement {
	if table == nil {
		return nil
	}
	var out []requirements.Requirement
	for _, name := range table.Keys() {
		v := table.Child(name)
		path := text(v.Child("path"))
		if path == "" || strings.ContainsAny(path, "{}$\x00") {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(f.Dir(), filepath.FromSlash(path))
		}
		r := requirements.Requirement{Text: path, Name: requirements.Normalize(name), Path: filepath.Clean(path)}
		out = append(out, at(r, v.KeyPos()))
	}
	return out
}
