package pyproject

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// readGroups reads dependency groups (https://peps.python.org/pep-0735/) and uv's
// older list.
func (p *Project) readGroups(f *snapshot.Files) error {
	if groups := p.file.Lookup("dependency-groups"); groups != nil {
		g := newGroupReader(f, groups)
		for _, name := range groups.Keys() {
			optional, _ := p.Flag("tool", "poetry", "group", name, "optional")
			p.Groups = append(p.Groups, Group{Name: name, Requirements: g.of(name), Optional: optional})
			if err := diagnostics.Bounded(p.Path, groups.Child(name).KeyPos().Line, "requirements of dependency groups, with what they include", g.steps, adapters.MaxIncluded); err != nil {
				return err
			}
		}
	}
	if dev := p.file.Lookup("tool", "uv", "dev-dependencies"); dev != nil {
		p.Groups = append(p.Groups, Group{Name: "dev", Requirements: list(f, dev)})
	}
	return nil
}

// groupReader expands {include-group = "other"}. It reads each group once, so that a cycle
// of includes ends.
type groupReader struct {
	written map[string][]written // by the normalized name
	steps   int                  // requirements and includes so far, of all groups
	seen    map[string]bool
	out     []requirements.Requirement
}

// written is a group before includes are expanded.
type written struct {
	own      []requirements.Requirement
	includes []string // normalized
}

func newGroupReader(f *snapshot.Files, groups *tomlfile.Value) *groupReader {
	g := &groupReader{written: make(map[string][]written)}
	for _, key := range groups.Keys() {
		array := groups.Child(key)
		w := written{own: list(f, array)}
		for _, e := range array.Elems() {
			if other := text(e.Child("include-group")); other != "" {
				w.includes = append(w.includes, requirements.Normalize(other))
			}
		}
		name := requirements.Normalize(key)
		g.written[name] = append(g.written[name], w)
	}
	return g
}

// of returns the requirements of a group, followed by those of included groups.
func (g *groupReader) of(name string) []requirements.Requirement {
	g.seen, g.out = make(map[string]bool), nil
	g.read(requirements.Normalize(name))
	return g.out
}

func (g *groupReader) read(name string) {
	if g.seen[name] || g.steps > adapters.MaxIncluded {
		return
	}
	g.seen[name] = true
	for _, w := range g.written[name] {
		g.steps += len(w.own) + len(w.includes)
		g.out = append(g.out, w.own...)
		for _, other := range w.includes {
			g.read(other)
		}
	}
}

// readPoetry reads dependencies and groups in poetry's own form
// (https://python-poetry.org/docs/pyproject/).
func (p *Project) readPoetry(f *snapshot.Files) {
	p.Poetry = poetryTable(f, p.file.Lookup("tool", "poetry", "dependencies"))
	if dev := p.file.Lookup("tool", "poetry", "dev-dependencies"); dev != nil {
		p.Groups = append(p.Groups, Group{Name: "dev", Poetry: true, Requirements: poetryTable(f, dev)})
	}
	groups := p.file.Lookup("tool", "poetry", "group")
	if groups == nil {
		return
	}
	for _, name := range groups.Keys() {
		if table := groups.Child(name).Child("dependencies"); table != nil {
			optional, _ := p.Flag("tool", "poetry", "group", name, "optional")
			p.Groups = append(p.Groups, Group{Name: name, Poetry: true, Optional: optional, Requirements: poetryTable(f, table)})
		}
	}
}

// poetryTable reads names and paths only: the versions have their own form.
func poetryTable(f *snapshot.Files, table *tomlfile.Value) []requirements.Requirement {
	if table == nil {
		return nil
	}
	var out []requirements.Requirement
	for _, name := range table.Keys() {
		v := table.Child(name)
		r := requirements.Requirement{Name: requirements.Normalize(name)}
		for _, one := range oneOrMore(v) {
			if r.Path = localPath(f, one); r.Path != "" {
				r.Text = r.Path
				break
			}
		}
		if r.Name != "python" {
			out = append(out, at(r, v.KeyPos()))
		}
	}
	return out
}

// sources reads uv's table of sources
// (https://docs.astral.sh/uv/concepts/projects/dependencies/#dependency-sources).
func sources(f *snapshot.Files, table *tomlfile.Value) (paths, siblings []requirements.Requirement) {
	if table == nil {
		return nil, nil
	}
	for _, name := range table.Keys() {
		v := table.Child(name)
		for _, one := range oneOrMore(v) {
			r := at(requirements.Requirement{Name: requirements.Normalize(name)}, v.KeyPos())
			editable, set := flag(one.Child("editable"))
			if one.Child("workspace") != nil && one.Child("workspace").Any() == true {
				r.Editable = editable || !set
				siblings = append(siblings, r)
			} else if r.Path = localPath(f, one); r.Path != "" {
				r.Text, r.Editable = r.Path, editable
				paths = append(paths, r)
			}
		}
	}
	return paths, siblings
}

// flag returns a boolean, and whether it is set.
func flag(v *tomlfile.Value) (value, set bool) {
	if v == nil {
		return false, false
	}
	value, set = v.Any().(bool)
	return value, set
}

// oneOrMore returns the elements of an array, or else v itself: a package may have several
// sources for several platforms.
func oneOrMore(v *tomlfile.Value) []*tomlfile.Value {
	if v.Kind() == tomlfile.Array {
		return v.Elems()
	}
	return []*tomlfile.Value{v}
}

// localPath returns the path of a source such as {path = "../lib"}, or "".
func localPath(f *snapshot.Files, v *tomlfile.Value) string {
	path := text(v.Child("path"))
	if path == "" || strings.ContainsAny(path, "{}$\x00") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Dir(), filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}
