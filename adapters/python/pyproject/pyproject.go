// Package pyproject reads the manifests of a Python project: pyproject.toml
// (https://packaging.python.org/specifications/pyproject-toml/) and the older setup.cfg.
//
// It ignores values of a wrong type: the build backend reports them.
package pyproject

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Project is the parsed manifests. It does not change.
type Project struct {
	Path string // absolute, of pyproject.toml; "" when missing

	HasBuildSystem bool   // the table [build-system]
	HasProject     bool   // the table [project]
	HasPoetry      bool   // the table [tool.poetry]
	Backend        string // "" means setuptools

	Name           string // normalized, "" when missing
	Dependencies   []requirements.Requirement
	Extras         []Group // optional dependencies
	Groups         []Group // dependency groups, with included ones; those of poetry too
	RequiresPython Entry
	Sources        []requirements.Requirement // packages that uv takes from a path; pip ignores them
	Siblings       []requirements.Requirement // packages that uv takes from the workspace
	Poetry         []requirements.Requirement // the dependencies in poetry's own form: names and paths

	file   *tomlfile.File
	config ini // setup.cfg
}

// Entry is a text with its place; Line 0 means that it is missing.
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
	Optional     bool // installed only on request
}

// Has reports whether the group requires a package.
func (g Group) Has(name string) bool { return has(g.Requirements, name) }

func has(list []requirements.Requirement, name string) bool {
	return slices.ContainsFunc(list, func(r requirements.Requirement) bool { return r.Name == name })
}

// Preferred returns the group that requires a package, or nil. Of several groups it prefers
// one named after the package or development.
func Preferred(groups []Group, name string) *Group {
	var best *Group
	bestRank := 0
	for i := range groups {
		g := &groups[i]
		rank := 1 + slices.Index([]string{"dev", "development", "lint", "tests", "testing", "test", name}, g.Name)
		if g.Has(name) && (best == nil || rank > bestRank) {
			best, bestRank = g, rank
		}
	}
	return best
}

// Read reads the project in f's directory. The error of a malformed pyproject.toml is a
// diagnostics.Problems with file, line and column.
func Read(f *snapshot.Files) (*Project, error) {
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
	if err := p.bounded(); err != nil {
		return nil, err
	}
	p.HasBuildSystem = p.Table("build-system")
	p.HasProject = p.Table("project")
	p.HasPoetry = p.Table("tool", "poetry")
	p.Backend = text(file.Lookup("build-system", "build-backend"))
	p.Name = requirements.Normalize(cmp.Or(p.Text("project", "name"), p.Text("tool", "poetry", "name")))
	p.readProject(f)
	if err := p.readGroups(f); err != nil {
		return nil, err
	}
	p.readPoetry(f)
	p.Sources, p.Siblings = sources(f, file.Lookup("tool", "uv", "sources"))
	return p, nil
}

// bounded refuses lists that are too long: each entry is compared with every directory of
// the workspace.
func (p *Project) bounded() error {
	for _, list := range []string{"members", "exclude"} {
		globs := p.List("tool", "uv", "workspace", list)
		if len(globs) == 0 {
			continue
		}
		if err := diagnostics.Bounded(p.Path, globs[0].Line, "globs of "+list, len(globs), adapters.MaxMembers); err != nil {
			return err
		}
	}
	return nil
}

// Manifests returns the names of the files with a project's requirements.
func Manifests() []string { return []string{"pyproject.toml", "setup.cfg", "setup.py"} }

// UsesSetuptools reports whether the build system, if any, is setuptools, which leaves
// directories behind.
func (p *Project) UsesSetuptools() bool {
	return p.Backend == "" || strings.HasPrefix(p.Backend, "setuptools")
}

// Wraps returns the families of which the build system builds a project beside pyproject.toml into
// its own package: cargo's with maturin and setuptools-rust.
func (p *Project) Wraps() []string {
	rust := strings.HasPrefix(p.Backend, "maturin") || p.Table("tool", "setuptools-rust")
	for _, e := range p.List("build-system", "requires") {
		name := requirements.Normalize(e.Value)
		rust = rust || strings.HasPrefix(name, "setuptools-rust") || strings.HasPrefix(name, "maturin")
	}
	if rust {
		return []string{"cargo"}
	}
	return nil
}

// SetuptoolsOutputs returns globs of what setuptools writes among the sources. Bento
// removes outputs before the next build: setuptools would put removed modules into the
// wheel.
func SetuptoolsOutputs() []string {
	return []string{"build/lib/**", "build/lib.*/**", "build/bdist.*/**", "build/temp.*/**"}
}

// Table reports whether pyproject.toml has a table under key.
func (p *Project) Table(key ...string) bool {
	return p.file != nil && p.file.Lookup(key...) != nil && p.file.Lookup(key...).Kind() == tomlfile.Table
}

// Text returns a string of pyproject.toml, or "".
func (p *Project) Text(key ...string) string {
	if p.file == nil {
		return ""
	}
	return text(p.file.Lookup(key...))
}

// List returns the strings of an array of pyproject.toml.
func (p *Project) List(key ...string) []Entry {
	if p.file == nil || p.file.Lookup(key...) == nil {
		return nil
	}
	var out []Entry
	for _, e := range p.file.Lookup(key...).Elems() {
		if s, ok := e.Text(); ok {
			out = append(out, Entry{Value: s, File: p.Path, Line: e.Pos().Line})
		}
	}
	return out
}

// crates returns the directories of the Rust packages that the build compiles, as maturin and
// setuptools-rust name them, other than that of the project.
func (p *Project) crates() []Entry {
	if p.file == nil {
		return nil
	}
	values := []*tomlfile.Value{p.file.Lookup("tool", "maturin", "manifest-path")}
	for _, list := range []string{"ext-modules", "bins"} {
		if modules := p.file.Lookup("tool", "setuptools-rust", list); modules != nil {
			for _, m := range modules.Elems() {
				values = append(values, m.Child("path"))
			}
		}
	}
	var out []Entry
	for _, v := range values {
		if v == nil {
			continue
		}
		path, ok := v.Text()
		if dir := filepath.Dir(filepath.Join(filepath.Dir(p.Path), filepath.FromSlash(path))); ok && path != "" && dir != filepath.Dir(p.Path) {
			out = append(out, Entry{Value: dir, File: p.Path, Line: v.Pos().Line})
		}
	}
	return out
}

// Links returns the links to the Rust packages that the build compiles.
func (p *Project) Links() []adapters.Link {
	var links []adapters.Link
	for _, c := range p.crates() {
		links = append(links, adapters.Link{Dir: c.Value, File: c.File, Line: c.Line})
	}
	return links
}

// Flag returns a boolean of pyproject.toml, and whether it is set.
func (p *Project) Flag(key ...string) (value, ok bool) {
	if p.file == nil || p.file.Lookup(key...) == nil {
		return false, false
	}
	value, ok = p.file.Lookup(key...).Any().(bool)
	return value, ok
}

// Keys returns the keys of a table of pyproject.toml in their order.
func (p *Project) Keys(key ...string) []string {
	if p.file == nil || p.file.Lookup(key...) == nil {
		return nil
	}
	return p.file.Lookup(key...).Keys()
}

// Has reports whether pyproject.toml has a value under key.
func (p *Project) Has(key ...string) bool { return p.file != nil && p.file.Lookup(key...) != nil }

func text(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	s, _ := v.Text()
	return s
}

// list reads an array of requirements.
func list(f *snapshot.Files, v *tomlfile.Value) []requirements.Requirement {
	if v == nil {
		return nil
	}
	var out []requirements.Requirement
	for _, e := range v.Elems() {
		// A requirement that begins like an option must never reach pip.
		if s, ok := e.Text(); ok && !strings.HasPrefix(strings.TrimSpace(s), "-") {
			out = append(out, at(requirements.Parse(s, f.Dir()), e.Pos()))
		}
	}
	return out
}

func at(r requirements.Requirement, pos diagnostics.Pos) requirements.Requirement {
	r.File, r.Line = pos.File, pos.Line
	return r
}

func (p *Project) readProject(f *snapshot.Files) {
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
