package embeds

import (
	"bytes"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// One file of the workspace's state has the embeds of all projects. A second file for each project has the
// embeds of its single sources. It is read only after one of them has changed.
const (
	summaryName = "embeds"
	filesName   = "sources/"
	version     = 7
)

// of has the embeds of a project, valid while finder.digest returns this digest.
type of struct {
	sum    [32]byte
	embeds []adapters.Embed
}

// summary has the embeds of projects, by Project.id.
type summary map[string]of

func load(dir *state.Dir) summary {
	s := make(summary)
	r, ok := open(dir, summaryName)
	if !ok {
		return s
	}
	for range r.Count(34) {
		id := r.String()
		var p of
		copy(p.sum[:], r.Raw(32))
		p.embeds = readEmbeds(r)
		s[id] = p
	}
	if r.End() != nil {
		return make(summary)
	}
	return s
}

// save saves s. An error costs another look at the sources.
func (s summary) save(dir *state.Dir) {
	if dir == nil {
		return
	}
	var w pack.Writer
	w.Uint(uint64(len(s)))
	for _, id := range slices.Sorted(maps.Keys(s)) {
		w.String(id)
		sum := s[id].sum
		w.Raw(sum[:])
		writeEmbeds(&w, s[id].embeds)
	}
	_ = dir.Store(summaryName, version, w.Payload())
}

// fileID identifies a source with its content.
type fileID [16]byte

// idOf returns the id of a source.
func (p *Project) idOf(e *tree.Entry) fileID {
	var w pack.Writer
	w.String(e.Path)
	w.String(p.Basis)
	for _, v := range []int64{e.Size, e.Mtime, e.Ctime} {
		w.Uint(uint64(v))
	}
	w.Uint(e.Ino)
	w.Uint(e.Dev)
	sum := blake3.Sum256(w.Payload())
	return fileID(sum[:16])
}

// fileTable has the embeds of single sources.
type fileTable map[fileID][]adapters.Embed

func loadFiles(dir *state.Dir, project string) fileTable {
	t := make(fileTable)
	r, ok := open(dir, filesName+shortSum(project))
	if !ok {
		return t
	}
	for range r.Count(17) {
		var id fileID
		copy(id[:], r.Raw(16))
		t[id] = readEmbeds(r)
	}
	if r.End() != nil {
		return make(fileTable)
	}
	return t
}

func shortSum(text string) string {
	sum := blake3.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// save saves t if it differs from before.
func (t fileTable) save(dir *state.Dir, project string, before fileTable) {
	same := len(t) == len(before)
	for id := range t {
		_, had := before[id]
		same = same && had
	}
	if dir == nil || same {
		return
	}
	var w pack.Writer
	w.Uint(uint64(len(t)))
	for _, id := range slices.SortedFunc(maps.Keys(t), func(a, b fileID) int { return bytes.Compare(a[:], b[:]) }) {
		w.Raw(id[:])
		writeEmbeds(&w, t[id])
	}
	_ = dir.Store(filesName+shortSum(project), version, w.Payload())
}

func open(dir *state.Dir, name string) (*pack.Reader, bool) {
	if dir == nil {
		return nil, false
	}
	payload, err := dir.Load(name, version)
	if err != nil {
		return nil, false
	}
	return pack.NewReader(payload), true
}

func writeEmbeds(w *pack.Writer, list []adapters.Embed) {
	w.Uint(uint64(len(list)))
	for _, e := range list {
		w.String(e.Path)
		w.String(e.Glob)
		w.String(e.File)
		w.Uint(uint64(e.Line))
		w.Uint(uint64(e.Ignored))
		flags := byte(0)
		if e.Named {
			flags |= 1
		}
		if e.Missed {
			flags |= 2
		}
		w.Byte(flags)
	}
}

func readEmbeds(r *pack.Reader) (list []adapters.Embed) {
	for range r.Count(6) {
		e := adapters.Embed{Path: r.String(), Glob: r.String(), File: r.String(), Line: int(r.Uint()), Ignored: adapters.IgnoredNames(r.Uint())}
		flags := r.Byte()
		e.Named, e.Missed = flags&1 != 0, flags&2 != 0
		list = append(list, e)
	}
	return list
}
