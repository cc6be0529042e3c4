package glob

import "strings"

// Overlaps reports whether some path may match both sets. It may return true wrongly, because it
// ignores negated globs and the details of classes and "?", but never false.
func (s *Set) Overlaps(o *Set) bool {
	for p := range s.Patterns() {
		for q := range o.Patterns() {
			if p.overlaps(q) {
				return true
			}
		}
	}
	return false
}

// Shared returns a path that both sets name without a wildcard: the same path, or one below a
// directory that the other names. ok is false when there is none.
func (s *Set) Shared(o *Set) (path string, ok bool) {
	for i := range s.globs {
		for j := range o.globs {
			if !s.globs[i].isPlain() || !o.globs[j].isPlain() {
				continue
			}
			inner, outer := s.globs[i].list[0].Prefix, o.globs[j].list[0].Prefix
			if Inside(outer, inner) {
				inner, outer = outer, inner
			}
			if Inside(inner, outer) && s.Match(inner) && o.Match(inner) {
				return inner, true
			}
		}
	}
	return "", false
}

// part is an element of a pattern, or a literal name.
type part struct {
	text    string
	literal bool
}

func (p *Pattern) all() []part {
	var list []part
	if p.Prefix != "" {
		for name := range strings.SplitSeq(p.Prefix, "/") {
			list = append(list, part{name, true})
		}
	}
	for _, text := range p.parts {
		list = append(list, part{text, false})
	}
	if p.shape == plain {
		list = append(list, part{"**", false}) // and everything below
	}
	return list
}

// overlaps reports whether a path may match both patterns.
func (p *Pattern) overlaps(q *Pattern) bool {
	if !Inside(p.Prefix, q.Prefix) && !Inside(q.Prefix, p.Prefix) {
		return false // the cheap check decides most cases
	}
	xs, ys := p.all(), q.all()
	// meets[j] reports whether xs[i:] and ys[j:] may match the same path; one row for each i, from
	// the last on.
	next := make([]bool, len(ys)+1)
	for i := len(xs); i >= 0; i-- {
		row := make([]bool, len(ys)+1)
		for j := len(ys); j >= 0; j-- {
			switch {
			case i == len(xs) && j == len(ys):
				row[j] = true
			case i < len(xs) && xs[i].deep():
				row[j] = next[j] || j < len(ys) && row[j+1]
			case j < len(ys) && ys[j].deep():
				row[j] = row[j+1] || i < len(xs) && next[j]
			case i < len(xs) && j < len(ys):
				row[j] = next[j+1] && xs[i].meets(ys[j])
			}
		}
		next = row
	}
	return next[0]
}

func (x part) deep() bool { return !x.literal && x.text == "**" }

// meets reports whether a name may match both elements.
func (x part) meets(y part) bool {
	if !x.literal && isLiteral(x.text) {
		x = part{unescape(x.text), true}
	}
	if !y.literal && isLiteral(y.text) {
		y = part{unescape(y.text), true}
	}
	switch {
	case x.literal && y.literal:
		return x.text == y.text
	case x.literal:
		return matchPart(y.text, x.text)
	case y.literal:
		return matchPart(x.text, y.text)
	}
	return agree(head(x.text), head(y.text), strings.HasPrefix) && agree(tail(x.text), tail(y.text), strings.HasSuffix)
}

func agree(x, y string, begins func(s, with string) bool) bool { return begins(x, y) || begins(y, x) }

// head returns the literal start of an element.
func head(text string) string {
	if i := strings.IndexAny(text, wildcards); i >= 0 {
		return text[:i]
	}
	return text
}

// tail returns the literal end of an element.
func tail(text string) string {
	i := strings.LastIndexAny(text, wildcards+"]}")
	if i >= 0 && text[i] == '\\' {
		i++ // a quoted character may have several bytes
		for i+1 < len(text) && text[i+1]&0xc0 == 0x80 {
			i++
		}
	}
	return text[i+1:]
}
