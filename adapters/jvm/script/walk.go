package script

import (
	"slices"
	"strings"
)

// walker walks over the tokens of a script block by block.
type walker struct {
	tokens []token
	pos    int
	header []token // of the statement so far, without the blocks in it
	blocks []block
}

// block is an open pair of braces.
type block struct {
	name   string  // the word before it: "dependencies", "plugins", "if"
	scope  string  // the projects that it concerns
	header []token // the start of its statement, which may continue after it
}

// The scopes of a statement, besides the path of a project.
const (
	Own = ""  // the project whose script it is
	All = "*" // any project below it
)

// step returns the next token and tracks blocks; ok is false at the end.
func (w *walker) step() (t token, ok bool) {
	if w.pos >= len(w.tokens) {
		return token{}, false
	}
	t = w.tokens[w.pos]
	w.pos++
	switch {
	case t.kind == eol:
		if !w.continues() {
			w.header = w.header[:0]
		}
	case t.is("{"):
		w.blocks = append(w.blocks, block{blockName(w.header), w.scopeOf(w.header), w.header})
		w.header = nil
	case t.is("}"):
		w.header = nil
		if n := len(w.blocks); n > 0 {
			w.header = w.blocks[n-1].header
			w.blocks = w.blocks[:n-1]
		}
	default:
		w.header = append(w.header, t)
	}
	return t, true
}

// continues reports whether a statement continues after the end of a line.
func (w *walker) continues() bool {
	if n := len(w.header); n > 0 && (w.header[n-1].is(",") || w.header[n-1].is("(") || w.header[n-1].is("=")) {
		return true
	}
	return w.pos < len(w.tokens) && (w.tokens[w.pos].is("{") || w.tokens[w.pos].is("."))
}

// peek returns the n-th next token, or a line end.
func (w *walker) peek(n int) token {
	if w.pos+n >= len(w.tokens) {
		return token{kind: eol, text: "\n"}
	}
	return w.tokens[w.pos+n]
}

// scope returns the projects that the current place concerns.
func (w *walker) scope() string {
	if n := len(w.blocks); n > 0 {
		return w.blocks[n-1].scope
	}
	return Own
}

// in reports whether the current place is inside a block of this name.
func (w *walker) in(name string) bool {
	return slices.ContainsFunc(w.blocks, func(b block) bool { return b.name == name })
}

func blockName(header []token) string {
	if len(header) == 0 || header[0].kind != word {
		return ""
	}
	return header[0].text
}

// scopeOf returns the projects that a block with this header concerns.
func (w *walker) scopeOf(header []token) string {
	for i, t := range header[:min(len(header), shortCall)] {
		if t.kind != word {
			continue
		}
		switch t.text {
		case "subprojects", "allprojects", "childProjects":
			return All
		case "configure":
			if i == 0 {
				return All
			}
		case "project":
			if path, ok := projectCall(header[i:]); ok && i == 0 {
				if path == "" {
					return All
				}
				return path
			}
		}
	}
	return w.scope()
}

// projectCall reports whether header is "project(':path')" and returns the path, "" for a
// computed one.
func projectCall(header []token) (path string, ok bool) {
	if len(header) < 3 || !header[1].is("(") {
		return "", false
	}
	for _, t := range header[2:min(len(header), shortCall)] {
		if t.kind == text && !t.computed {
			return t.text, true
		}
	}
	return "", true
}

// shortCall is how many tokens a call of one argument may have.
const shortCall = 64

// call is the arguments of a function call.
type call struct {
	strings  []token
	computed bool // some arguments are not plain strings
	length   int  // in tokens
}

// arguments returns the arguments of the call whose name is the current token: in
// parentheses, or up to the end of the line, and at most limit tokens.
func (w *walker) arguments(limit int) (c call) {
	depth := 0
	if w.peek(0).is("(") {
		depth, c.length = 1, 1
	}
	inCall := depth
	for ; w.pos+c.length < len(w.tokens); c.length++ {
		t := w.peek(c.length)
		switch {
		case c.length == limit:
			c.computed = true
			return c
		case t.kind == eol && depth == 0 && (c.length == 0 || !w.peek(c.length-1).is(",")):
			return c
		case t.kind == eol || t.is(","):
		case t.is("{") || t.is("}"):
			c.computed = true
			return c
		case t.is("(") || t.is("["):
			depth++
		case t.is(")") || t.is("]"):
			if depth--; depth < inCall || depth <= 0 && inCall > 0 {
				return c
			}
		case t.kind == text:
			c.strings = append(c.strings, t)
			c.computed = c.computed || t.computed
		default:
			c.computed = true
		}
	}
	return c
}

// Absolute returns the absolute path of a project, relative to project from.
func Absolute(from, path string) string {
	path = strings.TrimSuffix(path, ":")
	if strings.HasPrefix(path, ":") || path == "" {
		return path
	}
	return strings.TrimSuffix(from, ":") + ":" + path
}
