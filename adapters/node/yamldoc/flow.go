package yamldoc

import "strings"

// flowDepth is how deep flows may nest for the fast parser.
const flowDepth = 8

// scalar reads the value on the rest of a line: a text, plain or in quotes, or a flow.
func (f *fast) scalar(s string) (*Node, bool) {
	switch s[0] {
	case '"', '\'':
		n := f.make(Scalar)
		text, rest, ok := quoted(s)
		n.text = text
		return n, ok && isRest(rest)
	case '{', '[':
		n, rest, ok := f.flow(s, 0)
		return n, ok && isRest(rest)
	}
	if cut := strings.Index(s, " #"); cut >= 0 {
		s = strings.TrimRight(s[:cut], " ")
	}
	n := f.make(Scalar)
	if n.text = s; isNull(s) {
		n.kind, n.text = Null, ""
	}
	return n, isPlainScalar(s)
}

// isRest reports whether s may follow a value.
func isRest(s string) bool {
	t := strings.TrimLeft(s, " ")
	return t == "" || t[0] == '#' && len(t) < len(s)
}

// flow reads a list or map in brackets.
func (f *fast) flow(s string, nesting int) (n *Node, rest string, ok bool) {
	if nesting > flowDepth || f.count > maxNodes {
		return nil, "", false
	}
	if s[0] == '[' {
		n = f.make(List)
		rest, ok = f.flowList(n, s[1:], nesting)
		return n, rest, ok
	}
	n = f.make(Map)
	rest, ok = f.flowMap(n, s[1:], nesting)
	_, twice := duplicate(n.pairs)
	return n, rest, ok && !twice
}

func (f *fast) flowList(n *Node, s string, nesting int) (rest string, ok bool) {
	for first := true; ; first = false {
		var done bool
		if s, done, ok = flowNext(s, first, ']'); !ok || done {
			return s, ok
		}
		var item *Node
		if item, s, ok = f.flowValue(s, nesting); !ok {
			return "", false
		}
		n.items = append(n.items, item)
	}
}

func (f *fast) flowMap(n *Node, s string, nesting int) (rest string, ok bool) {
	for first := true; ; first = false {
		var done bool
		if s, done, ok = flowNext(s, first, '}'); !ok || done {
			return s, ok
		}
		p := Pair{Line: int(f.line)}
		if p.Key, s, ok = flowText(s); !ok || !strings.HasPrefix(s, ": ") {
			return "", false
		}
		if p.Value, s, ok = f.flowValue(strings.TrimLeft(s[1:], " "), nesting); !ok {
			return "", false
		}
		n.pairs = append(n.pairs, p)
	}
}

// flowNext moves to the next element, or to the end.
func flowNext(s string, first bool, end byte) (rest string, done, ok bool) {
	s = strings.TrimLeft(s, " ")
	if s == "" {
		return "", false, false
	}
	if s[0] == end {
		return s[1:], true, true
	}
	if first {
		return s, false, true
	}
	if s[0] != ',' {
		return "", false, false
	}
	s = strings.TrimLeft(s[1:], " ")
	return s, false, s != "" && s[0] != end
}

func (f *fast) flowValue(s string, nesting int) (n *Node, rest string, ok bool) {
	if s != "" && (s[0] == '{' || s[0] == '[') {
		return f.flow(s, nesting+1)
	}
	text, rest, ok := flowText(s)
	if !ok || strings.HasPrefix(rest, ":") {
		return nil, "", false // a pair in a list
	}
	n = f.make(Scalar)
	if n.text = text; isNull(text) && s[0] == text[0] {
		n.kind, n.text = Null, ""
	}
	return n, rest, true
}

// flowText reads a text in a flow, up to what ends it.
func flowText(s string) (text, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] == '"' || s[0] == '\'' {
		text, rest, ok = quoted(s)
		rest = strings.TrimLeft(rest, " ")
		return text, rest, ok && rest != "" && strings.IndexByte(",]}:", rest[0]) >= 0
	}
	end := strings.IndexAny(s, ",[]{}")
	if end < 0 {
		return "", "", false
	}
	if colon := strings.Index(s[:end], ": "); colon >= 0 {
		end = colon
	}
	text = strings.TrimRight(s[:end], " ")
	return text, strings.TrimLeft(s[end:], " "), isPlainScalar(text) && strings.IndexByte(text, '?') < 0 && s[end] != '[' && s[end] != '{'
}
