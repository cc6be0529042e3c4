package shape

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// scanner walks over JSON text once. It checks the grammar, and where it has a Shape also
// what the shape wants.
type scanner struct {
	data   []byte
	pos    int
	depth  int // how many more levels values may nest
	values int // how many more values a Shape may take
	// hidden is data without the names that no Record has; nil while there are none.
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

// Members is Check for an object. It calls member for each of its members, in their order;
// both slices may be parts of text.
func Members(text []byte, depth int, member func(name, value []byte)) error {
	s := scanner{data: text, depth: depth}
	if s.peek() != '{' {
		return s.syntax("an object")
	}
	if s.depth--; s.depth < 0 {
		return errDeep
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
		if more, err = s.goesOn('}'); err != nil {
			return err
		}
	}
	return s.end()
}

var errDeep = errors.New("JSON nested too deep")

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
	case c == '"':
		if err := s.str(); err != nil {
			return err
		}
	case c == '-' || '0' <= c && c <= '9':
		if err := s.number(); err != nil {
			return err
		}
	default:
		if err := s.literal(c); err != nil {
			return err
		}
	}
	return sh.judge(s.data[start:s.pos])
}

func (s *scanner) nested(sh *Shape, inside func(*scanner, *Shape) error) error {
	if s.depth--; s.depth < 0 {
		return errDeep
	}
	s.pos++
	err := inside(s, sh)
	s.depth++
	return err
}

// object skips the rest of an object.
func (s *scanner) object(sh *Shape) error {
	seen := members{of: sh}
	for more := s.begins('}'); more; {
		s.peek()
		start := s.pos
		key, quoted, err := s.key()
		if err != nil {
			return err
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
		if more, err = s.goesOn('}'); err != nil {
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
		if more, err = s.goesOn(']'); err != nil {
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

// goesOn skips a comma before an item, or the end.
func (s *scanner) goesOn(end byte) (bool, error) {
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
	if err := s.str(); err != nil {
		return nil, nil, err
	}
	quoted = s.data[start:s.pos]
	if s.peek() != ':' {
		return nil, nil, s.syntax("':'")
	}
	s.pos++
	return Unquote(quoted), quoted, nil
}

// hide replaces the quoted name of n bytes at start by one that no struct has:
// encoding/json would match it without regard to case. The caller's bytes stay unchanged,
// and so do all offsets.
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

// Unquote returns the text of a quoted string of JSON that is known to be valid. The result
// may be a part of it.
func Unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil // impossible: it is valid
	}
	return []byte(text)
}

// str skips a string.
func (s *scanner) str() error {
	for s.pos++; s.pos < len(s.data); s.pos++ {
		s.plain()
		if s.pos == len(s.data) {
			break
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.syntax("an escape for a control character")
		}
	}
	return s.syntax("'\"'")
}

// plain skips text in a string eight bytes at a time, up to one with a possible special
// byte.
func (s *scanner) plain() {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(s.data)-s.pos >= 8; s.pos += 8 {
		x := binary.LittleEndian.Uint64(s.data[s.pos:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// The top bit of a byte is set where it is below ' ', '"' or '\\', and maybe above
		// such a byte; str then checks each byte.
		if ((x-ones*' ')&^x|(quote-ones)&^quote|(slash-ones)&^slash)&tops != 0 {
			return
		}
	}
}

// escape skips an escape but for its last byte.
func (s *scanner) escape() error {
	if s.pos++; s.pos >= len(s.data) {
		return s.syntax("an escape")
	}
	switch s.data[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if s.pos++; s.pos >= len(s.data) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), s.data[s.pos]) < 0 {
				return s.syntax("four hexadecimal digits")
			}
		}
		return nil
	}
	return s.syntax("an escape")
}

// number skips a number.
func (s *scanner) number() error {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return s.syntax("a digit")
	}
	if s.skip('.') && !s.digits() {
		return s.syntax("a digit")
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		if !s.digits() {
			return s.syntax("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// literal skips true, false or null, which begins with c.
func (s *scanner) literal(c byte) error {
	for _, word := range [...]string{"true", "false", "null"} {
		if word[0] == c && bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	return s.syntax("a value")
}

// end checks that only white space follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.syntax("the end")
	}
	return nil
}
