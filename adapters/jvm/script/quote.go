package script

import (
	"strings"
	"unicode/utf8"
)

// quoted reads a string in single or double quotes, one or three of them.
func (l *lexer) quoted(q byte) {
	quote := string(q)
	if three := strings.Repeat(quote, 3); strings.HasPrefix(l.rest(), three) {
		quote = three
	}
	line := l.line
	s := reader{src: l.src, pos: l.pos + len(quote), quote: quote, raw: l.kotlin && len(quote) == 3, expressions: q == '"'}
	if !s.read(0) {
		if l.regexps {
			l.toLineEnd()
			return
		}
		l.fail("", "the string that begins here has no end")
		return
	}
	l.skip(s.pos - l.pos)
	l.tokens = append(l.tokens, token{kind: text, text: s.b.String(), computed: s.computed, line: line})
}

// reader reads a string between its quotes.
type reader struct {
	src         string
	pos         int
	quote       string
	raw         bool // no escapes
	expressions bool
	computed    bool
	lost        bool // a "${" was not closed: later ones are not either
	b           strings.Builder
}

func (s *reader) read(depth int) bool {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case strings.HasPrefix(s.src[s.pos:], s.quote):
			s.pos += len(s.quote)
			return true
		case c == '\n' && len(s.quote) == 1:
			return false
		case c == '\\' && !s.raw && s.pos+1 < len(s.src):
			s.escape()
		case c == '$' && s.expressions && s.expression(depth):
			s.computed = true
		default:
			s.b.WriteByte(c)
			s.pos++
		}
	}
	return false
}

// escape reads the escape after a backslash.
func (s *reader) escape() {
	_, size := utf8.DecodeRuneInString(s.src[s.pos+1:])
	c := s.src[s.pos+1 : s.pos+1+size]
	s.pos += 1 + size
	switch c {
	case "n":
		c = "\n"
	case "t":
		c = "\t"
	case "r":
		c = "\r"
	case "\n":
		c = "" // the string continues on the next line
	}
	s.b.WriteString(c)
}

// expression copies "$name" or "${…}" and reports whether it found one.
func (s *reader) expression(depth int) bool {
	rest := s.src[s.pos+1:]
	if strings.HasPrefix(rest, "{") {
		if s.lost {
			return false
		}
		end, ok := braces(s.src, s.pos+1, depth)
		if !ok {
			s.lost = true
			return false
		}
		s.b.WriteString(s.src[s.pos:end])
		s.pos = end
		return true
	}
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z' || n > 0 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.' && n+1 < len(rest) && isLetter(rest[n+1]))) {
		n++
	}
	if n == 0 {
		return false
	}
	s.b.WriteString(s.src[s.pos : s.pos+1+n])
	s.pos += 1 + n
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// Bounds of an expression in a string: strings within, and bytes.
const (
	maxNesting    = 8
	maxExpression = 4 << 10
)

// braces returns where the block that begins at pos ends.
func braces(src string, pos, depth int) (end int, ok bool) {
	open := 0
	for limit := min(len(src), pos+maxExpression); pos < limit; {
		switch c := src[pos]; c {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return pos + 1, true
			}
		case '"', '\'':
			if depth == maxNesting {
				return 0, false
			}
			s := reader{src: src, pos: pos + 1, quote: string(c), expressions: c == '"'}
			if !s.read(depth + 1) {
				return 0, false
			}
			pos = s.pos
			continue
		}
		pos++
	}
	return 0, false
}

// backticks reads a name of Kotlin in backticks.
func (l *lexer) backticks() {
	name, _, closed := strings.Cut(l.rest()[1:], "`")
	if !closed || strings.Contains(name, "\n") {
		l.fail("", "the name that begins here has no end")
		return
	}
	l.add(word, name)
	l.pos += len(name) + 2
}

// regexpBegins reports whether a "/" begins a string of Groovy: where an expression may
// begin, and with a second "/" on the same line.
func (l *lexer) regexpBegins() bool {
	if l.kotlin || len(l.tokens) == 0 {
		return false
	}
	last := l.tokens[len(l.tokens)-1]
	if last.kind != other || !strings.Contains("(,=[{~!&|?:+", last.text) {
		return false
	}
	line, _, _ := strings.Cut(l.rest()[1:], "\n")
	return strings.Contains(line, "/")
}

// dollars reads a string of Groovy between "$/" and "/$".
func (l *lexer) dollars() {
	inside, _, closed := strings.Cut(l.rest()[2:], "/$")
	if !closed {
		l.fail("", "the string that begins here has no end")
		return
	}
	l.tokens = append(l.tokens, token{kind: text, text: inside, computed: true, line: l.line})
	l.skip(len(inside) + 4)
}

// slashes reads a string between slashes.
func (l *lexer) slashes() {
	l.regexps = true
	for i := l.pos + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '/':
			l.tokens = append(l.tokens, token{kind: text, text: l.src[l.pos+1 : i], computed: true, line: l.line})
			l.pos = i + 1
			return
		case '\n':
			l.pos++
			return
		}
	}
	l.pos++
}
