package yamldoc

import (
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// flowDepth is how deep flows may nest for the fast parser.
const flowDepth = 8

// scalar reads the value on the rest of a line: a text, plain or in quotes, or a flow.
func (f *fast) scalar(s string) (*jsonfile.Value, bool) {
	switch s[0] {
	case '"', '\'':
		text, rest, ok := quoted(s)
		return f.quotedText(text), ok && isRest(rest)
	case '{', '[':
		n, rest, ok := f.flow(s, 0)
		return n, ok && isRest(rest)
	}
	if cut := strings.Index(s, " #"); cut >= 0 {
		s = strings.TrimRight(s[:cut], " ")
	}
	return f.plain(s), isPlainScalar(s)
}

// quotedText returns a string.
func (f *fast) quotedText(text string) *jsonfile.Value {
	n := f.make(jsonfile.String)
	n.Start(jsonfile.String, int(f.line), text)
	return n
}

// plain returns a string without quotes, or a null.
func (f *fast) plain(text string) *jsonfile.Value {
	if isNull(text) {
		return f.make(jsonfile.Null)
	}
	return f.quotedText(text)
}

// isRest reports whether s may follow a value.
func isRest(s string) bool {
	t := strings.TrimLeft(s, " ")
	return t == "" || t[0] == '#' && len(t) < len(s)
}

// flow reads a list or map in brackets.
func (f *fast) flow(s string, nesting int) (n *jsonfile.Value, rest string, ok bool) {
	if nesting > flowDepth || f.count > maxNodes {
		return nil, "", false
	}
	if s[0] == '[' {
		n = f.make(jsonfile.Array)
		items, rest, ok := f.flowList(s[1:], nesting)
		n.Fill(nil, items)
		return n, rest, ok
	}
	n = f.make(jsonfile.Object)
	pairs, rest, ok := f.flowMap(s[1:], nesting)
	n.Fill(pairs, nil)
	_, twice := duplicate(pairs)
	return n, rest, ok && !twice
}

func (f *fast) flowList(s string, nesting int) (items []*jsonfile.Value, rest string, ok bool) {
	for first := true; ; first = false {
		var done bool
		if s, done, ok = flowNext(s, first, ']'); !ok || done {
			return items, s, ok
		}
		var item *jsonfile.Value
		if item, s, ok = f.flowValue(s, nesting); !ok {
			return nil, "", false
		}
		items = append(items, item)
	}
}

func (f *fast) flowMap(s string, nesting int) (pairs []jsonfile.Member, rest string, ok bool) {
	for first := true; ; first = false {
		var done bool
		if s, done, ok = flowNext(s, first, '}'); !ok || done {
			return pairs, s, ok
		}
		p := jsonfile.Member{Line: int(f.line)}
		if p.Name, s, ok = flowText(s); !ok || !strings.HasPrefix(s, ": ") {
			return nil, "", false
		}
		if p.Value, s, ok = f.flowValue(strings.TrimLeft(s[1:], " "), nesting); !ok {
			return nil, "", false
		}
		pairs = append(pairs, p)
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

func (f *fast) flowValue(s string, nesting int) (n *jsonfile.Value, rest string, ok bool) {
	if s != "" && (s[0] == '{' || s[0] == '[') {
		return f.flow(s, nesting+1)
	}
	text, rest, ok := flowText(s)
	if !ok || strings.HasPrefix(rest, ":") {
		return nil, "", false // a pair in a list
	}
	if s[0] != text[0] { // in quotes
		return f.quotedText(text), rest, true
	}
	return f.plain(text), rest, true
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
