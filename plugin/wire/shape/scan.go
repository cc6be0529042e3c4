package shape

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bentobuild/bento/internal/jsontext"
)

// scanner walks over JSON text once. It checks the grammar, and against a Shape if it has one.
type scanner struct {
	data   []byte
	pos    int
	depth  int // how many more levels values may nest
	values int // how many more values a Shape may take
	unique bool
	// hidden is data without the names that no Record has; nil if it has no such names.
	hidden []byte
}

// Check checks that text is one value of JSON that is nested no deeper than depth, itself
// being 1.
func Check(text []byte, depth int) error {
	s := scanner{data: text, depth: depth}
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}

// Unique is Check for text of which no object has two members of one name. The error of a second one
// is an *Error with its path.
func Unique(text []byte, depth int) error {
	s := scanner{data: text, depth: depth, unique: true}
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}

// Members is Check for an object. It calls member for each of its members, in their order;
// both slices may be parts of text.
func Members(text []byte, depth int, member func(name, value []byte)) error {
	s := scanner{data: text, depth: depth}
	if s.peek() != '{' {
		return s.syntax("an object")
	}
	if s.depth--; s.depth < 0 {
		return ErrDeep
	}
	s.pos++
	for more := s.begins('}'); more; {
		name, _, err := s.key()
		if err != nil {
			return err
		}
		s.peek()
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		member(name, s.data[start:s.pos])
		if more, err = s.more('}'); err != nil {
			return err
		}
	}
	return s.end()
}

// ErrDeep is the error of a text that is nested deeper than allowed.
var ErrDeep = errors.New("JSON nested too deep")

// syntax returns the error of text that is not JSON.
func (s *scanner) syntax(expected string) error {
	if s.pos >= len(s.data) {
		return fmt.Errorf("the JSON ends where %s was expected", expected)
	}
	return fmt.Errorf("no JSON at byte %d: expected %s, got %.*q", s.pos, expected, preview/2, s.data[s.pos:])
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// value skips one value of any kind.
func (s *scanner) value() error { return s.shaped(nil) }

// shaped skips one value that must have the shape sh, unless that is nil.
func (s *scanner) shaped(sh *Shape) error {
	c := s.peek()
	if err := sh.accepts(s, c); err != nil {
		return err
	}
	start := s.pos
	switch {
	case c == '{':
		return s.nested(sh, (*scanner).object)
	case c == '[':
		return s.nested(sh, (*scanner).array)
	}
	if err := s.scalar(); err != nil {
		return err
	}
	return sh.judge(s.data[start:s.pos])
}

func (s *scanner) nested(sh *Shape, inside func(*scanner, *Shape) error) error {
	if s.depth--; s.depth < 0 {
		return ErrDeep
	}
	s.pos++
	err := inside(s, sh)
	s.depth++
	return err
}

// object skips the rest of an object.
func (s *scanner) object(sh *Shape) error {
	seen := members{of: sh}
	var names map[string]bool
	if s.unique {
		names = make(map[string]bool)
	}
	for more := s.begins('}'); more; {
		s.peek()
		start := s.pos
		key, quoted, err := s.key()
		if err != nil {
			return err
		}
		if names[string(key)] {
			return under(key, &Error{Want: "one value", Got: "two"})
		}
		if s.unique {
			names[string(key)] = true
		}
		member, known, err := seen.next(key)
		if err != nil {
			return err
		}
		if !known {
			s.hide(start, len(quoted))
		}
		if err := s.shaped(member); err != nil {
			return under(key, err)
		}
		if more, err = s.more('}'); err != nil {
			return err
		}
	}
	return seen.complete()
}

// array skips the rest of an array.
func (s *scanner) array(sh *Shape) error {
	i := 0
	for more := s.begins(']'); more; i++ {
		elem, err := sh.element(i)
		if err != nil {
			return err
		}
		if err := s.shaped(elem); err != nil {
			return at(i, err)
		}
		if more, err = s.more(']'); err != nil {
			return err
		}
	}
	return nil
}

// begins reports whether a first item follows; otherwise it skips the end.
func (s *scanner) begins(end byte) bool {
	if s.peek() != end {
		return true
	}
	s.pos++
	return false
}

// more skips a comma before an item, or the end.
func (s *scanner) more(end byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case end:
		s.pos++
		return false, nil
	}
	return false, s.syntax(fmt.Sprintf("',' or '%c'", end))
}

// key skips the name of a member and its colon, and returns the name, also quoted.
func (s *scanner) key() (name, quoted []byte, err error) {
	if s.peek() != '"' {
		return nil, nil, s.syntax("a name in quotes")
	}
	start := s.pos
	if err := s.scalar(); err != nil {
		return nil, nil, err
	}
	quoted = s.data[start:s.pos]
	if s.peek() != ':' {
		return nil, nil, s.syntax("':'")
	}
	s.pos++
	return jsontext.Unquote(quoted), quoted, nil
}

// hide replaces the quoted name of n bytes at start by a name that no struct has, since encoding/json
// matches names in any case. The caller's bytes and all offsets stay unchanged.
func (s *scanner) hide(start, n int) {
	if s.hidden == nil {
		s.hidden = bytes.Clone(s.data)
	}
	for i := start + 1; i < start+n-1; i++ {
		s.hidden[i] = '-'
	}
}

// decodable returns the text to decode: data, or a copy without the hidden names.
func (s *scanner) decodable() []byte {
	if s.hidden != nil {
		return s.hidden
	}
	return s.data
}

// scalar skips a string, number, true, false or null.
func (s *scanner) scalar() error {
	end, want := jsontext.Scalar(s.data, s.pos)
	if s.pos = end; want != "" {
		return s.syntax(want)
	}
	return nil
}

// end checks that only white space follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.syntax("the end")
	}
	return nil
}
