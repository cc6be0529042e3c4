package tomlfile

import (
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds.
const (
	String Kind = iota + 1
	Integer
	Float
	Bool
	Date
	Array
	Table
)

// String returns the kind with its article, for messages.
func (k Kind) String() string {
	names := [...]string{"nothing", "a string", "an integer", "a float", "a boolean", "a date", "an array", "a table"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// origin is the form in which a table or array was defined, which decides whether entries may be added.
type origin uint8

const (
	byValue    origin = iota // complete, after "="
	byDots                   // a part of a dotted key
	byLonger                 // a part of a longer header
	byHeader                 // its own [header]
	byElements               // [[header]]
)

// Value is one value of a document, with its position.
type Value struct {
	file   *File
	parent *Value
	name   string // key, or index in an array
	kind   Kind
	origin origin

	key        int // offset of the key; of an element, of itself
	start, end int // of the value; of a table made by a header, of the header's key
	tail       int // offset for a new key of a table made by a header

	scalar any
	names  []string // keys of a table in order
	table  map[string]*Value
	list   []*Value
}

// Kind returns the type.
func (v *Value) Kind() Kind { return v.kind }

// Name returns the key or the index of v.
func (v *Value) Name() string { return v.name }

// Pos returns the position of the value itself.
func (v *Value) Pos() diagnostics.Pos { return v.file.pos(v.start) }

// KeyPos returns the position of the key, and for an array element that of the value.
func (v *Value) KeyPos() diagnostics.Pos { return v.file.pos(v.key) }

// Text returns a string, and reports whether v is one.
func (v *Value) Text() (string, bool) {
	s, ok := v.scalar.(string)
	return s, ok
}

// Any returns v as a plain value, as in File.Tree.
func (v *Value) Any() any {
	return v.scalar
}

// Keys returns the keys of a table in the order of the document. The caller must
// not change it.
func (v *Value) Keys() []string { return v.names }

// Elems returns the elements of an array. The caller must not change it.
func (v *Value) Elems() []*Value { return v.list }

// Child returns the value under a key of a table or an index of an array, or nil.
func (v *Value) Child(name string) *Value {
	if v.kind == Table {
		return v.table[name]
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(v.list) {
		return nil
	}
	return v.list[i]
}

// Path returns the dotted key of v from the root, for messages:
// tasks."a:b".inputs[0].
func (v *Value) Path() string {
	var parts []string
	for at := v; at.parent != nil; at = at.parent {
		part := Key(at.name)
		if at.parent.kind == Array {
			part = "[" + at.name + "]"
		} else if at.parent.parent != nil {
			part = "." + part
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return b.String()
}

// Expected returns the diagnostic of a value of the wrong type; want is the right type, with its
// article.
func (v *Value) Expected(want string) diagnostics.Diagnostic {
	return v.Pos().Error(RuleWrongType, "%s is %s, expected %s", v.Path(), v.kind, want)
}

// Key returns a key as TOML text, bare if possible.
func Key(name string) string {
	bare := name != ""
	for _, c := range []byte(name) {
		bare = bare && (c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if bare {
		return name
	}
	return literalString(name)
}
