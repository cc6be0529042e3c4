// Package pack encodes fields (numbers, strings, bytes) and values of plain Go types: structs,
// slices, arrays, maps with string keys, pointers, strings, numbers and booleans. Nil slices, maps
// and pointers stay nil, and each different string of the values is written once.
//
// The bytes contain no schema: writer and reader must have the same types. Damaged bytes are an
// error, never a panic, and use no more memory than a small multiple of their size.
package pack

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"unsafe"
)

// Add adds v. It panics for a type that cannot be packed: one with an unexported field without the
// tag `pack:"-"`, which leaves a field out.
func (w *Writer) Add(v any) {
	if w.types == nil {
		w.strings, w.types = make(map[string]uint64), make(map[reflect.Type]*coder)
	}
	value := reflect.ValueOf(v)
	coderOf(w.types, value.Type()).write(w, value)
}

// Marshal returns v alone, encoded.
func Marshal(v any) []byte {
	var w Writer
	w.Add(v)
	return w.Payload()
}

// Unmarshal decodes what Marshal returned into *into, which must be a zero value. After an error, *into has any value.
func Unmarshal(payload []byte, into any) error {
	r := NewReader(payload)
	return cmp.Or(r.Next(into), r.End())
}

// string writes 0, the length and the text of a new string, or the index of an earlier equal one
// plus one.
func (w *Writer) string(s string) {
	if n, ok := w.strings[s]; ok {
		w.Uint(n + 1)
		return
	}
	w.strings[s] = uint64(len(w.strings))
	w.Uint(0)
	w.String(s)
}

// Next decodes the next value into *into, which must be a zero value.
func (r *Reader) Next(into any) error {
	if r.types == nil {
		r.types, r.text = make(map[reflect.Type]*coder), unsafe.String(unsafe.SliceData(r.rest), len(r.rest))
	}
	value := reflect.ValueOf(into).Elem()
	coderOf(r.types, value.Type()).read(r, value)
	if r.bad {
		return ErrFormat
	}
	return nil
}

// atMost reads a number. A number above limit is an error.
func (r *Reader) atMost(limit int) uint64 {
	n := r.Uint()
	if n > uint64(limit) {
		r.fail()
		return 0
	}
	return n
}

func (r *Reader) string() string {
	if n := r.atMost(len(r.strings)); n > 0 {
		return r.strings[n-1]
	}
	n := len(r.Raw(r.Uint()))
	end := len(r.text) - len(r.rest)
	s := r.text[end-n : end]
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
		c.write = func(w *Writer, v reflect.Value) { w.Uint(math.Float64bits(v.Float())) }
		c.read = func(r *Reader, v reflect.Value) { v.SetFloat(math.Float64frombits(r.Uint())) }
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
		w.Uint(n)
	}
	c.read = func(r *Reader, v reflect.Value) { v.SetBool(r.atMost(1) == 1) }
}

func (c *coder) int() {
	c.write = func(w *Writer, v reflect.Value) { w.Int(v.Int()) }
	c.read = func(r *Reader, v reflect.Value) {
		i := r.Int()
		r.bad = r.bad || v.OverflowInt(i)
		v.SetInt(i)
	}
}

func (c *coder) uint() {
	c.write = func(w *Writer, v reflect.Value) { w.Uint(v.Uint()) }
	c.read = func(r *Reader, v reflect.Value) {
		n := r.Uint()
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
		for from := 0; from < len(fields); from += word {
			to, set := min(from+word, len(fields)), uint64(0)
			for i := from; i < to; i++ {
				if !v.Field(at[i]).IsZero() {
					set |= 1 << (i - from)
				}
			}
			w.Uint(set)
			for ; set != 0; set &= set - 1 {
				i := from + bits.TrailingZeros64(set)
				fields[i].write(w, v.Field(at[i]))
			}
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		for from := 0; from < len(fields); from += word {
			set := r.Uint()
			if bits.Len64(set) > len(fields)-from {
				r.fail()
				return
			}
			for ; set != 0; set &= set - 1 {
				i := from + bits.TrailingZeros64(set)
				fields[i].read(r, v.Field(at[i]))
			}
		}
	}
}

// word is how many fields of a structure one number says of which are not zero. Only these follow: most fields of a
// configuration are zero.
const word = 64

func (c *coder) slice(elem *coder, t reflect.Type) {
	c.write = func(w *Writer, v reflect.Value) {
		if v.IsNil() {
			w.Uint(0)
			return
		}
		w.Uint(uint64(v.Len()) + 1)
		for i := range v.Len() {
			elem.write(w, v.Index(i))
		}
	}
	c.read = func(r *Reader, v reflect.Value) {
		n := r.atMost(len(r.rest)) // the number itself takes a byte
		if n == 0 {
			return
		}
		if n == 1 {
			v.Set(reflect.MakeSlice(t, 0, 0))
			return
		}
		v.Grow(int(n - 1)) // unlike MakeSlice, it allocates no header
		v.SetLen(int(n - 1))
		v.SetCap(int(n - 1))
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
		c.read = func(r *Reader, v reflect.Value) { copy(v.Bytes(), r.Raw(uint64(t.Len()))) }
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
			w.Uint(0)
			return
		}
		w.Uint(uint64(v.Len()) + 1)
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
		n := r.atMost(len(r.rest))
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
			w.Uint(0)
			return
		}
		w.Uint(1)
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
