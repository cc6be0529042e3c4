package answers

import (
	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// The names of the saved parts. One has the embeds of each project. The other has those of single sources; it is
// decoded only after one of them has changed.
const (
	projectsPart = "embeds"
	sourcesPart  = "sources"
)

// of has the embeds of a project, valid while finder.digest returns this digest.
type of struct {
	Sum    [32]byte
	Embeds []adapters.Embed
}

// embedsOf are the embeds of single sources, by idOf.
type embedsOf map[string][]adapters.Embed

// idOf returns the id of a source with its content.
func (p *Project) idOf(e *tree.Entry) string {
	var w pack.Writer
	w.String(e.Path)
	w.String(p.Basis)
	for _, v := range []int64{e.Size, e.Mtime, e.Ctime} {
		w.Uint(uint64(v))
	}
	w.Uint(e.Ino)
	w.Uint(e.Dev)
	sum := blake3.Sum256(w.Payload())
	return string(sum[:16])
}

// loadSources returns the saved embeds of single sources, by Project.id.
func (f *finder) loadSources() map[string]embedsOf {
	var all map[string]embedsOf
	if !f.Saved.Get(sourcesPart, &all) {
		return nil
	}
	return all
}

// save sets the results for projects, which the caller saves.
func (f *finder) save(projects []Project, results []result) {
	next, single := make(map[string]of, len(projects)), make(map[string]embedsOf)
	news := false
	for i, r := range results {
		id := projects[i].id()
		news = news || r.fresh
		if r.known {
			next[id] = r.of
		}
		if r.fresh && len(r.sources) > 0 {
			single[id] = r.sources
		}
	}
	if !news && len(next) == len(f.projects) {
		return
	}
	f.Saved.Set(projectsPart, next)
	for i, r := range results {
		id := projects[i].id()
		if before, had := f.sources()[id]; had && !r.fresh {
			single[id] = before
		}
	}
	f.Saved.Set(sourcesPart, single)
}
