// Package pack encodes values of plain Go types: structs, slices, arrays, maps with string keys,
// pointers, strings, numbers and booleans. Nil slices, maps and pointers stay nil, and each
// different string is written once.
//
// The bytes contain no schema: writer and reader must have the same types. Damaged bytes are an
// error, never a panic, and use no more memory than a small multiple of their size.
package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// ErrFormat says that the bytes do not encode the requested value.
var ErrFormat = errors.New("not in the expected format")

// Writer encodes values. The zero value is ready for use.
type Writer struct {
	out     []byte
	strings map[string]uint64
	types   map[reflect.Type]*coder
}

// Add adds v. It panics for a type that cannot be packed: one with an unexported field without the
// tag `pack:"-"`, which leaves a field out.
func (w *Writer) Add(v any) {
	if w.types == nil {
		w.strings, w.types = make(map[string]uint64), make(map[reflect.Type]*coder)
	}
	value := reflect.ValueOf(v)
	coderOf(w.types, value.Type()).write(w, value)
}

// Payload returns the encoded values.
func (w *Writer) Payload() []byte { return w.out }

func (w *Writer) uint(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

// string writes 0, the length and the text of a new string, or the index of an earlier equal one
// plus one.
func (w *Writer) string(s string) {
	if n, ok := w.strings[s]; ok {
		w.uint(n + 1)
		return
	}
	w.strings[s] = uint64(len(w.strings))
	w.uint(0)
	w.uint(uint64(len(s)))
	w.out = append(w.out, s...)
}

// Reader decodes the values of a Writer in the same order.
type Reader struct {
	rest    string
	strings []string
	types   map[reflect.Type]*coder
	bad     bool
}

// NewReader returns a reader of payload. Decoded strings share memory.
func NewReader(payload []byte) *Reader {
	return &Reader{rest: string(payload), types: make(map[reflect.Type]*coder)}
}

// Next decodes the next value into *into, which must be a zero value.
func (r *Reader) Next(into any) error {
	value := reflect.ValueOf(into).Elem()
	coderOf(r.types, value.Type()).read(r, value)
	if r.bad {
		return ErrFormat
	}
	return nil
}

// End reports whether all values were decoded and no byte is left.
func (r *Reader) End() error {
	if r.bad || r.rest != "" {
		return ErrFormat
	}
	return nil
}

func (r *Reader) uint() uint64 {
	n := uint64(0)
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

// count reads the number of items that follow; each takes at least a byte.
func (r *Reader) count() int { return int(r.atMost(uint64(len(r.rest)))) }

// atMost reads a number. A number above limit is an error.
func (r *Reader) atMost(limit uint64) uint64 {
	n := r.uint()
	if n > limit {
		r.bad, r.rest = true, ""
		return 0
	}
	return n
}

func (r *Reader) take(n int) string {
	if n > len(r.rest) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *Reader) string() string {
	if n := r.atMost(uint64(len(r.strings))); n > 0 {
		return r.strings[n-1]
	}
	s := r.take(r.count())
	r.strings = append(r.strings, s)
	return s
}

// coder encodes and decodes values of one type.
type coder struct {
	write func(*Writer, reflect.Value)
	read  func(*Reader, reflect.Value)
}

// coderOf returns the coder of t and keeps it in known.
func coderOf(known map[reflect.Type]*coder, t reflect.Type) *coder {
	if c := known[t]; c != nil {
		return c
	}
	c := &coder{}
	known[t] = c // for recursive types
	switch t.Kind() {
	case reflect.String:
		c.write = func(w *Writer, v reflect.Value) { w.string(v.String()) }
		c.read = func(r *Reader, v reflect.Value) { v.SetString(r.string()) }
	case reflect.Bool:
		c.bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		c.int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		c.uint()
	case reflect.Float64:
		c.write = func(w *Writer, v reflect.Value) { w.uint(math.Float64bits(v.Float())) }
		c.read = func(r *Reader, v reflect.Value) { v.SetFloat(math.Float64frombits(r.uint())) }
	case reflect.Struct:
		c.structure(known, t)
	case reflect.Slice:
		c.slice(coderOf(known, t.Elem()), t)
	case reflect.Array:
		c.array(coderOf(known, t.Elem()), t)
	case reflect.Map:
		c.dictionary(coderOf(known, t.Elem()), t)
	case reflect.Pointer:
		c.pointer(coderOf(known, t.Elem()), t)
	default:
		panic(fmt.Sprintf("a value of type %v cannot be packed", t))
	}
	return c
}

func (c *coder) bool() {
	c.write = func(w *Writer, v reflect.Value) {
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		w.uint(n)
	}
	c.read = func(r *Reader, v reflect.Value) { v.SetBool(r.atMost(1) == 1) }
}

func (c *coder) int() {
	c.write = func(w *Writer, v reflect.Value) { w.out = binary.AppendVarint(w.out, v.Int()) }
	c.read = func(r *Reader, v reflect.Value) {
		n := r.uint()
		i := int64(n>>1) ^ -int64(n&1)
		r.bad = r.bad || v.OverflowInt(i)
		v.SetInt(i)
	}
}

func (c *coder) uint() {
	c.write = func(w *Writer, v reflect.Value) { w.uint(v.Uint()) }
	c.read = func(r *Reader, v reflect.Value) {
		n := r.uint()
		r.bad = r.bad || v.OverflowUint(n)
		v.SetUint(n)
	}
}

func (c *coder) structure(known map[reflect.Type]*coder, t reflect.Type) {
	var at []int
	var fields []*coder
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("pack") == "-" {
			continue
		}
		if !f.IsExported() {
			panic(fmt.Sprintf("field %s of %v cannot be packed: it is not exported", f.Name, t))
		}
		at, fields = append(at, i), append(fields, coderOf(known, f.Type))
	}
	c.write = func(w *Writer, v reflect.Value) {
		for i, f := range fields {
			f.write(w, v.Field(at[i]))
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		for i, f := range fields {
			f.read(r, v.Field(at[i]))
		}
	}
}

func (c *coder) slice(elem *coder, t reflect.Type) {
	c.write = func(w *Writer, v reflect.Value) {
		if v.IsNil() {
			w.uint(0)
			return
		}
		w.uint(uint64(v.Len()) + 1)
		for i := range v.Len() {
			elem.write(w, v.Index(i))
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		n := r.atMost(uint64(len(r.rest))) // the number itself takes a byte
		if n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(t, int(n-1), int(n-1)))
		for i := range int(n - 1) {
			elem.read(r, v.Index(i))
		}
	}
}

func (c *coder) array(elem *coder, t reflect.Type) {
	if t.Elem().Kind() == reflect.Uint8 {
		c.write = func(w *Writer, v reflect.Value) {
			for i := range t.Len() {
				w.out = append(w.out, byte(v.Index(i).Uint()))
			}
		}
		c.read = func(r *Reader, v reflect.Value) { copy(v.Bytes(), r.take(t.Len())) }
		return
	}
	c.write = func(w *Writer, v reflect.Value) {
		for i := range t.Len() {
			elem.write(w, v.Index(i))
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		for i := range t.Len() {
			elem.read(r, v.Index(i))
		}
	}
}

func (c *coder) dictionary(elem *coder, t reflect.Type) {
	if t.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("a value of type %v cannot be packed: its keys are no strings", t))
	}
	c.write = func(w *Writer, v reflect.Value) {
		if v.IsNil() {
			w.uint(0)
			return
		}
		w.uint(uint64(v.Len()) + 1)
		byKey := make(map[string]reflect.Value, v.Len())
		for it := v.MapRange(); it.Next(); {
			byKey[it.Key().String()] = it.Value()
		}
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			w.string(key)
			elem.write(w, byKey[key])
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		n := r.atMost(uint64(len(r.rest)))
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMapWithSize(t, int(n-1)))
		for range n - 1 {
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			key.SetString(r.string())
			elem.read(r, value)
			v.SetMapIndex(key, value)
		}
	}
}

func (c *coder) pointer(elem *coder, t reflect.Type) {
	c.write = func(w *Writer, v reflect.Value) {
		if v.IsNil() {
			w.uint(0)
			return
		}
		w.uint(1)
		elem.write(w, v.Elem())
	}
	c.read = func(r *Reader, v reflect.Value) {
		if r.atMost(1) == 0 {
			return
		}
		v.Set(reflect.New(t.Elem()))
		elem.read(r, v.Elem())
	}
}
