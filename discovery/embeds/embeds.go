// Package embeds finds the paths that the sources of projects take in (//go:embed), and saves them
// until the sources change.
package embeds

import (
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
	// Inner are the directories of the projects below, sorted. Files in them belong to those.
	Inner []string
}

// Find returns the embeds of each project, by file and line. It reads only sources that changed since
// they were read last.
func Find(o Options, projects []Project) [][]adapters.Embed {
	f := &finder{Options: o, saved: load(o.State)}
	found := parallel.Map(projects, func() *finder { return f }, (*finder).project)
	all := make([][]adapters.Embed, len(projects))
	next := make(summary, len(projects))
	news := false
	for i, r := range found {
		all[i] = r.embeds
		news = news || r.fresh && r.known
		if r.known {
			next[projects[i].id()] = r.of
		}
	}
	if news || len(next) != len(f.saved) {
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
	saved   summary
	buffers sync.Pool // of *[]byte, for sources
}

// result is what a project takes in.
type result struct {
	of
	fresh bool // it is not what was saved
	known bool // of may be saved
}

func (f *finder) project(p Project) (r result) {
	sum, known := f.digest(&p)
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

// digest returns the digest of everything that decides what the project takes in: which files are its
// sources, and their stats. Without a state nobody compares it, and the file system is not tested for it.
func (f *finder) digest(p *Project) (sum [32]byte, known bool) {
	if f.State == nil {
		return sum, false
	}
	suffixes := p.Adapter.Manifest().EmbedsIn
	sources, known := f.Tree.StatDigest(p.Path, func(file string) bool { return endsIn(file, suffixes) })
	var w pack.Writer
	w.Raw(sources[:])
	w.Strings(p.Inner)
	return blake3.Sum256(w.Payload()), known
}

// reads reports whether the adapter of the project finds embeds in a file.
func (p *Project) reads(file string) bool {
	return endsIn(file, p.Adapter.Manifest().EmbedsIn) && !p.passedOver(file) && !p.foreign(file)
}

// endsIn reports whether the name of a file has one of the suffixes.
func endsIn(file string, suffixes []string) bool {
	name := file[strings.LastIndexByte(file, '/')+1:]
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
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

// passedOver reports whether a file is a fixture, or a copy of the sources of others.
func (p *Project) passedOver(file string) bool {
	below := strings.Split(path.Dir(strings.TrimPrefix(file, p.Path+"/")), "/")
	return slices.ContainsFunc([]string{"testdata", "vendor", "node_modules"}, func(name string) bool { return slices.Contains(below, name) })
}

// scan reads a source. What cannot be read, or is too large, is the tool's to report.
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
