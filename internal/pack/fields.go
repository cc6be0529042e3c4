package pack

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
)

// ErrFormat is the error of bytes that do not contain the requested fields or values.
var ErrFormat = errors.New("not in the expected format")

// Writer encodes fields, and values by Add. Numbers are varints, strings follow their length. The
// zero value is ready for use.
type Writer struct {
	out     []byte
	strings map[string]uint64 // by Add
	types   map[reflect.Type]*coder
}

// Payload returns the encoded fields.
func (w *Writer) Payload() []byte { return w.out }

// Reset empties the payload and keeps its memory. The caller has added no values.
func (w *Writer) Reset() { w.out = w.out[:0] }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.out = slices.Grow(w.out, n) }

// Raw writes the bytes b.
func (w *Writer) Raw(b []byte) { w.out = append(w.out, b...) }

// Byte writes one byte.
func (w *Writer) Byte(b byte) { w.out = append(w.out, b) }

// Uint writes a number.
func (w *Writer) Uint(v uint64) { w.out = binary.AppendUvarint(w.out, v) }

// Int writes a signed number.
func (w *Writer) Int(v int64) { w.out = binary.AppendVarint(w.out, v) }

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

// Reader decodes what a Writer wrote, in the same order. After the first missing field all are
// zero, and End returns an error. It allocates no more than a small multiple of the payload.
type Reader struct {
	rest    []byte
	bad     bool
	text    string   // rest at the first value, with the same memory
	strings []string // of values
	types   map[reflect.Type]*coder
}

// NewReader returns a reader of payload, which it does not change. The strings of values and the results of Raw share
// its memory: the caller does not change it either.
func NewReader(payload []byte) *Reader { return &Reader{rest: payload} }

// fail makes all further fields zero.
func (r *Reader) fail() { r.bad, r.rest = true, nil }

// Raw reads n bytes. They share memory with the payload.
func (r *Reader) Raw(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
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
	if len(r.rest) > 0 && r.rest[0] < 1<<7 { // most are small
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Int reads a signed number.
func (r *Reader) Int() int64 {
	n := r.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Count reads the number of items that follow, each of at least size bytes.
func (r *Reader) Count(size uint64) uint64 {
	n := r.Uint()
	if n > uint64(len(r.rest))/size {
		r.fail()
		return 0
	}
	return n
}

// String reads a string.
func (r *Reader) String() string { return string(r.Raw(r.Uint())) }

// Strings reads a list of strings.
func (r *Reader) Strings() []string {
	n := r.Count(1)
	list := make([]string, 0, min(n, 8))
	for range n {
		list = append(list, r.String())
	}
	return list
}

// End returns an error unless all fields were read and no byte is left.
func (r *Reader) End() error {
	if r.bad || len(r.rest) != 0 {
		return ErrFormat
	}
	return nil
}
