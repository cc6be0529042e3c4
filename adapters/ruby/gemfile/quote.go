package gemfile

import "strings"

// quoted reads a string in quotes. Ruby joins adjacent strings; manifests do not use that.
func (l *lexer) quoted() {
	q := l.src[l.at]
	start := l.line
	switch body, plain, ok := l.until(l.at+1, q, q, q != '\''); {
	case !ok:
	case q == '`':
		l.pushAt(computed, "", start)
	case l.peek(0) == ':' && l.peek(1) != ':' && q != '`' && plain && l.wantsLabel():
		l.pushAt(label, body, start)
		l.at++
	case plain:
		l.pushAt(text, body, start)
	default:
		l.pushAt(computed, "", start)
	}
}

// wantsLabel reports whether a string followed by a colon is a key ("a": 1) and not the
// middle of "x ? 'a' : b".
func (l *lexer) wantsLabel() bool {
	if len(l.tokens) == 0 {
		return false
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == punct && (last.text == "," || last.text == "{" || last.text == "(")
}

// pushAt is push for a token before the current place.
func (l *lexer) pushAt(k kind, text string, at int) {
	l.tokens = append(l.tokens, token{kind: k, text: text, line: at, spaced: true})
}

// until moves past the closing delimiter and returns the text before it. plain reports
// whether the text holds no code. A missing end is a syntax error.
func (l *lexer) until(from int, open, closing byte, escapes bool) (body string, plain, ok bool) {
	var b strings.Builder
	plain = true
	depth, lines := 1, 0
	for i := from; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\\' && i+1 < len(l.src):
			i++
			if l.src[i] == '\n' {
				lines++
			}
			if next := l.src[i]; next != open && next != closing && next != '\\' {
				plain = plain && !escapes // no name holds \n or another escape
				b.WriteByte('\\')
			}
			b.WriteByte(l.src[i])
		case c == closing && (depth == 1 || open == closing):
			l.at, l.line = i+1, l.line+lines
			return b.String(), plain, true
		case c == '\n':
			lines++
			b.WriteByte(c)
		default:
			switch {
			case c == closing:
				depth--
			case c == open:
				depth++
			case c == '#' && escapes && i+1 < len(l.src) && l.src[i+1] == '{':
				plain = false
				if end := l.code(i + 2); end > 0 {
					lines += strings.Count(string(l.src[i:end]), "\n")
					i = end
					continue
				}
			}
			b.WriteByte(c)
		}
	}
	l.fail(l.at, "a string or an expression begins here and has no end")
	l.at = len(l.src)
	return "", false, false
}

// code returns the offset of the brace that ends the code in a string, or 0. Strings in the
// code may hold braces. After one missing end code looks for no other: the program is
// malformed.
func (l *lexer) code(from int) int {
	if l.endless {
		return 0
	}
	depth := 1
	var quote byte
	for i := from; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	l.endless = true
	return 0
}

// delimited reads the text between two delimiters, from the first one on.
func (l *lexer) delimited(open, closing byte, k kind) {
	start := l.line
	body, plain, ok := l.until(l.at+1, open, closing, true)
	if !ok {
		return
	}
	if k == computed {
		// The options of a regular expression.
		l.at += len(l.span(func(c byte) bool { return 'a' <= c && c <= 'z' }))
		body = ""
	} else if !plain {
		k = computed
	}
	l.pushAt(k, body, start)
}

// percent reads "%w[a b]", "%q(a)" and their like.
func (l *lexer) percent() bool {
	n, form := 1, byte('Q')
	if c := l.peek(1); strings.IndexByte("qQwWiIrsx", c) >= 0 && c != 0 {
		n, form = 2, c
	}
	open := l.peek(n)
	if open <= ' ' || isWordByte(open) || open == '=' && n == 1 {
		return false
	}
	closing := open
	if i := strings.IndexByte("([{<", open); i >= 0 {
		closing = ")]}>"[i]
	}
	l.at += n
	switch form {
	case 'w', 'W', 'i', 'I':
		l.delimited(open, closing, list)
		if n := len(l.tokens); l.problem == nil && l.tokens[n-1].kind == list {
			l.tokens[n-1].text = strings.Join(strings.Fields(l.tokens[n-1].text), " ")
		}
	case 'r', 'x':
		l.delimited(open, closing, computed)
	default:
		l.delimited(open, closing, text)
	}
	return true
}

// heredocStart reads "<<~NAME"; its body begins on the next line.
func (l *lexer) heredocStart() bool {
	if l.peek(1) != '<' {
		return false
	}
	n := 2
	if c := l.peek(n); c == '~' || c == '-' {
		n++
	}
	quote := l.peek(n)
	if quote == '"' || quote == '\'' || quote == '`' {
		n++
	} else {
		quote = 0
	}
	start := l.at + n
	end := start
	for end < len(l.src) && isWordByte(l.src[end]) {
		end++
	}
	// "a << B" is an operator, and so is "<<B" after a value.
	if end == start || isDigit(l.src[start]) || n == 2 && !l.value() || quote != 0 && (end >= len(l.src) || l.src[end] != quote) {
		return false
	}
	l.heredoc = append(l.heredoc, string(l.src[start:end]))
	l.push(computed, "", l.line)
	l.at = end
	if quote != 0 {
		l.at++
	}
	return true
}
