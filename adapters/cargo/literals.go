package cargo

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal is a string of a Rust source with its place.
type literal struct {
	offset int
	value  string
	macro  string // the innermost macro around it, other than concat and env: "include_str"
	name   string // in an attribute, the name whose value the string is: "folder", "path"
	inDir  bool   // value follows env!("CARGO_MANIFEST_DIR") in a concat
	cut    bool   // only the compiler knows the end of value
}

// literals returns the strings of a Rust source, without those in comments. The parts of a concat are
// one string. The compiler refuses a text that is not Rust: then any answer is right.
func literals(text string) []literal {
	l := lexer{text: text}
	if strings.HasPrefix(text, "#!") && !strings.HasPrefix(text, "#![") {
		l.skip(strings.IndexByte(text, '\n'))
	}
	for l.at < len(text) {
		l.next()
	}
	return l.found
}

// lexer reads a Rust source from token to token.
type lexer struct {
	text   string
	at     int
	ident  string // the last identifier
	bang   bool   // "!" has followed it
	attr   bool   // "#" or "#!" came last
	frames []frame
	found  []literal
}

// frame is an open bracket.
type frame struct {
	macro  string // of the macro whose arguments it holds, "#" for an attribute
	around string // macro, else that of the bracket around it
	joined literal
	some   bool // joined has a part
}

func (l *lexer) next() {
	c, rest := l.text[l.at], l.text[l.at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		l.skip(strings.IndexByte(rest, '\n'))
	case strings.HasPrefix(rest, "/*"):
		l.blockComment()
	case c == '"':
		l.str(l.at)
	case c == '\'':
		l.char(rest)
	case isIdent(c):
		l.word()
	case c == '(' || c == '[' || c == '{':
		l.open(c)
	case c == ')' || c == ']' || c == '}':
		l.close()
	case c == '!':
		l.bang = !l.attr
		l.at++
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		l.at++
	default:
		if c == '$' && l.inner("concat") != nil {
			l.unknown()
		}
		l.attr, l.bang = c == '#', false
		l.at++
	}
}

// skip moves n bytes on, to the end of the text if n is negative.
func (l *lexer) skip(n int) {
	if n < 0 || n > len(l.text)-l.at {
		n = len(l.text) - l.at
	}
	l.at += n
}

// blockComment skips a comment with those inside it.
func (l *lexer) blockComment() {
	depth := 0
	for l.at < len(l.text) {
		switch rest := l.text[l.at:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.at += 2
		default:
			l.at++
		}
		if depth == 0 {
			return
		}
	}
}

// char skips a character, or the apostrophe of a lifetime.
func (l *lexer) char(rest string) {
	if strings.HasPrefix(rest, `'\`) {
		if end := strings.IndexByte(rest[min(3, len(rest)):], '\''); end >= 0 {
			l.skip(end + 4)
			return
		}
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	if strings.HasPrefix(rest[min(1+size, len(rest)):], "'") {
		l.skip(size + 2)
		return
	}
	l.skip(1)
}

// word reads an identifier, or a string with a prefix (b"", c"", r"", br#""#).
func (l *lexer) word() {
	from := l.at
	for l.at < len(l.text) && isIdent(l.text[l.at]) {
		l.at++
	}
	word, rest := l.text[from:l.at], l.text[l.at:]
	switch {
	case strings.HasPrefix(rest, `"`) && (word == "b" || word == "c"):
		l.str(from)
		return
	case strings.HasSuffix(word, "r") && len(word) <= 2 && strings.HasPrefix(strings.TrimLeft(rest, "#"), `"`):
		l.raw(from)
		return
	}
	l.ident, l.bang, l.attr = word, false, false
}

func isIdent(c byte) bool {
	return c == '_' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// raw reads a string without escapes. Its prefix has been read.
func (l *lexer) raw(from int) {
	hashes := 0
	for l.text[l.at] == '#' {
		hashes++
		l.at++
	}
	l.at++
	end := strings.Index(l.text[l.at:], `"`+strings.Repeat("#", hashes))
	if end < 0 {
		l.at = len(l.text)
		return
	}
	value := l.text[l.at : l.at+end]
	l.at += end + 1 + hashes
	l.add(from, value)
}

// str reads a string with escapes.
func (l *lexer) str(from int) {
	l.at++
	var value strings.Builder
	for l.at < len(l.text) {
		switch c := l.text[l.at]; c {
		case '"':
			l.at++
			l.add(from, value.String())
			return
		case '\\':
			l.escape(&value)
		default:
			value.WriteByte(c)
			l.at++
		}
	}
}

// escape reads what follows a backslash (https://doc.rust-lang.org/reference/tokens.html#string-literals).
func (l *lexer) escape(value *strings.Builder) {
	l.at++
	if l.at == len(l.text) {
		return
	}
	c, rest := l.text[l.at], l.text[l.at+1:]
	l.at++
	switch c {
	case '\n', '\r':
		l.at += len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	case 'x':
		l.code(value, rest[:min(2, len(rest))], 2)
	case 'u':
		digits, _, _ := strings.Cut(strings.TrimPrefix(rest[:min(10, len(rest))], "{"), "}")
		if len(digits) <= 8 {
			l.code(value, strings.ReplaceAll(digits, "_", ""), len(digits)+2)
		}
	case 'n':
		value.WriteByte('\n')
	case 't':
		value.WriteByte('\t')
	default:
		value.WriteByte(c)
	}
}

// code writes the character with a number, and skips its size bytes.
func (l *lexer) code(value *strings.Builder, digits string, size int) {
	if n, err := strconv.ParseUint(digits, 16, 32); err == nil {
		value.WriteRune(rune(n))
		l.skip(size)
	}
}

// open notes a bracket, and the macro or attribute that it belongs to.
func (l *lexer) open(c byte) {
	var f frame
	switch {
	case l.attr && c == '[':
		f.macro = "#"
	case l.bang:
		f.macro = l.ident
	}
	if l.inner("concat") != nil && f.macro != "env" && f.macro != "concat" {
		l.unknown()
	}
	if f.around = f.macro; (f.macro == "" || f.macro == "concat") && len(l.frames) > 0 {
		f.around = l.frames[len(l.frames)-1].around
	}
	l.frames = append(l.frames, f)
	l.ident, l.bang, l.attr = "", false, false
	l.at++
}

// inner returns the innermost bracket if it holds the arguments of a macro.
func (l *lexer) inner(macro string) *frame {
	if n := len(l.frames); n > 0 && l.frames[n-1].macro == macro {
		return &l.frames[n-1]
	}
	return nil
}

func (l *lexer) close() {
	l.at++
	l.ident, l.bang, l.attr = "", false, false
	n := len(l.frames)
	if n == 0 {
		return
	}
	f := l.frames[n-1]
	l.frames = l.frames[:n-1]
	switch {
	case f.macro == "env" && f.joined.value == "CARGO_MANIFEST_DIR" && l.inner("concat") != nil && !l.inner("concat").some:
		l.inner("concat").joined.inDir, l.inner("concat").some = true, true
	case f.macro == "env" && l.inner("concat") != nil:
		l.unknown()
	case f.macro == "concat" && f.some:
		l.join(f.joined)
	}
}

// unknown notes that only the compiler knows the rest of the innermost concat.
func (l *lexer) unknown() {
	f := l.inner("concat")
	f.some, f.joined.cut = true, true
}

// add handles a string that ends here.
func (l *lexer) add(offset int, value string) {
	l.join(literal{offset: offset, value: value})
	l.bang, l.attr = false, false
}

// join adds a string to the concat around it, else to what was found.
func (l *lexer) join(part literal) {
	if f := l.inner("env"); f != nil {
		f.joined.value = part.value
		return
	}
	if f := l.inner("concat"); f != nil {
		if f.joined.value == "" {
			f.joined.offset = part.offset
		}
		if !f.joined.cut {
			f.joined.value += part.value
			f.joined.cut = part.cut
		}
		f.joined.inDir = f.joined.inDir || part.inDir
		f.some = true
		return
	}
	if n := len(l.frames); n > 0 {
		part.macro = l.frames[n-1].around
	}
	if part.macro == "#" {
		part.name = l.ident
	}
	l.found = append(l.found, part)
}
