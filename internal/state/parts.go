package state

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/bentobuild/bento/internal/pack"
)

// Parts is a state file of values by name. It is read once and written whole. A nil *Parts has no values and saves
// none. It is safe for concurrent use.
type Parts struct {
	dir     *Dir
	name    string
	version uint32

	mu   sync.Mutex
	all  map[string][]byte // packed values
	news bool
}

// OpenParts reads the file name. One that is unusable has no values.
func (d *Dir) OpenParts(name string, version uint32) *Parts {
	p := &Parts{dir: d, name: name, version: version, all: make(map[string][]byte)}
	payload, err := d.Load(name, version)
	if err != nil {
		return p
	}
	r := pack.NewReader(payload)
	for range r.Count(2) {
		part := r.String()
		p.all[part] = r.Raw(r.Uint())
	}
	if r.End() != nil {
		clear(p.all)
	}
	return p
}

// Get decodes a value into *into, a zero value, and reports whether the file has it. A damaged value leaves
// *into in any state.
func (p *Parts) Get(part string, into any) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	payload, ok := p.all[part]
	p.mu.Unlock()
	return ok && pack.Unmarshal(payload, into) == nil
}

// Set replaces a value.
func (p *Parts) Set(part string, v any) {
	if p == nil {
		return
	}
	payload := pack.Marshal(v)
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.all[part]; !ok || !bytes.Equal(old, payload) {
		p.all[part], p.news = payload, true
	}
}

// Save writes the file if a value has changed.
func (p *Parts) Save() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	var payload [][]byte
	if p.news {
		payload, p.news = p.payload(), false
	}
	p.mu.Unlock()
	if payload == nil {
		return nil
	}
	return p.dir.Store(p.name, p.version, payload...)
}

// payload returns the encoded values, sorted by name.
func (p *Parts) payload() (parts [][]byte) {
	var w pack.Writer
	w.Uint(uint64(len(p.all)))
	for _, part := range slices.Sorted(maps.Keys(p.all)) {
		w.String(part)
		w.Uint(uint64(len(p.all[part])))
		parts = append(parts, w.Payload(), p.all[part])
		w = pack.Writer{}
	}
	return append(parts, w.Payload())
}
