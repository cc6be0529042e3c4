package answers

import (
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// A project with so few sources, of so many bytes in all, is read again as a whole: to save the embeds of
// each would cost as much.
const (
	fewSources = 8
	littleText = 64 << 10
)

// maxSource bounds the read part of a source.
const maxSource = 4 << 20

// MaxEmbeds bounds the embeds of a project: a longer list may lack some.
const MaxEmbeds = 10_000

// readAhead is the number of sources of a project that are read at once.
const readAhead = 1024

// Sources are the sources of a workspace.
type Sources struct {
	Saved *state.Parts // nil saves nothing
	Tree  *tree.Tree
	Clone *clone.Clone // the same workspace, which sources are read from
}

// Project is a directory whose sources are read.
type Project struct {
	Path    string // relative to the root, "." is the root
	Adapter adapters.Adapter
	Embeds  adapters.EmbedsFunc
	// Kind tells apart two projects of one directory and adapter with different functions.
	Kind string
	// In are the ends of the names of the sources.
	In []string
	// Basis is everything else that the results of Embeds depend on.
	Basis string
	// Inner are the directories of the projects below, sorted. Files in them belong to those.
	Inner []string
}

// Embeds returns the paths that the sources of each project take in (//go:embed), by file and line. It reads only
// sources that changed since they were read last.
func (o Sources) Embeds(projects []Project) [][]adapters.Embed {
	f := &finder{Sources: o}
	f.sources = sync.OnceValue(f.loadSources)
	if !o.Saved.Get(projectsPart, &f.projects) {
		f.projects = nil
	}
	found := parallel.Map(projects, func() *finder { return f }, (*finder).project)
	f.save(projects, found)
	all := make([][]adapters.Embed, len(projects))
	for i, r := range found {
		all[i] = r.Embeds
	}
	return all
}

// id identifies a project and the adapter that reads its sources.
func (p *Project) id() string {
	m := p.Adapter.Manifest()
	return p.Path + "\x00" + m.AdapterID + "\x00" + m.Identity + p.Kind
}

// finder is the state of one call of Embeds. It is safe for concurrent use.
type finder struct {
	Sources
	projects map[string]of              // the saved ones, by Project.id
	sources  func() map[string]embedsOf // the saved ones, by Project.id
	buffers  sync.Pool                  // of *[]byte, for sources
}

// result is the list of embeds of a project.
type result struct {
	of
	fresh   bool // it differs from the saved one
	known   bool // of may be saved
	sources embedsOf
}

func (f *finder) project(p Project) (r result) {
	sum, known := f.digest(&p)
	old, had := f.projects[p.id()]
	if known && had && old.Sum == sum {
		return result{of: old, known: true}
	}
	r.Sum, r.known, r.fresh = sum, known, true
	before := f.sources()[p.id()]
	now, size := make(embedsOf), int64(0)
	for e, s := range f.sourcesOf(&p, before) {
		if len(r.Embeds) > MaxEmbeds {
			break
		}
		if s.settled {
			now[s.id] = s.embeds
			size += e.Size
		}
		r.Embeds = append(r.Embeds, s.embeds...)
	}
	if len(now) > fewSources || size > littleText {
		r.sources = now
	}
	return r
}

// source is the list of embeds of one file.
type source struct {
	id      string
	embeds  []adapters.Embed
	settled bool // it may be saved: a later change does not leave the same id
}

// sourcesOf yields the files that the adapter of the project finds embeds in, sorted. It reads some ahead.
func (f *finder) sourcesOf(p *Project, before embedsOf) iter.Seq2[*tree.Entry, source] {
	all := f.Tree.Under(p.Path)
	files := make([]*tree.Entry, 0, len(all))
	for i := range all {
		if e := &all[i]; e.Kind == tree.File && p.reads(e.Path) {
			files = append(files, e)
		}
	}
	read := func(f *finder, e *tree.Entry) source { return f.source(p, e, before) }
	return func(yield func(*tree.Entry, source) bool) {
		for some := range slices.Chunk(files, readAhead) {
			for i, s := range parallel.Map(some, func() *finder { return f }, read) {
				if !yield(some[i], s) {
					return
				}
			}
		}
	}
}

func (f *finder) source(p *Project, e *tree.Entry, before embedsOf) (s source) {
	var seen bool
	s.id = p.idOf(e)
	if s.embeds, seen = before[s.id]; !seen {
		s.embeds = f.scan(p, e.Path)
	}
	s.settled = f.Saved != nil && (seen || f.Tree.Settled(*e))
	return s
}

// digest returns the digest of everything that decides which files the project embeds: the list of its
// sources, and their stats. Without a state no later run compares it, so the file system is not tested.
func (f *finder) digest(p *Project) (sum [32]byte, known bool) {
	if f.Saved == nil {
		return sum, false
	}
	sources, known := f.Tree.StatDigest(p.Path, func(file string) bool { return endsIn(file, p.In) })
	var w pack.Writer
	w.Raw(sources[:])
	w.Strings(p.Inner)
	w.String(p.Basis)
	return blake3.Sum256(w.Payload()), known
}

// reads reports whether the adapter of the project finds embeds in a file.
func (p *Project) reads(file string) bool {
	return endsIn(file, p.In) && !p.passedOver(file) && !p.foreign(file)
}

// endsIn reports whether the name of a file has one of the suffixes.
func endsIn(file string, suffixes []string) bool {
	name := file[strings.LastIndexByte(file, '/')+1:]
	for _, s := range suffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// foreign reports whether a file below belongs to another project.
func (p *Project) foreign(file string) bool {
	if len(p.Inner) == 0 {
		return false
	}
	for dir := path.Dir(file); dir != "." && dir != p.Path; dir = path.Dir(dir) {
		if _, inner := slices.BinarySearch(p.Inner, dir); inner {
			return true
		}
	}
	return false
}

// passedOver reports whether a file is a fixture, or a copy of the sources of another project.
func (p *Project) passedOver(file string) bool {
	rest := file
	if below, ok := strings.CutPrefix(file, p.Path); ok && strings.HasPrefix(below, "/") {
		rest = below[1:]
	}
	for {
		dir, below, found := strings.Cut(rest, "/")
		if !found {
			return false
		}
		if dir == "testdata" || dir == "vendor" || dir == "node_modules" {
			return true
		}
		rest = below
	}
}

// scan reads a source. If it cannot be read or is too large, the tool reports that.
func (f *finder) scan(p *Project, file string) []adapters.Embed {
	root := f.Tree.Root()
	abs := filepath.Join(root, filepath.FromSlash(file))
	buf, _ := f.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer f.buffers.Put(buf)
	data, err := f.Clone.ReadInto(*buf, abs, maxSource)
	if err != nil {
		return nil
	}
	*buf = data
	return p.Embeds(filepath.Join(root, filepath.FromSlash(p.Path)), abs, data)
}
