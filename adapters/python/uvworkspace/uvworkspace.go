// Package uvworkspace reads projects as uv does: alone, or as members of a workspace that
// shares one lockfile and one virtual environment
// (https://docs.astral.sh/uv/concepts/projects/workspaces/).
package uvworkspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const manifest = "pyproject.toml"

// Workspace is a workspace, or a project outside of one.
type Workspace struct {
	Dir     string   // absolute, the directory of uv.lock
	Root    *Member  // its manifest; a member only if it has a package
	Members []Member // by directory, with the root if it has a package
}

// Member is one project.
type Member struct {
	*pyproject.Project
	Dir   string // absolute
	Tools devtool.Tools

	// Groups and Extras are those that an install must request, because they hold a tool of
	// the member's recipes.
	Groups, Extras []string
	// FromRoot are tools that the member does not require itself and that the root
	// requires.
	FromRoot []string
}

// IsWorkspace reports whether the manifest is that of a workspace's root.
func IsWorkspace(p *pyproject.Project) bool { return p.Table("tool", "uv", "workspace") }

// Managed returns the manifest's setting whether uv manages the project, and whether it is
// set.
func Managed(p *pyproject.Project) (managed, set bool) { return p.Flag("tool", "uv", "managed") }

// IsPackage reports whether uv installs and builds the project itself, and not only its
// dependencies.
func IsPackage(p *pyproject.Project) bool {
	if is, set := p.Flag("tool", "uv", "package"); set {
		return is
	}
	return p.HasBuildSystem
}

// RootOf returns the directory of the workspace that the project in f's directory with
// manifest p is a member of, else that directory. The nearest workspace above decides, even
// with projects in between: uv looks from its root, where the lockfile is.
func RootOf(f *snapshot.Files, p *pyproject.Project) string {
	if managed, set := Managed(p); IsWorkspace(p) || set && !managed {
		return f.Dir()
	}
	for dir := range f.Ancestors() {
		if dir == f.Dir() || !f.IsFile(filepath.Join(dir, manifest)) {
			continue
		}
		root, err := read(f, dir)
		switch {
		case err != nil:
			return f.Dir() // bento reports a malformed manifest for its own directory
		case IsWorkspace(root) && includes(root, dir, f.Dir()):
			return dir
		case IsWorkspace(root):
			return f.Dir()
		}
	}
	return f.Dir()
}

// read reads the manifest of another directory, and notes it in f.
func read(f *snapshot.Files, dir string) (*pyproject.Project, error) {
	other := f.In(dir)
	p, err := pyproject.Read(other)
	f.Note(other.Reads())
	return p, err
}

// includes reports whether dir is a member of the workspace in root.
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

// Read reads the workspace in f's directory. It leaves out a member whose manifest cannot
// be read: bento reports that for the member's directory.
func Read(f *snapshot.Files) (*Workspace, error) {
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

func (w *Workspace) member(f *snapshot.Files, dir string) (Member, bool) {
	below := f.In(dir)
	p, err := pyproject.Read(below)
	m := Member{Project: p, Dir: dir}
	if err == nil {
		m.Tools = devtool.Find(below, p)
		w.choose(&m)
	}
	f.Note(below.Reads())
	if err != nil || !p.HasProject {
		return m, false
	}
	managed, set := Managed(p)
	return m, managed || !set
}

// choose finds the groups and extras that require the tools of m. A tool that none requires
// is not installed, even if it is configured.
func (w *Workspace) choose(m *Member) {
	for i := range m.Tools {
		t := &m.Tools[i]
		own := t.Configured
		t.Configured = false
		switch {
		case has(m.Dependencies, t.Name) || w.byDefault(m, t.Name):
			t.Declared = true
		case m != w.Root && (own || w.reaches(m, t.Name)) && (w.byDefault(w.Root, t.Name) || w.toolOfRoot(m, t.Name)):
			t.Declared = true
		default:
			t.Declared = m.askFor(t.Name)
		}
	}
}

// reaches reports whether the root's configuration of a tool leaves m to be checked. Where the root's own
// task checks the files that its configuration names, and none is of m, the members have nothing to check.
func (w *Workspace) reaches(m *Member, name string) bool {
	rel, err := filepath.Rel(w.Dir, m.Dir)
	return err != nil || !w.Root.HasProject || !slices.ContainsFunc(w.Root.Tools, func(t devtool.Tool) bool {
		return t.Name == name && !t.Reaches(filepath.ToSlash(rel))
	})
}

func has(list []requirements.Requirement, name string) bool {
	return slices.ContainsFunc(list, func(r requirements.Requirement) bool { return r.Name == name })
}

// byDefault reports whether a group that is always installed requires the package.
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

// toolOfRoot reports whether the root requires the package otherwise.
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

// Asked returns the groups and extras that an install must request, sorted.
func (w *Workspace) Asked() (groups, extras []string) {
	groups, extras = slices.Clone(w.Root.Groups), slices.Clone(w.Root.Extras)
	for _, m := range w.Members {
		groups, extras = append(groups, m.Groups...), append(extras, m.Extras...)
	}
	slices.Sort(groups)
	slices.Sort(extras)
	return slices.Compact(groups), slices.Compact(extras)
}

// Find returns the member in dir.
func (w *Workspace) Find(dir string) (*Member, bool) {
	i, ok := slices.BinarySearchFunc(w.Members, dir, func(m Member, dir string) int { return strings.Compare(m.Dir, dir) })
	if !ok {
		return nil, false
	}
	return &w.Members[i], true
}
