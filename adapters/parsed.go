package adapters

import (
	"bytes"
	"sync"
)

// Parsed keeps the parsed value of a file until its content changes, so that the manifest
// at the root of a workspace is parsed once, not once for each member. It is safe for
// concurrent use. Values are shared and must not be changed.
type Parsed[T any] struct {
	parse  func(path string, data []byte) (T, error)
	mu     sync.Mutex
	byPath map[string]parsed[T]
}

type parsed[T any] struct {
	data  []byte
	value T
	err   error
}

// NewParsed returns an empty Parsed for files that parse reads. path is absolute and for
// messages; parse may keep data but not change it.
func NewParsed[T any](parse func(path string, data []byte) (T, error)) *Parsed[T] {
	return &Parsed[T]{parse: parse, byPath: make(map[string]parsed[T])}
}

// Read returns the value of a file read through f. name may be relative to f's directory.
// For a missing file the error is fs.ErrNotExist.
func (p *Parsed[T]) Read(f *Files, name string) (T, error) {
	path := f.Path(name)
	data, err := f.Read(path)
	if err != nil {
		var none T
		return none, err
	}
	p.mu.Lock()
	known, ok := p.byPath[path]
	p.mu.Unlock()
	if ok && bytes.Equal(known.data, data) {
		return known.value, known.err
	}
	value, err := p.parse(path, data)
	p.mu.Lock()
	p.byPath[path] = parsed[T]{data, value, err}
	p.mu.Unlock()
	return value, err
}
