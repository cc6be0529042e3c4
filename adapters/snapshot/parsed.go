package snapshot

// Parsed keeps the parsed value of a file until its content changes, so that the manifest
// at the root of a workspace is parsed once, not once for each member. It is safe for
// concurrent use. Values are shared and must not be changed.
type Parsed[T any] struct {
	parse func(path string, data []byte) (T, error)
	memo  Memo[T] // by path
}

// NewParsed returns an empty Parsed for files that parse reads. path is absolute and for
// messages; parse may keep data but not change it.
func NewParsed[T any](parse func(path string, data []byte) (T, error)) *Parsed[T] {
	return &Parsed[T]{parse: parse}
}

// Read returns the value of a file read through f. name may be relative to f's directory.
// For a missing file the error is fs.ErrNotExist.
func (p *Parsed[T]) Read(f *Files, name string) (T, error) {
	path := f.Path(name)
	return p.memo.Get(f, path, func(f *Files) (value T, err error) {
		data, err := f.Read(path)
		if err != nil {
			return value, err
		}
		return p.parse(path, data)
	})
}
