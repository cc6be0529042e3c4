package terminal

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// maxEscape is the maximal size in bytes of an escape sequence; a longer one counts as endless.
const maxEscape = 4 << 10

// Safe is a writer for a terminal by which the output of a task can only show text. It passes on colours, tabs and
// line ends, and removes other control sequences. It replaces invalid UTF-8 by U+FFFD. It is for one goroutine.
type Safe struct {
	W io.Writer

	begun   []byte // the start of an incomplete sequence or character
	painted bool
}

// Write always returns len(p), although it may hold back an unfinished sequence.
func (s *Safe) Write(p []byte) (int, error) {
	text := append(s.begun, p...)
	s.begun = nil
	var out bytes.Buffer
	for len(text) > 0 {
		n, show := s.next(text)
		if n == 0 {
			if len(text) < maxEscape {
				s.begun = bytes.Clone(text)
				break
			}
			n = 1
		}
		if show {
			s.put(&out, text[:n])
		}
		text = text[n:]
	}
	_, err := s.W.Write(out.Bytes())
	return len(p), err
}

// Close writes the incomplete rest, and ends the last colour.
func (s *Safe) Close() error {
	var out bytes.Buffer
	for range bytes.Runes(s.begun) {
		if s.begun[0] != '\x1b' {
			out.WriteRune(utf8.RuneError)
		}
	}
	if s.painted {
		out.WriteString("\x1b[0m")
	}
	s.begun, s.painted = nil, false
	_, err := s.W.Write(out.Bytes())
	return err
}

func (s *Safe) put(out *bytes.Buffer, piece []byte) {
	if r, n := utf8.DecodeRune(piece); r == utf8.RuneError && n == 1 {
		out.WriteRune(utf8.RuneError)
		return
	}
	s.painted = s.painted || piece[0] == '\x1b'
	out.Write(piece)
}

// next returns the length of the first character or sequence of text, 0 if it is incomplete. It reports whether it
// may be shown.
func (s *Safe) next(text []byte) (n int, show bool) {
	switch c := text[0]; {
	case c == '\x1b':
		return sequence(text)
	case c == '\n' || c == '\t' || c == '\r':
		return 1, true
	case c < ' ' || c == 0x7f:
		return 1, false
	case c < utf8.RuneSelf:
		return 1, true
	case !utf8.FullRune(text):
		return 0, false
	}
	r, n := utf8.DecodeRune(text)
	return n, r < 0x80 || r > 0x9f // the controls of ISO 6429 as characters
}

// sequence returns the length of the escape sequence at the start of text, and whether it
// is a colour.
func sequence(text []byte) (n int, colour bool) {
	if len(text) < 2 {
		return 0, false
	}
	switch text[1] {
	case '[': // ends with a letter or a similar final byte
		for i, c := range text[2:] {
			switch {
			case c >= 0x40 && c <= 0x7e:
				return i + 3, c == 'm'
			case c < 0x20 || c > 0x3f:
				return i + 2, false
			}
		}
		return 0, false
	case ']', 'P', 'X', '^', '_': // ends with BEL or ESC \
		for i, c := range text[2:] {
			if c == '\a' {
				return i + 3, false
			}
			if c == '\x1b' && i+3 < len(text) {
				return i + 4, false
			}
		}
		return 0, false
	}
	return 2, false
}
