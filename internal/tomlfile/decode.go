package tomlfile

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
)

// Unmarshaler is a type that decodes itself from a value of any kind. It reports all problems.
type Unmarshaler interface {
	UnmarshalTOML(v *Value) []diagnostics.Diagnostic
}

// At is a value with its position.
type At[T any] struct {
	Value T
	Pos   diagnostics.Pos
	Given bool // the key exists and has a value of the right type
}

func (a *At[T]) decode(d *decoder, v *Value) {
	before := len(d.problems)
	d.decode(v, reflect.ValueOf(&a.Value).Elem())
	a.Pos, a.Given = v.Pos(), len(d.problems) == before
}

// Entry is one key of a Map.
type Entry[T any] struct {
	Name  string
	Pos   diagnostics.Pos // of the key
	Value T
}

// Map is a table with arbitrary keys, in the order of the document.
type Map[T any] []Entry[T]

func (m *Map[T]) decode(d *decoder, v *Value) {
	if v.kind != Table {
		d.add(v.Expected("a table"))
		return
	}
	*m = make(Map[T], len(v.names))
	for i, name := range v.names {
		(*m)[i].decode(d, v.table[name])
	}
}

// mapping is a Map of any type.
type mapping interface {
	other(d *decoder, v *Value, known []string)
}

// other adds v, whose key is none of the known keys of its table. In a Map of tables, a value that is no table is
// reported as a misspelt key.
func (m *Map[T]) other(d *decoder, v *Value, known []string) {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct && v.kind != Table && !reflect.PointerTo(t).Implements(reflect.TypeFor[Unmarshaler]()) {
		d.add(v.Unknown(known))
		return
	}
	var e Entry[T]
	e.decode(d, v)
	*m = append(*m, e)
}

func (e *Entry[T]) decode(d *decoder, v *Value) {
	e.Name, e.Pos = v.name, v.KeyPos()
	d.decode(v, reflect.ValueOf(&e.Value).Elem())
}

// Decode fills the struct that into points to, by the tags `toml:"key"` of its fields, which match
// exactly. It reports all problems at once: unknown keys with the nearest known ones, and values of
// the wrong type with the expected one. A tag `also:"word,other"`, in lower case, has the names of the key
// in other tools: the problem of such a name suggests the key. Fields without a key keep their value. Fields may be
// strings, booleans, integers, floats, structs, slices, string maps, pointers to these, At, Map,
// *Value, any, and Unmarshalers. A Map with the key * takes all other keys.
func (f *File) Decode(into any) []diagnostics.Diagnostic { return f.root.Decode(into) }

// DecodeKnown is Decode that ignores unknown keys, for documents of other programs.
func (f *File) DecodeKnown(into any) []diagnostics.Diagnostic {
	d := &decoder{file: f, lax: true}
	d.decode(f.root, reflect.ValueOf(into).Elem())
	return d.problems
}

// Decode is File.Decode for one value.
func (v *Value) Decode(into any) []diagnostics.Diagnostic {
	d := &decoder{file: v.file}
	d.decode(v, reflect.ValueOf(into).Elem())
	return d.problems
}

type decoder struct {
	file     *File
	lax      bool
	problems []diagnostics.Diagnostic
}

// positioned are the types of this package that need the decoder.
type positioned interface{ decode(d *decoder, v *Value) }

func (d *decoder) add(problems ...diagnostics.Diagnostic) {
	room := max(0, maxProblems-len(d.problems))
	d.problems = append(d.problems, problems[:min(room, len(problems))]...)
}

func (d *decoder) decode(v *Value, into reflect.Value) {
	switch target := into.Addr().Interface().(type) {
	case positioned:
		target.decode(d, v)
		return
	case Unmarshaler:
		d.add(target.UnmarshalTOML(v)...)
		return
	case **Value:
		*target = v
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		elem := reflect.New(into.Type().Elem())
		d.decode(v, elem.Elem())
		into.Set(elem)
	case reflect.Struct:
		d.structure(v, into)
	case reflect.Slice:
		d.slice(v, into)
	case reflect.Map:
		d.stringMap(v, into)
	case reflect.Interface:
		into.Set(reflect.ValueOf(v.scalar))
	default:
		d.scalar(v, into)
	}
}

func (d *decoder) scalar(v *Value, into reflect.Value) {
	switch x := v.scalar.(type) {
	case string:
		if into.Kind() == reflect.String {
			into.SetString(x)
			return
		}
	case bool:
		if into.Kind() == reflect.Bool {
			into.SetBool(x)
			return
		}
	case int64:
		if into.CanInt() && into.OverflowInt(x) {
			d.add(v.Expected("a smaller one"))
			return
		}
		if into.CanInt() {
			into.SetInt(x)
			return
		}
		if into.CanFloat() {
			into.SetFloat(float64(x))
			return
		}
	case float64:
		if into.CanFloat() {
			into.SetFloat(x)
			return
		}
	}
	d.add(v.Expected(wanted(into.Kind())))
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return String.String()
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return Integer.String()
	}
}

func (d *decoder) slice(v *Value, into reflect.Value) {
	if v.kind != Array {
		d.add(v.Expected("an array"))
		return
	}
	out := reflect.MakeSlice(into.Type(), len(v.list), len(v.list))
	for i, elem := range v.list {
		d.decode(elem, out.Index(i))
	}
	into.Set(out)
}

func (d *decoder) stringMap(v *Value, into reflect.Value) {
	if v.kind != Table {
		d.add(v.Expected("a table"))
		return
	}
	out := reflect.MakeMapWithSize(into.Type(), len(v.names))
	for _, name := range v.names {
		elem := reflect.New(into.Type().Elem()).Elem()
		d.decode(v.table[name], elem)
		out.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), elem)
	}
	into.Set(out)
}

func (d *decoder) structure(v *Value, into reflect.Value) {
	if v.kind != Table {
		d.add(v.Expected("a table"))
		return
	}
	fields := fieldsOf(into.Type())
	for _, name := range v.names {
		child := v.table[name]
		if i, ok := fields.byKey[name]; ok {
			d.decode(child, into.Field(i))
		} else if fields.rest >= 0 {
			into.Field(fields.rest).Addr().Interface().(mapping).other(d, child, fields.known)
		} else if !d.lax {
			problem := child.Unknown(fields.known)
			if key := fields.also[strings.ToLower(name)]; key != "" {
				problem.Hint = fmt.Sprintf("did you mean %q?", key)
			}
			d.add(problem)
		}
	}
}

// fields are the fields of a struct.
type fields struct {
	byKey map[string]int
	known []string          // the keys, in order
	also  map[string]string // the name in other tools → the key
	rest  int               // the field that takes other keys, -1 for none
}

// others is the key of a Map that takes all keys that no other field has.
const others = "*"

var structs sync.Map // reflect.Type → *fields

func fieldsOf(t reflect.Type) *fields {
	if f, ok := structs.Load(t); ok {
		return f.(*fields)
	}
	f := &fields{byKey: make(map[string]int, t.NumField()), also: map[string]string{}, rest: -1}
	for i := range t.NumField() {
		switch key := keyOf(t.Field(i)); key {
		case "":
		case others:
			f.rest = i
		default:
			f.byKey[key] = i
			f.known = append(f.known, key)
			for _, other := range strings.FieldsFunc(t.Field(i).Tag.Get("also"), func(r rune) bool { return r == ',' }) {
				f.also[other] = key
			}
		}
	}
	structs.Store(t, f)
	return f
}

// keyOf returns the key of a field, "" for none.
func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	if key == "-" {
		return ""
	}
	return key
}

// Unknown returns the diagnostic of a key that is none of known.
func (v *Value) Unknown(known []string) diagnostics.Diagnostic {
	where := ""
	if v.parent != nil && v.parent.parent != nil {
		where = " in " + v.parent.Path()
	}
	return v.KeyPos().Error(RuleUnknownKey, "unknown key %s%s", Key(v.name), where).WithHint(diagnostics.Suggest(v.name, known))
}
