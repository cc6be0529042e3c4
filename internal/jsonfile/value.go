// Package jsonfile reads JSON files that people write, manifests and settings, with
// the place of everything in them, so that a problem can be told where it stands.
package jsonfile

import (
	"fmt"

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

// String says what it is, for messages: "an object".
func (k Kind) String() string {
	return [...]string{"nothing", "an object", "a list", "a string", "a number", "true or false", "null"}[k]
}

// Value is one JSON value with its place. It does not change. All its methods
// work on a nil Value, which is an absent one.
type Value struct {
	kind    Kind
	line    int32
	col     int32
	text    string // of a string what it says, of a number or literal how it is written
	members []Member
	items   []*Value
}

// Member is one name of an object. Of a name that stands there twice only the
// last counts, as in JavaScript.
type Member struct {
	Name  string
	Line  int // 1-based
	Value *Value
}

// Kind tells the type, 0 for an absent value.
func (v *Value) Kind() Kind {
	if v == nil {
		return 0
	}
	return v.kind
}

// Line is where the value begins, from 1; 0 for an absent value.
func (v *Value) Line() int {
	if v == nil {
		return 0
	}
	return int(v.line)
}

// Col is the column in bytes where the value begins, from 1; 0 for an absent value.
func (v *Value) Col() int {
	if v == nil {
		return 0
	}
	return int(v.col)
}

// Text gives a string's value, "" for anything else.
func (v *Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// Literal gives a number, true, false or null as it is written, "" for anything
// else.
func (v *Value) Literal() string {
	if k := v.Kind(); k < Number {
		return ""
	}
	return v.text
}

// IsTrue tells whether v is the literal true.
func (v *Value) IsTrue() bool { return v.Literal() == "true" }

// Members gives the names of an object in the order of the file, none for
// anything else.
func (v *Value) Members() []Member {
	if v == nil {
		return nil
	}
	return v.members
}

// Items gives the elements of an array, none for anything else.
func (v *Value) Items() []*Value {
	if v == nil {
		return nil
	}
	return v.items
}

// Get gives what stands under a path of names, nil where there is nothing.
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

// Mistyped gives the diagnostic of a value in the file at path that is not what it
// should be: Mistyped(path, "scripts", "an object").
func (v *Value) Mistyped(path, name, want string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: path, Line: v.Line(), Col: v.Col(),
		Severity: diagnostics.Error,
		Message:  fmt.Sprintf("%q is %v, expected %s", name, v.Kind(), want),
		Rule:     RuleType,
		Source:   diagnostics.Source,
	}
}
