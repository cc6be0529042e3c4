package python

import (
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// maxLocals is how many projects on disk one project may depend on.
const maxLocals = 200

// local is a project on disk that is installed with the project.
type local struct {
	path     string
	editable bool // its requirement makes it editable
	unknown  bool // pip does not know its path from a manifest
}

// locals returns the projects that p depends on by path, directly or through each other,
// the nearer first.
func (p *project) locals(f *snapshot.Files) []local {
	normal, dev := p.asked()
	w := &localWalk{files: f, seen: map[string]bool{p.dir: true}}
	w.add(slices.Concat(normal, dev), p.sourceNames())
	for i := 0; i < len(w.found) && len(w.found) < maxLocals; i++ {
		below := f.In(w.found[i].path)
		other, err := open(below)
		f.Note(below.Reads())
		if err != nil {
			continue // the requirement is the project itself
		}
		w.add(slices.Concat(other.Dependencies, other.Sources, other.Poetry), other.sourceNames())
	}
	return w.found
}

// sourceNames returns the packages that pip would fetch from an index without their path.
func (p *project) sourceNames() map[string]bool {
	names := make(map[string]bool)
	for _, r := range p.Sources {
		names[r.Name] = p.covers(r.Name)
	}
	return names
}

type localWalk struct {
	files *snapshot.Files
	seen  map[string]bool
	found []local
}

// add adds the directories in list. sources holds the required names of uv's table.
func (w *localWalk) add(list []requirements.Requirement, sources map[string]bool) {
	for _, r := range list {
		used, isSource := sources[r.Name]
		if r.Path == "" || r.IsArchive() || isSource && !used || w.seen[r.Path] || !w.files.IsDir(r.Path) {
			continue
		}
		w.seen[r.Path] = true
		w.found = append(w.found, local{path: r.Path, editable: r.Editable, unknown: isSource})
	}
}

// relative returns path in the form that pip takes for a path, from dir where that is
// short.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	if filepath.IsLocal(rel) {
		return "./" + rel
	}
	return rel
}
