package ignore

import "strings"

// pattern is one line of an ignore file. The fields are those of git's dir.c, to match git in every
// detail.
type pattern struct {
	text     string // without "!" and without the "/" at either end
	literal  int    // length of the part of text before the first special character
	verdict  Verdict
	dirOnly  bool // it ended with "/"
	nameOnly bool // no other "/": it matches the last element
	suffix   bool // "*" and then nothing special
	// words are texts that every matching path contains, in this order, after the literal start.
	// They rule out most paths in one pass.
	words []string
}

const special = `*?[\`

func parse(text string) []pattern {
	text = strings.TrimPrefix(text, "\ufeff")
	var list []pattern
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parseLine(line); ok {
			list = append(list, p)
		}
	}
	return list
}

func parseLine(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
	line = trimSpaces(line)
	p.verdict = Ignored
	if strings.HasPrefix(line, "!") {
		p.verdict = Included
		line = line[1:]
	}
	p.suffix = strings.HasPrefix(line, "*") && literalLen(line[1:]) == len(line)-1
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = line[:len(line)-1]
	}
	p.nameOnly = !strings.Contains(line, "/")
	p.text = strings.TrimPrefix(line, "/")
	p.literal = literalLen(p.text)
	p.words = words(p.text[p.literal:])
	return p, p.text != ""
}

// words returns the texts between wildcards, up to the first class. A slash is none: "**/" may
// match nothing.
func words(text string) (list []string) {
	var word []byte
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] == '\\' && i+1 < len(text) {
			i++
			word = append(word, text[i])
			continue
		}
		if i < len(text) && text[i] != '/' && strings.IndexByte(special, text[i]) < 0 {
			word = append(word, text[i])
			continue
		}
		if len(word) > 0 {
			list = append(list, string(word))
			word = word[:0]
		}
		if i < len(text) && text[i] == '[' {
			break
		}
	}
	return list
}

// possible reports whether text contains all words of p, in their order.
func (p *pattern) possible(text string) bool {
	for _, w := range p.words {
		i := strings.Index(text, w)
		if i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return true
}

func literalLen(s string) int {
	if i := strings.IndexAny(s, special); i >= 0 {
		return i
	}
	return len(s)
}

// trimSpaces removes the spaces at the end, up to one that a backslash quotes.
func trimSpaces(s string) string {
	end := len(s)
	spaces := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if !spaces {
				spaces, end = true, i
			}
			continue
		case '\\':
			i++
			if i == len(s) {
				return s
			}
		}
		spaces, end = false, len(s)
	}
	return s[:end]
}

func (p *pattern) matchName(name string, b *budget) bool {
	switch {
	case p.literal == len(p.text):
		return name == p.text
	case p.suffix:
		return strings.HasSuffix(name, p.text[1:])
	}
	// An element has no "/", so it does not matter whether "*" matches one.
	return p.possible(name[min(len(name), p.literal):]) && wildmatch(p.text, name, false, b)
}

func (p *pattern) matchPath(path string, b *budget) bool {
	head := p.text[:p.literal]
	if !strings.HasPrefix(path, head) {
		return false
	}
	if p.literal == len(p.text) {
		return len(path) == len(head)
	}
	// git removes the literal start as well, so that "a**/b" is "a" and "**/b".
	path = path[p.literal:]
	return p.possible(path) && wildmatch(p.text[p.literal:], path, true, b)
}

// wild are the characters of an element that may stand for others, in ignore files and in globs.
const wild = `*?[]{}\`

// MayIgnore reports whether a pattern may ignore a file whose name an element of a glob, without "/", matches.
// It may return true wrongly, but never false.
func (r *Rules) MayIgnore(element string) bool {
	for ; r != nil; r = r.behind {
		for i := range r.patterns {
			p := &r.patterns[i]
			if p.verdict == Ignored && !p.dirOnly && meet(p.text[strings.LastIndexByte(p.text, '/')+1:], element) {
				return true
			}
		}
	}
	return false
}

// meet reports whether the literal starts and ends of two elements allow a name that both match.
func meet(a, b string) bool {
	headA, tailA := ends(a)
	headB, tailB := ends(b)
	return (strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)) &&
		(strings.HasSuffix(tailA, tailB) || strings.HasSuffix(tailB, tailA))
}

// ends returns the literal start and end of an element.
func ends(element string) (head, tail string) {
	i, j := strings.IndexAny(element, wild), strings.LastIndexAny(element, wild)
	if i < 0 {
		return element, element
	}
	return element[:i], element[j+1:]
}
