// Package gemversion reads and compares the versions of gems and of Ruby, and the
// requirements that select them
// (https://guides.rubygems.org/patterns/#semantic-versioning).
package gemversion

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// maxText is the size limit of a version or a requirement, in bytes.
const maxText = 256

// Version is one version. The zero value is "0".
type Version struct {
	parts []part
}

// part is a number, or a word that makes the version a pre-release.
type part struct {
	word   string // "" for a number
	number int
}

var (
	form  = pattern.New(`^[0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	piece = pattern.New(`[0-9]+|[a-zA-Z]+`)
)

// Parse reads a version such as "3.1.2" or "1.0.0.rc1".
func Parse(text string) (Version, error) {
	long := len(text) > maxText
	text = strings.TrimSpace(text)
	if long || !form.MatchString(text) {
		return Version{}, fmt.Errorf("%.80q is not a version", text)
	}
	var v Version
	for _, p := range piece.FindAllString(strings.ReplaceAll(text, "-", ".pre."), -1) {
		n, err := strconv.ParseInt(p, 10, 32)
		switch {
		case p[0] > '9':
			v.parts = append(v.parts, part{word: p})
		case err != nil:
			return Version{}, fmt.Errorf("%.80q is not a version", text)
		default:
			v.parts = append(v.parts, part{number: int(n)})
		}
	}
	return v, nil
}

// Starts reports whether the numbers of v begin with those of p.
func (v Version) Starts(p Version) bool {
	for i, want := range p.parts {
		if v.at(i) != want {
			return false
		}
	}
	return true
}

// at returns a part, 0 after the end.
func (v Version) at(i int) part {
	if i < len(v.parts) {
		return v.parts[i]
	}
	return part{}
}

// Compare orders versions as RubyGems does: a word comes before a number.
func Compare(a, b Version) int {
	for i := range max(len(a.parts), len(b.parts)) {
		x, y := a.at(i), b.at(i)
		if x == y {
			continue
		}
		switch {
		case x.word != "" && y.word == "":
			return -1
		case x.word == "" && y.word != "":
			return 1
		}
		return cmp.Or(strings.Compare(x.word, y.word), cmp.Compare(x.number, y.number))
	}
	return 0
}

// bump returns v without its words and its last number, and with the number before
// incremented: the first version that "~> v" excludes.
func (v Version) bump() Version {
	parts := v.parts
	for i, p := range parts {
		if p.word != "" {
			parts = parts[:i]
			break
		}
	}
	if len(parts) > 1 {
		parts = parts[:len(parts)-1]
	}
	out := Version{parts: append([]part(nil), parts...)}
	out.parts[len(out.parts)-1].number++
	return out
}

// release returns v without its words.
func (v Version) release() Version {
	for i, p := range v.parts {
		if p.word != "" {
			return Version{parts: v.parts[:i]}
		}
	}
	return v
}

// Requirements select the versions that satisfy all of them.
type Requirements []requirement

type requirement struct {
	op string
	v  Version
}

// ParseRequirements reads a list such as ">= 3.0, < 4". An empty list selects
// everything.
func ParseRequirements(text string) (Requirements, error) {
	if len(text) > 4*maxText {
		return nil, fmt.Errorf("a requirement of %d bytes, expected at most %d", len(text), 4*maxText)
	}
	var list Requirements
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		r := requirement{op: "="}
		for _, op := range []string{"~>", ">=", "<=", "!=", "=", ">", "<"} {
			if rest, ok := strings.CutPrefix(one, op); ok {
				r.op, one = op, rest
				break
			}
		}
		var err error
		if r.v, err = Parse(one); err != nil {
			return nil, fmt.Errorf("%.80q is not a requirement, expected one such as \">= 3.1\" or \"~> 3.1.0\"", text)
		}
		list = append(list, r)
	}
	return list, nil
}

// Has reports whether v satisfies all requirements.
func (list Requirements) Has(v Version) bool {
	for _, r := range list {
		if !r.has(v) {
			return false
		}
	}
	return true
}

func (r requirement) has(v Version) bool {
	c := Compare(v, r.v)
	switch r.op {
	case "=":
		return c == 0
	case "!=":
		return c != 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	default: // "~>"
		return c >= 0 && Compare(v.release(), r.v.bump()) < 0
	}
}
