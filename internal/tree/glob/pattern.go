package glob

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is one of the patterns without braces that a glob expands to.
type Pattern struct {
	Prefix string // the path before the first wildcard, relative to the root
	Rest   string // the rest below Prefix; "" for none

	shape shape
	tail  string   // text that shape compares with
	parts []string // the elements of Rest
}

// shape is the way to match Rest; most patterns need no general matcher.
type shape uint8

const (
	plain    shape = iota // no rest: the path itself and everything below
	all                   // "**"
	deepTail              // "**/*" and then only text, in tail
	flatTail              // "*" and then only text
	deepName              // "**/" and then only text
	anything              // element by element
)

const wildcards = `*?[{\`

var errReserved = errors.New("a glob cannot name files in .git, or in .bento at the root")

// parsePattern reads a pattern without braces, relative to the directory base.
func parsePattern(base, pattern string) (Pattern, error) {
	if rest, ok := strings.CutPrefix(pattern, "//"); ok {
		base, pattern = "", rest
	}
	switch {
	case strings.HasPrefix(pattern, "/"):
		return Pattern{}, errors.New(`it is absolute; "//" in front means the workspace root`)
	case strings.HasSuffix(pattern, "/"):
		pattern += "**"
	}
	var prefix strings.Builder
	prefix.WriteString(base)
	var rest []string
	for part := range strings.SplitSeq(pattern, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return Pattern{}, errors.New(`it leaves its directory by ".."; "//" in front means the workspace root`)
		case endsEscaping(part):
			return Pattern{}, errors.New(`it has a "\" before "/"`)
		case len(rest) == 0 && isLiteral(part):
			name := unescape(part)
			if name == "." || name == ".." {
				return Pattern{}, fmt.Errorf("%q means %q, which is not allowed", part, name)
			}
			if prefix.Len() > 0 {
				prefix.WriteByte('/')
			}
			prefix.WriteString(name)
		case part == "**" && len(rest) > 0 && rest[len(rest)-1] == "**":
		case !doublestar.ValidatePattern(part):
			return Pattern{}, errors.New(`it has a "/" between "[" and "]"`)
		case part == "**":
			rest = append(rest, part)
		default:
			rest = append(rest, oneStar(part))
		}
	}
	g := Pattern{Prefix: prefix.String(), Rest: strings.Join(rest, "/"), parts: rest}
	if Reserved(g.Prefix) {
		return Pattern{}, errReserved
	}
	g.shape, g.tail = shapeOf(rest)
	return g, nil
}

// isLiteral reports whether an element has no wildcard.
func isLiteral(part string) bool {
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' {
			i++
		} else if strings.IndexByte(wildcards, part[i]) >= 0 {
			return false
		}
	}
	return true
}

// oneStar replaces several stars in a row, which mean the same, by one.
func oneStar(part string) string {
	var b strings.Builder
	star := false // the last written byte is a star
	for i := 0; i < len(part); i++ {
		from := i
		switch part[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(part, i)
		case '*':
			if star {
				continue
			}
		}
		star = part[from] == '*'
		b.WriteString(part[from : i+1])
	}
	return b.String()
}

// endsEscaping reports whether the last character is a backslash that quotes the next one.
func endsEscaping(part string) bool {
	n := len(part) - len(strings.TrimRight(part, `\`))
	return n%2 == 1
}

func unescape(part string) string {
	if !strings.Contains(part, `\`) {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' && i+1 < len(part) {
			i++
		}
		b.WriteByte(part[i])
	}
	return b.String()
}

func shapeOf(rest []string) (shape, string) {
	deep := len(rest) == 2 && rest[0] == "**"
	switch {
	case len(rest) == 0:
		return plain, ""
	case len(rest) == 1 && rest[0] == "**":
		return all, ""
	case len(rest) > 2 || len(rest) == 2 && !deep:
		return anything, ""
	}
	last := rest[len(rest)-1]
	if deep && isLiteral(last) {
		return deepName, unescape(last)
	}
	if last[0] != '*' || !isLiteral(last[1:]) {
		return anything, ""
	}
	if deep {
		return deepTail, unescape(last[1:])
	}
	return flatTail, unescape(last[1:])
}

// Match reports whether path, relative to the root, matches.
func (g *Pattern) Match(path string) bool { return g.match(path) }

func (g *Pattern) match(path string) bool {
	below, ok := g.below(path)
	if !ok {
		return false
	}
	if below == "" {
		return g.shape == plain || g.shape == all
	}
	switch g.shape {
	case plain, all:
		return true
	case deepTail:
		return strings.HasSuffix(below, g.tail)
	case flatTail:
		return strings.HasSuffix(below, g.tail) && strings.IndexByte(below, '/') < 0
	case deepName:
		head, ok := strings.CutSuffix(below, g.tail)
		return ok && (head == "" || head[len(head)-1] == '/')
	}
	return g.matchParts(below)
}

// matchParts matches element by element. Only the last "**" has to be tried with more elements:
// those before it took as few as possible.
func (g *Pattern) matchParts(path string) bool {
	part, pos := 0, 0
	star, from := -1, 0 // the last "**", and the element after those that it took
	for pos <= len(path) {
		switch {
		case part < len(g.parts) && g.parts[part] == "**":
			star, from = part, pos
			part++
		case part < len(g.parts) && matchPart(g.parts[part], component(path, pos)):
			part, pos = part+1, pos+len(component(path, pos))+1
		case star >= 0:
			from += len(component(path, from)) + 1
			part, pos = star+1, from
		default:
			return false
		}
	}
	return part == len(g.parts) || part == len(g.parts)-1 && g.parts[part] == "**"
}

// component returns the element of path that starts at pos.
func component(path string, pos int) string {
	name, _, _ := strings.Cut(path[pos:], "/")
	return name
}

// matchPart matches one element. It does not use doublestar's own "**", with which "a*/**" matches
// "ab", but not "a".
func matchPart(pattern, name string) bool {
	ok, _ := doublestar.Match(pattern, name) // the pattern is valid
	return ok
}

// below returns the part of p below the prefix, "" when p is the prefix itself; ok is false when p
// is outside.
func (g *Pattern) below(p string) (below string, ok bool) {
	n := len(g.Prefix)
	switch {
	case n == 0:
		return p, true
	case len(p) < n || p[:n] != g.Prefix:
		return "", false
	case len(p) == n:
		return "", true
	}
	return p[n+1:], p[n] == '/'
}

// Enters reports whether a path below the directory dir may match.
func (g *Pattern) Enters(dir string) bool {
	if Inside(g.Prefix, dir) {
		return true
	}
	below, ok := g.below(dir)
	if !ok {
		return false
	}
	if g.shape == plain {
		return true
	}
	i := 0
	for part := range strings.SplitSeq(below, "/") {
		if g.parts[i] == "**" {
			return true
		}
		if i == len(g.parts)-1 || !matchPart(g.parts[i], part) {
			return false
		}
		i++
	}
	return true
}

// parseGlob returns the patterns of a glob, without "!" in front.
func parseGlob(base, pattern string) ([]Pattern, error) {
	switch {
	case pattern == "":
		return nil, errors.New("it is empty")
	case len(pattern) > maxGlob:
		return nil, fmt.Errorf("it is longer than %d bytes", maxGlob)
	case strings.ContainsRune(pattern, 0):
		return nil, errors.New("it holds a NUL")
	case !utf8.ValidString(pattern):
		return nil, errors.New("it is not valid UTF-8") // doublestar takes all invalid bytes for the same
	}
	if !strings.ContainsAny(pattern, wildcards) {
		p, err := parsePattern(base, pattern)
		return []Pattern{p}, err
	}
	patterns, err := expand(pattern)
	if err != nil {
		return nil, err
	}
	list := make([]Pattern, len(patterns))
	for i, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			return nil, errors.New(`it is malformed: a "[" is not closed, or a "\" is last`)
		}
		if list[i], err = parsePattern(base, p); err != nil {
			return nil, err
		}
	}
	return list, nil
}
