package pyproject

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// readGroups reads dependency groups (https://peps.python.org/pep-0735/) and uv's
// older list.
func (p *Project) readGroups(f *adapters.Files) {
	if groups := p.file.Lookup("dependency-groups"); groups != nil {
		for _, name := range groups.Keys() {
			g := &groupReader{files: f, groups: groups, seen: make(map[string]bool)}
			g.read(name)
			optional, _ := p.Flag("tool", "poetry", "group", name, "optional")
			p.Groups = append(p.Groups, Group{Name: name, Requirements: g.out, Optional: optional})
		}
	}
	if dev := p.file.Lookup("tool", "uv", "dev-dependencies"); dev != nil {
		p.Groups = append(p.Groups, Group{Name: "dev", Requirements: list(f, dev)})
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

// readPoetry reads dependencies and groups in poetry's own form
// (https://python-poetry.org/docs/pyproject/).
func (p *Project) readPoetry(f *adapters.Files) {
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

// poetryTable reads names and paths only: the versions have a form of their own.
func poetryTable(f *adapters.Files, table *tomlfile.Value) []requirements.Requirement {
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

// sources reads uv's table of packages from elsewhere
// (https://docs.astral.sh/uv/concepts/projects/dependencies/#dependency-sources).
func sources(f *adapters.Files, table *tomlfile.Value) (paths, siblings []requirements.Requirement) {
	if table == nil {
		return nil, nil
	}
	for _, name := range table.Keys() {
		v := table.Child(name)
		for _, one := range oneOrMore(v) {
			r := at(requirements.Requirement{Name: requirements.Normalize(name)}, v.KeyPos())
			if one.Child("workspace") != nil && one.Child("workspace").Any() == true {
				siblings = append(siblings, r)
			} else if r.Path = localPath(f, one); r.Path != "" {
				r.Text = r.Path
				paths = append(paths, r)
			}
		}
	}
	return paths, siblings
}

// oneOrMore gives the elements of an array, or else v itself: a package may have
// several sources for several platforms.
func oneOrMore(v *tomlfile.Value) []*tomlfile.Value {
	if v.Kind() == tomlfile.Array {
		return v.Elems()
	}
	return []*tomlfile.Value{v}
}

// localPath gives the path of a source such as {path = "../lib"}, "" when it has none.
func localPath(f *adapters.Files, v *tomlfile.Value) string {
	path := text(v.Child("path"))
	if path == "" || strings.ContainsAny(path, "{}$\x00") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Dir(), filepath.FromSlash(path))
	}
	return filepath.Clean(path)
}
