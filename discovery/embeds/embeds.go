// Package embeds finds the paths that the sources of projects take in (//go:embed), and saves them
// until the sources change.
package embeds

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// A project with so few sources, of so many bytes in all, is read again as a whole: a file of the
// state would cost as much.
const (
	fewSources = 8
	littleText = 64 << 10
)

// Bounds of what is read of a source, and of what a project may take in.
const (
	maxSource = 4 << 20
	maxEmbeds = 10_000
)

// Options are the inputs of Find.
type Options struct {
	State *state.Dir // nil saves nothing
	Tree  *tree.Tree
	Clone *clone.Clone // the same workspace, which sources are read from
}

// Project is a directory whose sources are read.
type Project struct {
	Path    string // relative to the root, "." is the root
	Adapter adapters.Adapter
	Embeds  adapters.EmbedsFunc
	// Foreign reports whether a path below belongs to another project.
	Foreign func(path string) bool
}

// Find returns the embeds of each project, by file and line. It reads only sources that changed since
// they were read last.
func Find(o Options, projects []Project) [][]adapters.Embed {
	f := &finder{Options: o, saved: load(o.State)}
	found := parallel.Map(projects, func() *finder { return f }, (*finder).project)
	all := make([][]adapters.Embed, len(projects))
	next := make(summary, len(projects))
	news := len(f.saved) != len(projects)
	for i, r := range found {
		all[i] = r.embeds
		news = news || r.fresh
		if r.known {
			next[projects[i].id()] = r.of
		}
	}
	if news {
		next.save(o.State)
	}
	return all
}

// id identifies a project and the adapter that reads its sources.
func (p *Project) id() string {
	m := p.Adapter.Manifest()
	return p.Path + "\x00" + m.AdapterID + "\x00" + m.Identity
}

// finder is the state of one Find. It is safe for concurrent use.
type finder struct {
	Options
	saved summary
}

// result is what a project takes in.
type result struct {
	of
	fresh bool // it is not what was saved
	known bool // of may be saved
}

func (f *finder) project(p Project) (r result) {
	sum, known := f.Tree.Digest(p.Path)
	old, had := f.saved[p.id()]
	if known && had && old.sum == sum {
		return result{of: old, known: true}
	}
	r.sum, r.known, r.fresh = sum, known, true
	before := make(fileTable)
	if len(f.saved) > 0 {
		before = loadFiles(f.State, p.id())
	}
	now, size := make(fileTable), int64(0)
	for _, e := range f.Tree.Under(p.Path) {
		if e.Kind != tree.File || !p.reads(e.Path) || len(r.embeds) > maxEmbeds {
			continue
		}
		id := idOf(&e)
		list, seen := before[id]
		if !seen {
			list = f.scan(&p, e.Path)
		}
		if f.State != nil && (seen || f.Tree.Settled(e)) { // else a later change may leave the same id
			now[id] = list
			size += e.Size
		}
		r.embeds = append(r.embeds, list...)
	}
	if len(now) > fewSources || size > littleText {
		now.save(f.State, p.id(), before)
	}
	return r
}

// reads reports whether the adapter of the project finds embeds in a file.
func (p *Project) reads(file string) bool {
	name := path.Base(file)
	suffix := func(s string) bool { return strings.HasSuffix(name, s) }
	return slices.ContainsFunc(p.Adapter.Manifest().EmbedsIn, suffix) && !p.passedOver(file) && !p.Foreign(file)
}

// passedOver reports whether a file is a fixture, or a copy of the sources of others.
func (p *Project) passedOver(file string) bool {
	below := strings.Split(path.Dir(strings.TrimPrefix(file, p.Path+"/")), "/")
	return slices.ContainsFunc([]string{"testdata", "vendor", "node_modules"}, func(name string) bool { return slices.Contains(below, name) })
}

// scan reads a source. What cannot be read, or is too large, is the tool's to report.
func (f *finder) scan(p *Project, file string) []adapters.Embed {
	root := f.Tree.Root()
	abs := filepath.Join(root, filepath.FromSlash(file))
	data, err := f.Clone.Read(abs, maxSource)
	if err != nil {
		return nil
	}
	return p.Embeds(filepath.Join(root, filepath.FromSlash(p.Path)), abs, data)
}
