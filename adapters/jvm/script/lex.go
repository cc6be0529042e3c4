// Package script reads the build and settings scripts of Gradle, in Groovy and in Kotlin,
// without running them: projects and their dependencies, plugins, and the required Java
// (https://docs.gradle.org/current/userguide/writing_build_scripts.html).
//
// A script is a program. The package returns literal values and marks computed ones, so
// that the caller can assume the worst.
package script

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// Bounds of a script.
const (
	maxTokens = 1 << 20
	maxDepth  = 100
)

// RuleSyntax is the rule of a script that Gradle would refuse.
const RuleSyntax = "script_syntax"

type kind uint8

const (
	word  kind = iota
	text       // a string
	other      // a sign, a number
	eol        // the end of a line, or a semicolon
)

// token is one word, string or sign of a script.
type token struct {
	kind     kind
	text     string // of a string, the text between the quotes, escapes replaced
	computed bool   // a string with expressions
	line     int
}

func (t token) is(sign string) bool { return t.kind != text && t.text == sign }

// lexer splits a script into tokens.
type lexer struct {
	path   string
	src    string
	kotlin bool
	pos    int
	line   int
	begin  int // of the line
	tokens []token
	open   []token // brackets
	// regexps says that a "/" was read as the start of a string: a later syntax error may
	// be a mistake of the lexer.
	regexps bool
	err     error
}

// lex returns the tokens of a script. path is absolute. The error is a
// diagnostics.Problems.
func lex(path string, data []byte) ([]token, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	l := &lexer{path: path, src: string(data), kotlin: strings.HasSuffix(path, ".kts"), line: 1}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		l.fail("save the file as UTF-8", "expected a script in UTF-8")
	}
	for l.err == nil && l.pos < len(l.src) {
		l.next()
		if len(l.tokens) > maxTokens {
			l.fail("", "more than %d words and signs", maxTokens)
		}
	}
	if n := len(l.open); n > 0 && l.err == nil && !l.regexps {
		l.line = l.open[n-1].line
		l.fail("", "the %q that is opened here is never closed", l.open[n-1].text)
	}
	if l.err != nil {
		return nil, l.err
	}
	l.add(eol, "\n")
	return l.tokens, nil
}

// fail stops the lexer with an error at the current place.
func (l *lexer) fail(hint, format string, args ...any) {
	col := 0
	if l.pos <= len(l.src) && l.begin <= l.pos {
		col = utf8.RuneCountInString(l.src[l.begin:l.pos]) + 1
	}
	l.err = diagnostics.Problems{diagnostics.Pos{File: l.path, Line: l.line, Col: col}.Error(RuleSyntax, format, args...).WithHint(hint)}
}

func (l *lexer) add(k kind, s string) {
	l.tokens = append(l.tokens, token{kind: k, text: s, line: l.line})
}

func (l *lexer) rest() string { return l.src[l.pos:] }

// skip moves on by n bytes that may hold line ends.
func (l *lexer) skip(n int) {
	passed := l.src[l.pos : l.pos+n]
	if i := strings.LastIndexByte(passed, '\n'); i >= 0 {
		l.line += strings.Count(passed, "\n")
		l.begin = l.pos + i + 1
	}
	l.pos += n
}

// next reads one token.
func (l *lexer) next() {
	c := l.src[l.pos]
	switch {
	case c == '\n' || c == ';':
		l.add(eol, "\n")
		l.skip(1)
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		l.pos++
	case strings.HasPrefix(l.rest(), "//") || l.pos == 0 && strings.HasPrefix(l.rest(), "#!"):
		l.toLineEnd()
	case strings.HasPrefix(l.rest(), "/*"):
		l.comment()
	case c == '"' || c == '\'':
		l.quoted(c)
	case !l.kotlin && strings.HasPrefix(l.rest(), "$/"):
		l.dollars()
	case c == '`':
		l.backticks()
	case c == '/' && l.regexpBegins():
		l.slashes()
	case c == '\\' && strings.HasPrefix(strings.TrimLeft(l.rest()[1:], "\r"), "\n"):
		l.skip(strings.IndexByte(l.rest(), '\n') + 1) // the line continues
	default:
		l.wordOrSign()
	}
}

func (l *lexer) toLineEnd() {
	n := strings.IndexByte(l.rest(), '\n')
	if n < 0 {
		n = len(l.rest())
	}
	l.pos += n
}

// comment skips a comment; those of Kotlin nest.
func (l *lexer) comment() {
	depth := 0
	for i := l.pos; i < len(l.src); i++ {
		switch {
		case strings.HasPrefix(l.src[i:], "/*") && (l.kotlin || depth == 0):
			depth++
			i++
		case strings.HasPrefix(l.src[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				l.skip(i + 1 - l.pos)
				return
			}
		}
	}
	l.fail("", "the comment that begins here has no end")
}

// wordOrSign reads an identifier, a number, or one sign.
func (l *lexer) wordOrSign() {
	n := 0
	for n < len(l.rest()) {
		r, size := utf8.DecodeRuneInString(l.rest()[n:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n += size
	}
	if n > 0 {
		k := word
		if c := l.rest()[0]; c >= '0' && c <= '9' {
			k = other
			for n+1 < len(l.rest()) && l.rest()[n] == '.' && l.rest()[n+1] >= '0' && l.rest()[n+1] <= '9' {
				n++
				for n < len(l.rest()) && l.rest()[n] >= '0' && l.rest()[n] <= '9' {
					n++
				}
			}
		}
		l.add(k, l.rest()[:n])
		l.pos += n
		return
	}
	_, size := utf8.DecodeRuneInString(l.rest())
	l.bracket(l.rest()[:size])
	if l.err == nil {
		l.add(other, l.rest()[:size])
		l.pos += size
	}
}

// bracket tracks open brackets.
func (l *lexer) bracket(sign string) {
	switch sign {
	case "(", "[", "{":
		if len(l.open) == maxDepth {
			l.fail("", "brackets are nested more than %d deep", maxDepth)
			return
		}
		l.open = append(l.open, token{text: sign, line: l.line})
	case ")", "]", "}":
		n := len(l.open)
		if n > 0 && strings.Contains("()[]{}", l.open[n-1].text+sign) {
			l.open = l.open[:n-1]
		} else if !l.regexps {
			if n == 0 {
				l.fail("", "%q closes nothing", sign)
			} else {
				l.fail("", "%q closes the %q of line %d", sign, l.open[n-1].text, l.open[n-1].line)
			}
		}
	}
}
