package state

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrFields says that a payload does not contain the requested fields.
var ErrFields = errors.New("not in the expected format")

// Writer makes a payload of fields: numbers as unsigned varints, strings after their length. The
// zero value is ready for use.
type Writer struct{ out []byte }

// Payload returns the written fields.
func (w *Writer) Payload() []byte { return w.out }

// Reset empties the payload and keeps its memory.
func (w *Writer) Reset() { w.out = w.out[:0] }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.out = slices.Grow(w.out, n) }

// Raw writes the bytes b.
func (w *Writer) Raw(b []byte) { w.out = append(w.out, b...) }

// Byte writes one byte.
func (w *Writer) Byte(b byte) { w.out = append(w.out, b) }

// Uint writes a number.
func (w *Writer) Uint(v uint64) { w.out = binary.AppendUvarint(w.out, v) }

// String writes a string of any bytes.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.out = append(w.out, s...)
}

// Strings writes a list of strings.
func (w *Writer) Strings(list []string) {
	w.Uint(uint64(len(list)))
	for _, s := range list {
		w.String(s)
	}
}

// Reader reads the fields of a Writer in the same order. After the first missing field all are
// zero, and End returns an error. It never allocates more than the payload can contain.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader returns a reader of payload, which it does not change.
func NewReader(payload []byte) *Reader { return &Reader{rest: payload} }

// Raw reads n bytes. They share memory with the payload.
func (r *Reader) Raw(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	field := r.rest[:n:n]
	r.rest = r.rest[n:]
	return field
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Raw(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.Raw(uint64(n))
	return v
}

// Count reads the number of items that follow, each of at least size bytes.
func (r *Reader) Count(size uint64) uint64 {
	n := r.Uint()
	if r.bad || n > uint64(len(r.rest))/size {
		r.bad = true
		return 0
	}
	return n
}

// String reads a string.
func (r *Reader) String() string { return string(r.Raw(r.Uint())) }

// Strings reads a list of strings.
func (r *Reader) Strings() []string {
	list := make([]string, 0, 8)
	for range r.Count(1) {
		list = append(list, r.String())
	}
	return list
}

// End reports whether all fields were read and no byte is left.
func (r *Reader) End() error {
	if r.bad || len(r.rest) != 0 {
		return ErrFields
	}
	return nil
}
