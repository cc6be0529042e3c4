package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsontext"
)

// RuleSyntax is the rule of the diagnostic of a file with a syntax error.
const RuleSyntax = "json_syntax"

// Limits of a file: the depth of nested values, and their number.
const (
	maxDepth  = 1000
	maxValues = 2 << 20
)

// Parse parses JSON. path is the name of the file in messages. The error is a diagnostics.Problems
// with file, line and column.
func Parse(path string, data []byte) (*Value, error) { return parse(path, data, usual) }

// ParseLoose is Parse that also accepts comments and trailing commas, as many tools do.
func ParseLoose(path string, data []byte) (*Value, error) { return parse(path, data, loose) }

// ParseStrict is Parse that refuses JSON that readers understand in different ways: two members of
// one name in an object, invalid UTF-8, and a byte order mark.
func ParseStrict(path string, data []byte) (*Value, error) { return parse(path, data, strict) }

// IsBlank reports whether a file has only space and comments.
func IsBlank(data []byte) bool {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	p := &parser{data: data, src: string(data), loose: true, line: 1}
	p.space()
	return p.at >= len(p.src)
}

// dialect is the strictness of the parser.
type dialect int

const (
	usual dialect = iota
	loose
	strict
)

func parse(path string, data []byte, d dialect) (*Value, error) {
	if d != strict {
		data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	}
	p := &parser{data: data, src: string(data), loose: d == loose, strict: d == strict, line: 1}
	if p.strict && !utf8.Valid(data) {
		return nil, p.problem(path, validPrefix(data), "invalid UTF-8")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, p.problem(path, i, "a NUL byte, expected UTF-8 text (is the file UTF-16?)")
	}
	v, err := p.value(0)
	if err == nil {
		if p.space(); p.at < len(p.src) {
			err = p.unexpected("the end of the file")
		}
	}
	if err != nil {
		return nil, p.problem(path, p.at, err.Error())
	}
	return v, nil
}

// validPrefix returns the number of bytes of data before the first invalid UTF-8.
func validPrefix(data []byte) (n int) {
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size <= 1 {
			return n
		}
		n += size
	}
	return n
}

// problem returns the error at offset.
func (p *parser) problem(path string, offset int, message string) error {
	before := p.src[:min(offset, len(p.src))]
	return diagnostics.Problems{diagnostics.Pos{File: path, Line: 1 + strings.Count(before, "\n"), Col: len(before) - strings.LastIndexByte(before, '\n')}.Error(RuleSyntax, "not valid JSON: %s", message)}
}

// parser reads src from at on. After an error, at is its offset.
type parser struct {
	data   []byte
	src    string // of data
	loose  bool
	strict bool
	at     int
	line   int
	bol    int // offset of the start of the line

	count   int
	slab    []Value  // values to allocate from
	members []Member // of the open objects, the innermost last
	items   []*Value // items of the open arrays
}

// unexpected returns the error that names the found token and the wanted one.
func (p *parser) unexpected(want string) error {
	if p.at >= len(p.src) {
		return fmt.Errorf("the file ends, expected %s", want)
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.at:])
	return fmt.Errorf("%q, expected %s", r, want)
}

func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case '\n':
			p.line++
			p.bol = p.at + 1
		case ' ', '\t', '\r':
		case '/':
			if !p.loose || !p.comment() {
				return
			}
			continue
		default:
			return
		}
		p.at++
	}
}

// comment skips a comment. An unterminated one reaches to the end of the file.
func (p *parser) comment() bool {
	rest := p.src[p.at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			rest = rest[:n]
		}
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			rest = rest[:n+4]
		}
		if n := strings.LastIndexByte(rest, '\n'); n >= 0 {
			p.line += strings.Count(rest, "\n")
			p.bol = p.at + n + 1
		}
	default:
		return false
	}
	p.at += len(rest)
	return true
}

// make returns a new value that starts at this offset.
func (p *parser) make(kind Kind) *Value {
	if len(p.slab) == 0 {
		p.slab = make([]Value, min(256, 8+len(p.src)/64))
	}
	v := &p.slab[0]
	p.slab = p.slab[1:]
	v.kind, v.line, v.col = kind, int32(p.line), int32(p.at-p.bol+1)
	return v
}

func (p *parser) value(depth int) (*Value, error) {
	p.space()
	if p.count++; depth > maxDepth || p.count > maxValues {
		return nil, fmt.Errorf("nested deeper than %d, or of more than %d values", maxDepth, maxValues)
	}
	var v *Value
	var err error
	switch p.peek() {
	case '{':
		v = p.make(Object)
		err = p.object(v, depth)
	case '[':
		v = p.make(Array)
		err = p.array(v, depth)
	default:
		v, err = p.scalar()
	}
	return v, err
}

// scalar reads a string, number, true, false or null.
func (p *parser) scalar() (*Value, error) {
	v := p.make(Number)
	raw, err := p.token()
	if err != nil {
		return nil, err
	}
	v.text = raw
	switch raw[0] {
	case '"':
		v.kind, v.text = String, unquote(raw)
	case 't', 'f':
		v.kind = Bool
	case 'n':
		v.kind = Null
	}
	return v, nil
}

// token reads a scalar and returns its source text.
func (p *parser) token() (string, error) {
	start := p.at
	end, want := jsontext.Scalar(p.data, start)
	if p.at = end; want != "" {
		return "", p.unexpected(want)
	}
	return p.src[start:end], nil
}

// unquote returns the text of a quoted string, with U+FFFD for invalid UTF-8.
func unquote(raw string) (text string) {
	if utf8.ValidString(raw) {
		if text, ok := unescape(raw[1 : len(raw)-1]); ok {
			return text
		}
	}
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		panic(err) // it is valid
	}
	return text
}

// unescape returns a text without its escapes; ok is false if a letter follows a backslash. Composer
// escapes every slash.
func unescape(text string) (plain string, ok bool) {
	i := strings.IndexByte(text, '\\')
	if i < 0 {
		return text, true
	}
	out := make([]byte, 0, len(text))
	for ; i >= 0; i = strings.IndexByte(text, '\\') {
		if c := text[i+1]; c != '/' && c != '"' && c != '\\' {
			return "", false
		}
		out = append(append(out, text[:i]...), text[i+1])
		text = text[i+2:]
	}
	return string(append(out, text...)), true
}

// next moves to the next element of an object or array, or to its end.
func (p *parser) next(first bool, end byte, want string) (done bool, err error) {
	p.space()
	if p.peek() == end && p.at < len(p.src) {
		p.at++
		return true, nil
	}
	if first {
		return false, nil
	}
	if p.peek() != ',' {
		return false, p.unexpected("a comma or the end of " + want)
	}
	p.at++
	p.space()
	if p.loose && p.peek() == end {
		p.at++
		return true, nil
	}
	return false, nil
}

func (p *parser) array(v *Value, depth int) error {
	p.at++
	base := len(p.items)
	for first := true; ; first = false {
		done, err := p.next(first, ']', v.kind.String())
		if err != nil {
			return err
		}
		if done {
			break
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		p.items = append(p.items, item)
	}
	v.items = append(v.items, p.items[base:]...)
	p.items = p.items[:base]
	return nil
}

func (p *parser) object(v *Value, depth int) error {
	p.at++
	base := len(p.members)
	var names map[string]bool // of this object, only in a strict file
	for first := true; ; first = false {
		done, err := p.next(first, '}', v.kind.String())
		if err != nil {
			return err
		}
		if done {
			break
		}
		start := p.at
		m, err := p.member(depth)
		if err != nil {
			return err
		}
		if p.strict {
			if names[m.Name] {
				p.at = start
				return fmt.Errorf("a second member %.60q in one object", m.Name)
			}
			if names == nil {
				names = make(map[string]bool)
			}
			names[m.Name] = true
		}
		p.members = append(p.members, m)
	}
	v.members = unique(append(v.members, p.members[base:]...))
	p.members = p.members[:base]
	return nil
}

func (p *parser) member(depth int) (m Member, err error) {
	m.Line = p.line
	if p.peek() != '"' {
		return m, p.unexpected("a name in quotes")
	}
	name, err := p.token()
	if err != nil {
		return m, err
	}
	m.Name = unquote(name)
	if p.space(); p.peek() != ':' {
		return m, p.unexpected("a colon")
	}
	p.at++
	m.Value, err = p.value(depth + 1)
	return m, err
}

// few is the largest number of names that are compared with each other without an index.
const few = 12

// unique keeps only the last of duplicate names, at the position of the first.
func unique(members []Member) []Member {
	if len(members) <= few {
		return uniqueOfFew(members)
	}
	index := make(map[string]int, len(members))
	out := members[:0]
	for _, m := range members {
		if i, twice := index[m.Name]; twice {
			out[i] = m
			continue
		}
		index[m.Name] = len(out)
		out = append(out, m)
	}
	return out
}

func uniqueOfFew(members []Member) []Member {
	out := members[:0]
next:
	for _, m := range members {
		for i := range out {
			if out[i].Name == m.Name {
				out[i] = m
				continue next
			}
		}
		out = append(out, m)
	}
	return out
}
