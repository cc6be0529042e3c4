// Package gemfile reads Gemfiles, gemspecs and Rakefiles without running them. They are
// programs in Ruby: the package returns literal values and leaves out computed ones.
package gemfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
)

// RuleSyntax is the rule of the diagnostic of a malformed file.
const RuleSyntax = "ruby_syntax"

// kind is the kind of a token.
type kind uint8

const (
	word     kind = iota + 1 // a name or keyword; with "?" or "!" at its end
	label                    // "path:" before a value
	text                     // a string without code
	computed                 // a string with code, a regular expression, a number
	symbol                   // ":name"
	list                     // "%w[a b]", the texts separated by spaces
	punct                    // anything else; of operators only the first character
	line                     // the end of a statement
)

type token struct {
	kind kind
	text string
	line int // 1-based
	// spaced says that a blank comes before the token, which decides the meaning of "[" and
	// "(".
	spaced bool
}

// lexer splits Ruby into tokens. It only finds the end of constructs that manifests do not
// use.
type lexer struct {
	path    string
	src     []byte
	at      int
	line    int
	tokens  []token
	heredoc []string // whose bodies begin on the next line
	problem *diagnostics.Diagnostic
	endless bool // code in a string has no end
}

// tokenize returns the tokens of a file. The error is a diagnostics.Problems with its
// place.
func tokenize(path string, data []byte) ([]token, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	l := &lexer{path: path, src: data, line: 1}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.IndexByte(data[:min(len(data), 2)], 0) >= 0 {
		l.fail(0, "text in UTF-16; expected UTF-8")
	}
	for l.problem == nil && l.at < len(l.src) {
		l.next()
	}
	if l.problem != nil {
		return nil, diagnostics.Problems{*l.problem}
	}
	return l.tokens, nil
}

// fail records an error at an offset of the current line.
func (l *lexer) fail(at int, message string) {
	start := bytes.LastIndexByte(l.src[:at], '\n') + 1
	l.problem = &diagnostics.Diagnostic{
		File: l.path, Line: l.line, Col: 1 + utf8.RuneCount(l.src[start:at]),
		Severity: diagnostics.Error, Rule: RuleSyntax, Source: diagnostics.Source, Message: message,
	}
}

// peek returns a byte ahead, 0 after the end.
func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.src) {
		return l.src[l.at+n]
	}
	return 0
}

func (l *lexer) next() {
	if l.startOfLine() && l.wholeLine() {
		return
	}
	switch c := l.src[l.at]; {
	case c == '\n':
		l.newline()
	case c == '#':
		l.skipLine()
	case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
		l.at++
	case c == '\\' && (l.peek(1) == '\n' || l.peek(1) == '\r' && l.peek(2) == '\n'):
		l.at += bytes.IndexByte(l.src[l.at:], '\n') + 1
		l.line++
	case c == '"' || c == '\'' || c == '`':
		l.quoted()
	case c == '$' && l.peek(1) > ' ' && !isWordByte(l.peek(1)):
		l.push(word, "", l.line) // $' and the like
		l.at += 2
	case isWordByte(c) && !isDigit(c):
		l.word()
	case isDigit(c):
		l.add(computed, l.span(func(c byte) bool { return isWordByte(c) || c == '.' }))
	case c == ':' && l.symbol():
	case c == '%' && l.value() && l.percent():
	case c == '/' && l.value():
		l.delimited('/', '/', computed)
	case c == '<' && l.heredocStart():
	case c == '?' && l.value() && l.at+1 < len(l.src) && l.src[l.at+1] > ' ' && !isWordByte(l.peek(2)):
		l.at += 2
		l.push(computed, "", l.line)
	case c == ';':
		l.push(line, "", l.line)
		l.at++
	default:
		l.push(punct, string(c), l.line)
		l.at++
	}
}

// startOfLine reports whether the current place begins a line, without a blank.
func (l *lexer) startOfLine() bool { return l.at == 0 || l.src[l.at-1] == '\n' }

// wholeLine reads constructs that begin a line: comments of several lines, the end of the
// program, and merge conflict markers.
func (l *lexer) wholeLine() bool {
	rest := l.src[l.at:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	text := strings.TrimRight(string(rest[:end]), "\r")
	switch {
	case text == "__END__":
		l.at = len(l.src)
	case strings.HasPrefix(text, "<<<<<<< ") || strings.HasPrefix(text, ">>>>>>> "):
		l.fail(l.at, "merge conflict markers are left in")
	case text == "=begin" || strings.HasPrefix(text, "=begin "):
		l.skipUntil("=end")
	default:
		return false
	}
	return true
}

// skipUntil moves past the line that begins with a word.
func (l *lexer) skipUntil(end string) {
	for l.at < len(l.src) {
		done := bytes.HasPrefix(l.src[l.at:], []byte(end))
		l.skipLine()
		if l.at < len(l.src) {
			l.at++
			l.line++
		}
		if done {
			return
		}
	}
}

// skipLine moves to the end of the line.
func (l *lexer) skipLine() {
	if i := bytes.IndexByte(l.src[l.at:], '\n'); i >= 0 {
		l.at += i
	} else {
		l.at = len(l.src)
	}
}

// newline ends a line, and reads the bodies of the heredocs that began on it.
func (l *lexer) newline() {
	l.push(line, "", l.line)
	l.at++
	l.line++
	for _, end := range l.heredoc {
		for l.at < len(l.src) {
			start := l.at
			l.skipLine()
			body := strings.TrimSpace(string(l.src[start:l.at]))
			if l.at < len(l.src) {
				l.at++
				l.line++
			}
			if body == end {
				break
			}
		}
	}
	l.heredoc = nil
}

func (l *lexer) push(k kind, text string, at int) {
	spaced := l.at == 0 || l.src[l.at-1] <= ' '
	l.tokens = append(l.tokens, token{k, text, at, spaced})
}

func (l *lexer) add(k kind, text string) {
	l.push(k, text, l.line)
	l.at += len(text)
}

func (l *lexer) span(in func(byte) bool) string {
	end := l.at
	for end < len(l.src) && in(l.src[end]) {
		end++
	}
	return string(l.src[l.at:end])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 || c == '@' || c == '$'
}

// word reads a name, or the label of an argument.
func (l *lexer) word() {
	text := l.span(isWordByte)
	switch next := l.peek(len(text)); {
	case (next == '?' || next == '!') && l.peek(len(text)+1) != '=':
		text += string(next)
	case next == ':' && l.peek(len(text)+1) != ':':
		l.push(label, text, l.line)
		l.at += len(text) + 1
		return
	}
	l.add(word, text)
}

// symbol reads ":name" and :"name".
func (l *lexer) symbol() bool {
	switch next := l.peek(1); {
	case l.at > 0 && l.src[l.at-1] == ':': // of "A::B"
		return false
	case isWordByte(next) && !isDigit(next) && l.valueOrWord():
		l.at++
		l.push(symbol, l.span(isWordByte), l.line)
		l.at += len(l.tokens[len(l.tokens)-1].text)
		return true
	case strings.IndexByte("+-*/%<>=!~^&|[`", next) >= 0 && l.valueOrWord(): // ":%", ":[]"
		l.at++
		l.add(symbol, l.span(func(c byte) bool { return strings.IndexByte("+-*/%<>=!~^&|[]`", c) >= 0 }))
		return true
	case next == '"' || next == '\'':
		l.at++
		l.quoted()
		if n := len(l.tokens); l.problem == nil && l.tokens[n-1].kind == text {
			l.tokens[n-1].kind = symbol
		}
		return true
	}
	return false
}

// value reports whether a value may begin here: an operator can only follow a value.
func (l *lexer) value() bool {
	if len(l.tokens) == 0 {
		return true
	}
	switch last := l.tokens[len(l.tokens)-1]; last.kind {
	case text, computed, symbol, list:
		return false
	case word:
		// "puts /x/" begins a value, "a / b" does not.
		return l.at > 0 && l.src[l.at-1] == ' ' && l.peek(1) > ' ' && l.peek(1) != '='
	case punct:
		return last.text != ")" && last.text != "]" && last.text != "}"
	}
	return true
}

// valueOrWord is value, also after a name: "gem :x", but not "a::B".
func (l *lexer) valueOrWord() bool {
	return l.value() || len(l.tokens) > 0 && l.at > 0 && l.src[l.at-1] <= ' '
}
