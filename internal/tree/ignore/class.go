package ignore

import "strings"

// class matches c against the bracket expression whose content starts at pattern[p]. It returns the
// position of the closing bracket; ok is false if no bracket closes it, or for an unknown [:class:].
func class(pattern string, p int, c byte) (end int, hit, ok bool) {
	negated := p < len(pattern) && (pattern[p] == '!' || pattern[p] == '^')
	if negated {
		p++
	}
	var prev byte // possible start of a range; 0 for none
	for first := true; ; first = false {
		if p >= len(pattern) {
			return 0, false, false
		}
		ch := pattern[p]
		if ch == ']' && !first {
			return p, hit != negated, true
		}
		next := p + 1
		switch {
		case ch == '\\':
			if next == len(pattern) {
				return 0, false, false
			}
			ch = pattern[next]
			next++
			hit = hit || c == ch
		case ch == '-' && prev != 0 && next < len(pattern) && pattern[next] != ']':
			to := pattern[next]
			if next++; to == '\\' {
				if next == len(pattern) {
					return 0, false, false
				}
				to = pattern[next]
				next++
			}
			hit = hit || prev <= c && c <= to
			ch = 0
		case strings.HasPrefix(pattern[p:], "[:"):
			name, after, closed := named(pattern, p)
			if !closed {
				return 0, false, false
			}
			if name == "" {
				hit = hit || c == '[' // no ":]": an ordinary character
				break
			}
			in, known := posix(name[1:], c)
			if !known {
				return 0, false, false
			}
			hit = hit || in
			ch, next = 0, after
		default:
			hit = hit || c == ch
		}
		prev, p = ch, next
	}
}

// named reads the "[:name:]" at pattern[p]. It returns ":name" and the position after it, "" when
// there is no ":" before the next "]"; closed is false when there is no "]" at all.
func named(pattern string, p int) (name string, after int, closed bool) {
	i := strings.IndexByte(pattern[p+2:], ']')
	if i < 0 {
		return "", 0, false
	}
	text := pattern[p+1 : p+2+i] // from the first ":" up to the "]"
	if len(text) < 2 || text[len(text)-1] != ':' {
		return "", 0, true
	}
	return text[:len(text)-1], p + 3 + i, true
}

// posix reports whether c is in a class of the C locale.
func posix(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
