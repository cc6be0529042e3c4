// Package jsonfile reads JSON files that people write, such as manifests and settings, with the
// position of every value for diagnostics. Readers of similar formats also return its values.
package jsonfile

import (
	"github.com/bentobuild/bento/diagnostics"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds. An absent value has kind 0.
const (
	Object Kind = iota + 1
	Array
	String
	Number
	Bool
	Null
)

// String returns the kind for messages: "an object".
func (k Kind) String() string {
	return [...]string{"nothing", "an object", "a list", "a string", "a number", "true or false", "null"}[k]
}

// Value is one JSON value with its position. It does not change. All methods accept a nil Value,
// which is an absent one.
type Value struct {
	kind    Kind
	line    int32
	col     int32
	text    string // value of a string, source text of a number or literal
	members []Member
	items   []*Value
}

// Member is one name of an object. The last of duplicate names counts, as in JavaScript.
type Member struct {
	Name  string
	Line  int // 1-based
	Value *Value
}

// Start sets the kind, the line, and the text of a string, of the zero Value v. Start, At and Fill
// are for readers of other formats, before they return the value.
func (v *Value) Start(kind Kind, line int, text string) {
	v.kind, v.line, v.text = kind, int32(line), text
}

// At sets the column of a value that Start made.
func (v *Value) At(col int) { v.col = int32(col) }

// Fill sets the content of an object or an array.
func (v *Value) Fill(members []Member, items []*Value) { v.members, v.items = members, items }

// Kind returns the type, 0 for an absent value.
func (v *Value) Kind() Kind {
	if v == nil {
		return 0
	}
	return v.kind
}

// Line returns the first line of the value, from 1; 0 for an absent value.
func (v *Value) Line() int {
	if v == nil {
		return 0
	}
	return int(v.line)
}

// Col returns the first column of the value in bytes, from 1; 0 for an absent value.
func (v *Value) Col() int {
	if v == nil {
		return 0
	}
	return int(v.col)
}

// Text returns a string's value, "" for anything else.
func (v *Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// Literal returns the source text of a number, true, false or null, "" for anything else.
func (v *Value) Literal() string {
	if k := v.Kind(); k < Number {
		return ""
	}
	return v.text
}

// IsTrue reports whether v is the literal true.
func (v *Value) IsTrue() bool { return v.Literal() == "true" }

// Members returns the names of an object in the order of the file, none for
// anything else.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.members
}

// Items returns the elements of an array, none for anything else.
func (v *Value) Items() []*Value {
	if v == nil {
		return nil
	}
	return v.items
}

// Get returns the value at a path of names, or nil.
func (v *Value) Get(path ...string) *Value {
	for _, name := range path {
		next := (*Value)(nil)
		for i := range v.Members() {
			if v.members[i].Name == name {
				next = v.members[i].Value
			}
		}
		v = next
	}
	return v
}

// RuleType is the rule of the diagnostic of a value of the wrong type.
const RuleType = "json_type"

// Mistyped returns the diagnostic of a value of the wrong type in the file at path: Mistyped(path,
// "scripts", "an object").
func (v *Value) Mistyped(path, name, want string) diagnostics.Diagnostic {
	return diagnostics.Pos{File: path, Line: v.Line(), Col: v.Col()}.Error(RuleType, "%q is %v, expected %s", name, v.Kind(), want)
}
