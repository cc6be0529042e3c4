package packagejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// RuleSyntax is the rule of the diagnostic of a file that is no JSON.
const RuleSyntax = "json_syntax"

// Kind is the type of a Value.
type Kind uint8

// The kinds. Other is a number, true, false or null.
const (
	Object Kind = iota + 1
	Array
	String
	Other
)

// Value is one JSON value with its place. It does not change. All its methods
// work on a nil Value, which is an absent one.
type Value struct {
	kind    Kind
	line    int
	col     int
	text    string
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

// Parse reads JSON. path is what messages call the file. The error is a
// diagnostics.Problems with file, line and column.
func Parse(path string, data []byte) (*Value, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, syntaxError(path, data, i, "a NUL byte, expected UTF-8 text (is the file UTF-16?)")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, decodeError(path, data, err)
	}
	p := &parser{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	return p.value(), nil
}

// ParseLoose is Parse for a dialect of JSON that many tools of this ecosystem
// read: with comments and with commas after the last element.
func ParseLoose(path string, data []byte) (*Value, error) {
	return Parse(path, strict(data))
}

func decodeError(path string, data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return syntaxError(path, data, 0, err.Error())
	}
	// The offset is of the byte behind the one that is wrong, of the end when
	// something is missing there.
	offset := int(syntax.Offset)
	if offset > 0 && !strings.HasPrefix(err.Error(), "unexpected end") {
		offset--
	}
	return syntaxError(path, data, offset, err.Error())
}

func syntaxError(path string, data []byte, offset int, message string) error {
	before := data[:min(offset, len(data))]
	return diagnostics.Problems{{
		File:     path,
		Line:     1 + bytes.Count(before, []byte{'\n'}),
		Col:      len(before) - bytes.LastIndexByte(before, '\n'),
		Severity: diagnostics.Error,
		Message:  fmt.Sprintf("not valid JSON: %s", message),
		Rule:     RuleSyntax,
		Source:   diagnostics.Source,
	}}
}

// parser walks data that is known to be valid, so no error can come.
type parser struct {
	data []byte
	dec  *json.Decoder
	done int // offset up to which lines are counted
	line int
	bol  int // offset of the start of the line
}

// place moves to the next token and gives where it begins.
func (p *parser) place() (line, col int) {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	for i := p.done; i < at; i++ {
		if p.data[i] == '\n' {
			p.line++
			p.bol = i + 1
		}
	}
	p.done = at
	return p.line, at - p.bol + 1
}

func (p *parser) value() *Value {
	v := &Value{}
	v.line, v.col = p.place()
	token, err := p.dec.Token()
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			p.object(v)
		} else {
			p.array(v)
		}
	case string:
		v.kind, v.text = String, t
	default:
		v.kind, v.text = Other, fmt.Sprint(t)
	}
	if err != nil {
		v.kind = Other
	}
	return v
}

func (p *parser) object(v *Value) {
	v.kind = Object
	index := make(map[string]int)
	for p.dec.More() {
		line, _ := p.place()
		token, err := p.dec.Token()
		if err != nil {
			return
		}
		name, _ := token.(string)
		m := Member{Name: name, Line: line, Value: p.value()}
		if i, twice := index[name]; twice {
			v.members[i] = m
			continue
		}
		index[name] = len(v.members)
		v.members = append(v.members, m)
	}
	p.dec.Token()
}

func (p *parser) array(v *Value) {
	v.kind = Array
	for p.dec.More() {
		v.items = append(v.items, p.value())
	}
	p.dec.Token()
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
	return v.line
}

// Text gives a string's value, "" for anything else.
func (v *Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.text
}

// IsTrue tells whether v is the literal true.
func (v *Value) IsTrue() bool { return v.Kind() == Other && v.text == "true" }

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
		for _, m := range v.Members() {
			if m.Name == name {
				next = m.Value
			}
		}
		v = next
	}
	return v
}
