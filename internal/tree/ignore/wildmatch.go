package ignore

import "strings"

// maxSteps limits the cost of matching one pattern against one path; a hostile pattern
// ("**/**/**/…") has exponential cost. A pattern that exceeds it matches nothing.
const maxSteps = 100_000

// maxStepsOfAll limits the cost of matching all patterns of a file against one path: of thousands
// of hostile ones, those after the limit match nothing. Normal patterns take some dozens of steps
// each.
const maxStepsOfAll = 4 * maxSteps

type outcome int8

const (
	noMatch outcome = iota
	match
	abortAll        // no other position of any "*" can help
	abortToStarStar // only another position of a "**" can help
)

// matcher is git's wildmatch.c. With paths set, "*", "?" and "[" do not match a slash and "**"
// means any number of elements.
type matcher struct {
	paths bool
	steps int
}

// budget is the remaining cost of matching the patterns of a file against a path.
type budget struct {
	steps int
	over  bool // a pattern is undecided
}

// wildmatch matches a pattern and takes the cost from b.
func wildmatch(pattern, text string, paths bool, b *budget) bool {
	most := min(maxSteps, b.steps)
	m := matcher{paths: paths, steps: most}
	hit := m.run(pattern, 0, text) == match
	b.steps -= most - max(m.steps, 0)
	b.over = b.over || m.steps < 0
	return hit
}

// run matches pattern[p:] against text; the byte before p decides whether a "**" there starts an
// element.
func (m *matcher) run(pattern string, p int, text string) outcome {
	for ; p < len(pattern); p++ {
		if m.steps--; m.steps < 0 {
			return abortAll
		}
		c := pattern[p]
		if text == "" && c != '*' {
			return abortAll
		}
		switch c {
		case '*':
			return m.star(pattern, p, text)
		case '?':
			if m.paths && text[0] == '/' {
				return noMatch
			}
		case '[':
			end, hit, ok := class(pattern, p+1, text[0])
			if !ok {
				return abortAll
			}
			if !hit || m.paths && text[0] == '/' {
				return noMatch
			}
			p = end
		default:
			if c == '\\' {
				if p++; p == len(pattern) {
					return noMatch
				}
				c = pattern[p]
			}
			if text[0] != c {
				return noMatch
			}
		}
		text = text[1:]
	}
	if text != "" {
		return noMatch
	}
	return match
}

// star matches from the "*" at pattern[p] on.
func (m *matcher) star(pattern string, p int, text string) outcome {
	first := p
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	rest := pattern[p:]
	slashes := !m.paths
	if m.paths && p-first > 1 && (first == 0 || pattern[first-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
		// "foo/**/bar" matches "foo/bar" as well: try "**/" as nothing at all.
		if strings.HasPrefix(rest, "/") && m.run(pattern, p+1, text) == match {
			return match
		}
		slashes = true
	}
	if rest == "" {
		if !slashes && strings.Contains(text, "/") {
			return abortToStarStar
		}
		return match
	}
	if !slashes && rest[0] == '/' {
		// A single "*" before a slash matches the rest of this element.
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return abortAll
		}
		return m.run(pattern, p+1, text[i+1:])
	}
	return m.tryAll(pattern, p, text, slashes)
}

// tryAll lets a "*" that ends before pattern[p] match more and more of text.
func (m *matcher) tryAll(pattern string, p int, text string, slashes bool) outcome {
	literal := strings.IndexByte(special, pattern[p]) < 0
	for text != "" {
		if literal {
			i := strings.IndexByte(text, pattern[p])
			if !slashes {
				if s := strings.IndexByte(text, '/'); s >= 0 && (i < 0 || s < i) {
					return abortToStarStar
				}
			}
			if i < 0 {
				return abortAll
			}
			text = text[i:]
		}
		got := m.run(pattern, p, text)
		if got == match || got == abortAll || got == abortToStarStar && !slashes {
			return got
		}
		if got == noMatch && !slashes && text[0] == '/' {
			return abortToStarStar
		}
		text = text[1:]
	}
	return abortAll
}
