package uv

import (
	"slices"

	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/python/uvworkspace"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// maxBuilt is how many projects of the repository one install may build.
const maxBuilt = 1_000

// built is a project of the repository that uv builds or copies from its sources.
type built struct{ name, dir string }

// built returns the projects that an install builds from their sources: path dependencies and members
// that are not editable, and those with extensions.
func (p *project) built(f *snapshot.Files) []built {
	w := &buildWalk{files: f, seen: make(map[string]bool)}
	for i := range p.Members {
		m := &p.Members[i]
		copied := slices.ContainsFunc(p.Members, func(o uvworkspace.Member) bool { return takes(o.Siblings, m.Name) }) || takes(p.Root.Siblings, m.Name)
		w.visit(m.Name, m.Dir, copied)
	}
	for i := range p.Members {
		w.follow(p.Members[i].Sources)
	}
	w.follow(p.Root.Sources)
	return w.found
}

// takes reports whether a member is taken from the workspace as a copy.
func takes(siblings []requirements.Requirement, name string) bool {
	return slices.ContainsFunc(siblings, func(r requirements.Requirement) bool { return r.Name == name && !r.Editable })
}

// buildWalk follows path dependencies.
type buildWalk struct {
	files *snapshot.Files
	seen  map[string]bool
	found []built
}

// visit adds the project in dir if it is copied or compiles.
func (w *buildWalk) visit(name, dir string, copied bool) {
	if w.seen[dir] || len(w.seen) >= maxBuilt {
		return
	}
	w.seen[dir] = true
	below := w.files.In(dir)
	other, err := pyproject.Read(below)
	if name != "" && (copied || err == nil && other.Compiles(below)) {
		w.found = append(w.found, built{name, dir})
	}
	w.files.Note(below.Reads())
	if err == nil {
		w.follow(other.Sources)
	}
}

func (w *buildWalk) follow(sources []requirements.Requirement) {
	for _, r := range sources {
		if !r.IsArchive() {
			w.visit(r.Name, r.Path, !r.Editable)
		}
	}
}
