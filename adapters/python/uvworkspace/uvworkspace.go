// Package uvworkspace reads projects as uv sees them: alone, or as members of a
// workspace that shares one lockfile and one virtual environment
// (https://docs.astral.sh/uv/concepts/projects/workspaces/).
package uvworkspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
)

const manifest = "pyproject.toml"

// Workspace is a workspace, or a project that is its own.
type Workspace struct {
	Dir     string   // absolute, where uv.lock stands
	Root    *Member  // its manifest; no member unless it has a package
	Members []Member // by directory, with the root if it has a package
}

// Member is one project.
type Member struct {
	*pyproject.Project
	Dir   string // absolute
	Tools devtool.Tools

	// Groups and Extras are those that have to be asked for, because a tool of the
	// member's recipes stands there.
	Groups, Extras []string
	// FromRoot are tools that the member does not ask for itself and that the root
	// has among its dependencies.
	FromRoot []string
}

// IsWorkspace tells whether the manifest is of the root of a workspace.
func IsWorkspace(p *pyproject.Project) bool { return p.Table("tool", "uv", "workspace") }

// Managed tells whether the manifest leaves the project to uv, and whether it says
// so at all.
func Managed(p *pyproject.Project) (managed, said bool) { return p.Flag("tool", "uv", "managed") }

// IsPackage tells whether uv installs and builds the project itself, and not only
// what it needs.
func IsPackage(p *pyproject.Project) bool {
	if is, said := p.Flag("tool", "uv", "package"); said {
		return is
	}
	return p.HasBuildSystem
}

// RootOf gives the directory of the workspace that the project in f's directory, of
// which p is the manifest, is a member of, else that directory. The nearest workspace
// above decides, whatever projects stand between: so it looks from its root, where
// the lockfile is.
func RootOf(f *adapters.Files, p *pyproject.Project) string {
	if managed, said := Managed(p); IsWorkspace(p) || said && !managed {
		return f.Dir()
	}
	for dir := range f.Ancestors() {
		if dir == f.Dir() || !f.IsFile(filepath.Join(dir, manifest)) {
			continue
		}
		root, err := read(f, dir)
		switch {
		case err != nil:
			return f.Dir() // a broken manifest is told of its own directory
		case IsWorkspace(root) && includes(root, dir, f.Dir()):
			return dir
		case IsWorkspace(root):
			return f.Dir()
		}
	}
	return f.Dir()
}

// read reads the manifest of another directory, and notes it in f.
func read(f *adapters.Files, dir string) (*pyproject.Project, error) {
	other := f.In(dir)
	p, err := pyproject.Read(other)
	for _, path := range other.Reads() {
		f.Path(path)
	}
	return p, err
}

// includes tells whether the workspace in root takes dir for a member.
func includes(p *pyproject.Project, root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	return anyMatch(p.List("tool", "uv", "workspace", "members"), rel) && !anyMatch(p.List("tool", "uv", "workspace", "exclude"), rel)
}

func anyMatch(globs []pyproject.Entry, path string) bool {
	return slices.ContainsFunc(globs, func(g pyproject.Entry) bool {
		ok, err := doublestar.Match(clean(g.Value), path)
		return ok && err == nil
	})
}

func clean(glob string) string { return filepath.ToSlash(filepath.Clean(filepath.FromSlash(glob))) }

// Read reads the workspace in f's directory. A member whose manifest cannot be read
// is left out: it is told of that directory.
func Read(f *adapters.Files) (*Workspace, error) {
	root, err := pyproject.Read(f)
	if err != nil {
		return nil, err
	}
	w := &Workspace{Dir: f.Dir(), Root: &Member{Project: root, Dir: f.Dir(), Tools: devtool.Find(f, root)}}
	w.choose(w.Root)
	if root.HasProject {
		w.Members = append(w.Members, *w.Root)
	}
	for _, dir := range MemberDirs(f, root) {
		if m, ok := w.member(f, dir); ok {
			w.Members = append(w.Members, m)
		}
	}
	slices.SortFunc(w.Members, func(a, b Member) int { return cmp.Compare(a.Dir, b.Dir) })
	return w, nil
}

func (w *Workspace) member(f *adapters.Files, dir string) (Member, bool) {
	below := f.In(dir)
	p, err := pyproject.Read(below)
	m := Member{Project: p, Dir: dir}
	if err == nil {
		m.Tools = devtool.Find(below, p)
		w.choose(&m)
	}
	for _, path := range below.Reads() {
		f.Path(path)
	}
	if err != nil || !p.HasProject {
		return m, false
	}
	managed, said := Managed(p)
	return m, managed || !said
}

// choose finds out where the tools of m are asked for. What stands nowhere is not
// in the environment, whatever is configured.
func (w *Workspace) choose(m *Member) {
	for i := range m.Tools {
		t := &m.Tools[i]
		t.Configured = false
		switch {
		case has(m.Dependencies, t.Name) || w.byDefault(m, t.Name) || m != w.Root && w.byDefault(w.Root, t.Name):
			t.Declared = true
		case m != w.Root && w.toolOfRoot(m, t.Name):
			t.Declared = true
		default:
			t.Declared = m.askFor(t.Name)
		}
	}
}

func has(list []requirements.Requirement, name string) bool {
	return slices.ContainsFunc(list, func(r requirements.Requirement) bool { return r.Name == name })
}

// byDefault tells whether a group that is always installed brings the package.
func (w *Workspace) byDefault(m *Member, name string) bool {
	always := []string{"dev"}
	if list := w.Root.List("tool", "uv", "default-groups"); w.Root.Has("tool", "uv", "default-groups") {
		always = nil
		for _, e := range list {
			always = append(always, e.Value)
		}
	}
	all := w.Root.Text("tool", "uv", "default-groups") == "all"
	return slices.ContainsFunc(m.Project.Groups, func(g pyproject.Group) bool {
		return g.Has(name) && !g.Poetry && (all || slices.Contains(always, g.Name))
	})
}

// toolOfRoot tells whether the root brings the package otherwise.
func (w *Workspace) toolOfRoot(m *Member, name string) bool {
	for _, t := range w.Root.Tools {
		if t.Name == name && t.Declared {
			if has(w.Root.Dependencies, name) {
				m.FromRoot = append(m.FromRoot, name)
			}
			return true
		}
	}
	return false
}

func (m *Member) askFor(name string) bool {
	groups := slices.DeleteFunc(slices.Clone(m.Project.Groups), func(g pyproject.Group) bool { return g.Poetry })
	if g := pyproject.Preferred(groups, name); g != nil {
		m.Groups = append(m.Groups, g.Name)
		return true
	}
	if e := pyproject.Preferred(m.Project.Extras, name); e != nil {
		m.Extras = append(m.Extras, e.Name)
		return true
	}
	return false
}

// Asked gives the groups and extras that an install has to ask for, sorted.
func (w *Workspace) Asked() (groups, extras []string) {
	groups, extras = slices.Clone(w.Root.Groups), slices.Clone(w.Root.Extras)
	for _, m := range w.Members {
		groups, extras = append(groups, m.Groups...), append(extras, m.Extras...)
	}
	slices.Sort(groups)
	slices.Sort(extras)
	return slices.Compact(groups), slices.Compact(extras)
}

// Find gives the member in dir.
func (w *Workspace) Find(dir string) (*Member, bool) {
	i, ok := slices.BinarySearchFunc(w.Members, dir, func(m Member, dir string) int { return strings.Compare(m.Dir, dir) })
	if !ok {
		return nil, false
	}
	return &w.Members[i], true
}
