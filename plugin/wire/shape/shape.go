// Package shape checks JSON from an untrusted peer: it walks over text once, without
// decoding it, and compares it with its required shape.
package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/jsontext"
)

// Shape is the required form and size of a JSON value. Shapes are values: methods return
// changed copies. A nil *Shape accepts any value.
type Shape struct {
	want   string // for messages: "a string"
	starts string // the first bytes that such a value can have
	max    int    // bytes of a string, elements of a list, members of a table
	null   bool
	why    func(text string) string // the fault of a string, "" for none
	low    int64
	fields []Field
	elem   *Shape // of a list or a table
	table  bool   // names are free
}

// Field is one member of a record.
type Field struct {
	Name  string
	Shape *Shape
	Must  bool // be there
}

// preview is how many bytes of a peer a message quotes.
const preview = 60

// plainly is the fault of a string that does not match the description, without a further reason.
const plainly = "\x00"

// MaxValues is how many values of known shape Decode accepts in one answer.
const MaxValues = 200_000

const digits = "-0123456789"

// Bool returns the shape of true and false.
func Bool() *Shape { return &Shape{want: "true or false", starts: "tf"} }

// Int returns the shape of an integer from low to the largest int32.
func Int(low int64) *Shape {
	return &Shape{want: fmt.Sprintf("an integer from %d to %d", low, math.MaxInt32), starts: digits, low: low}
}

// Text returns the shape of a string of at most limit bytes.
func Text(limit int) *Shape { return &Shape{want: "a string", starts: `"`, max: limit} }

// List returns the shape of an array of at most limit values.
func List(limit int, elem *Shape) *Shape {
	return &Shape{want: "an array", starts: "[", max: limit, elem: elem}
}

// Table returns the shape of an object with at most limit members of free names.
func Table(limit int, elem *Shape) *Shape {
	return &Shape{want: "an object", starts: "{", max: limit, elem: elem, table: true}
}

// Record returns the shape of an object of known members. It ignores other members, even if the name
// differs from a known one only in case.
func Record(fields ...Field) *Shape {
	want := "an object"
	joint := " with "
	for _, f := range fields {
		if f.Must {
			want, joint = want+joint+strconv.Quote(f.Name), " and "
		}
	}
	return &Shape{want: want, starts: "{", fields: fields}
}

// Must returns a required member, of a shape that is not nil.
func Must(name string, sh *Shape) Field { return Field{Name: name, Shape: sh, Must: true} }

// May returns an optional member, which may also be null.
func May(name string, sh *Shape) Field { return Field{Name: name, Shape: sh.OrNull()} }

// OrNull returns the shape that also accepts null.
func (sh *Shape) OrNull() *Shape {
	if sh == nil {
		return nil
	}
	c := *sh
	c.null = true
	c.want += ", or null"
	return &c
}

// Called returns the shape with another description for messages.
func (sh *Shape) Called(want string) *Shape {
	c := *sh
	c.want = want
	return &c
}

// That returns the shape of a string that also passes test; want describes it.
func (sh *Shape) That(want string, test func(text string) bool) *Shape {
	return sh.Unless(want, func(text string) string {
		if test(text) {
			return ""
		}
		return plainly
	})
}

// Unless returns the shape of a string for which fault returns "". Otherwise the result of fault is the
// reason. want describes the string.
func (sh *Shape) Unless(want string, fault func(text string) string) *Shape {
	c := *sh
	c.want, c.why = want, fault
	return &c
}

// Error is the error of a value that does not have its shape.
type Error struct {
	Path string // "default_tasks[2].run", "" for the value itself
	Want string
	Got  string
	Why  string // the fault of Got, "" if Want describes it
}

func (e *Error) Error() string {
	text := fmt.Sprintf("expected %s, got %s", e.Want, e.Got)
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Path == "" {
		return text
	}
	return e.Path + ": " + text
}

// Decode decodes raw, a JSON value, into the value that into points to, if it has the shape
// sh. The error wraps *Error unless raw is not JSON.
func Decode(raw []byte, sh *Shape, into any) error {
	s := scanner{data: raw, depth: math.MaxInt16, values: MaxValues}
	if err := s.shaped(sh); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	if err := json.Unmarshal(s.decodable(), into); err != nil {
		return &Error{Want: "an answer of its type", Got: err.Error()}
	}
	return nil
}

// accepts checks the first byte of a value.
func (sh *Shape) accepts(s *scanner, c byte) error {
	if sh == nil {
		return nil
	}
	if s.values--; s.values < 0 {
		return &Error{Want: fmt.Sprintf("at most %d values", MaxValues), Got: "more"}
	}
	if sh.null && c == 'n' || strings.IndexByte(sh.starts, c) >= 0 {
		return nil
	}
	return &Error{Want: sh.want, Got: kindOf(c)}
}

func kindOf(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// judge checks a whole string, number or literal.
func (sh *Shape) judge(raw []byte) error {
	switch {
	case sh == nil || raw[0] == 'n':
		return nil
	case raw[0] == '"':
		return sh.judgeText(raw)
	case sh.starts == digits:
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil || n < sh.low {
			return &Error{Want: sh.want, Got: fmt.Sprintf("%.*s", preview, raw)}
		}
	}
	return nil
}

func (sh *Shape) judgeText(raw []byte) error {
	if len(raw)-2 > sh.max || sh.why != nil {
		text := jsontext.Unquote(raw)
		if len(text) > sh.max {
			return &Error{Want: fmt.Sprintf("at most %d bytes", sh.max), Got: strconv.Itoa(len(text))}
		}
		if sh.why == nil {
			return nil
		}
		if why := sh.why(string(text)); why != "" {
			return &Error{Want: sh.want, Got: fmt.Sprintf("%.*q", preview, text), Why: strings.TrimPrefix(why, plainly)}
		}
	}
	return nil
}

// element returns the shape of the element with index i.
func (sh *Shape) element(i int) (*Shape, error) {
	if sh == nil {
		return nil, nil
	}
	if i >= sh.max {
		return nil, &Error{Want: fmt.Sprintf("at most %d elements", sh.max), Got: "more"}
	}
	return sh.elem, nil
}

// members are the members of one object that were read so far.
type members struct {
	of   *Shape
	n    int
	seen uint64 // bit i is fields[i]
}

// next returns the shape of the member with this name, and reports whether the object can
// have it.
func (m *members) next(name []byte) (sh *Shape, known bool, err error) {
	if m.of == nil {
		return nil, true, nil
	}
	if m.n++; m.of.table && m.n > m.of.max {
		return nil, false, &Error{Want: fmt.Sprintf("at most %d members", m.of.max), Got: "more"}
	}
	for i, f := range m.of.fields {
		if f.Name != string(name) {
			continue
		}
		if m.seen&(1<<i) != 0 {
			return nil, true, under(name, &Error{Want: "one value", Got: "two"})
		}
		m.seen |= 1 << i
		return f.Shape, true, nil
	}
	return m.of.elem, m.of.table, nil
}

// complete checks that all required members were read.
func (m *members) complete() error {
	if m.of == nil {
		return nil
	}
	for i, f := range m.of.fields {
		if f.Must && m.seen&(1<<i) == 0 {
			return under([]byte(f.Name), &Error{Want: f.Shape.want, Got: "nothing"})
		}
	}
	return nil
}

// under puts the name of a member in front of the path in err.
func under(name []byte, err error) error {
	step := string(name)
	if !plainName(step) {
		step = fmt.Sprintf("%.*q", preview, name)
	}
	return inside(step, err)
}

// at puts an index in front of the path in err.
func at(i int, err error) error { return inside("["+strconv.Itoa(i)+"]", err) }

func inside(step string, err error) error {
	var wrong *Error
	if !errors.As(err, &wrong) {
		return err
	}
	return &Error{Path: join(step, wrong.Path), Want: wrong.Want, Got: wrong.Got, Why: wrong.Why}
}

func join(step, path string) string {
	if path == "" || path[0] == '[' {
		return step + path
	}
	return step + "." + path
}

func plainName(name string) bool {
	for _, c := range []byte(name) {
		if !(c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return name != "" && len(name) <= preview
}
