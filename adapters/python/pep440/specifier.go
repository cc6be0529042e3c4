package pep440

import (
	"fmt"
	"strings"
)

// Specifiers select the versions that satisfy all of them.
type Specifiers []specifier

type specifier struct {
	op     string
	text   string
	v      Version
	prefix bool // ends in ".*"
}

// ParseSpecifiers reads a list such as ">=3.9, !=3.9.1, <4". An empty list selects
// everything.
func ParseSpecifiers(text string) (Specifiers, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a specifier of %d bytes, expected at most %d", len(text), maxText)
	}
	var list Specifiers
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		s, err := parseSpecifier(part)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func parseSpecifier(part string) (specifier, error) {
	// The longer operators come first.
	for _, op := range []string{"===", "~=", "==", "!=", "<=", ">=", "<", ">"} {
		rest, ok := strings.CutPrefix(part, op)
		if !ok {
			continue
		}
		s := specifier{op: op, text: strings.TrimSpace(rest)}
		number := s.text
		if op == "==" || op == "!=" {
			number, s.prefix = strings.CutSuffix(number, ".*")
		}
		var err error
		if s.v, err = Parse(number); err != nil && op != "===" {
			return s, fmt.Errorf("%.80q is not a version specifier", part)
		}
		if op == "~=" && len(s.v.release) < 2 {
			return s, fmt.Errorf("%.80q needs two numbers, such as \"~=3.11\"", part)
		}
		return s, nil
	}
	return specifier{}, fmt.Errorf("%.80q is not a version specifier, expected an operator such as \">=\"", part)
}

// Has reports whether v satisfies all specifiers. It does not exclude pre-releases.
func (list Specifiers) Has(v Version) bool {
	for _, s := range list {
		if !s.has(v) {
			return false
		}
	}
	return true
}

func (s specifier) has(v Version) bool {
	c := Compare(v, s.v)
	switch s.op {
	case "===":
		same, err := Parse(s.text)
		return err == nil && Compare(v, same) == 0
	case "==":
		return s.equals(v, c)
	case "!=":
		return !s.equals(v, c)
	case "~=":
		short := s.v.Release()
		short.release = short.release[:len(short.release)-1]
		return c >= 0 && v.Starts(short)
	case "<=":
		return c <= 0
	case ">=":
		return c >= 0
	case "<":
		// A pre-release of the bound is not below it, unless the bound is one.
		return c < 0 && (s.v.phase != final || s.v.dev >= 0 || Compare(v.Release(), s.v.Release()) != 0)
	default: // ">"
		return c > 0 && (s.v.post >= 0 || Compare(v.Release(), s.v.Release()) != 0 || v.post < 0)
	}
}

func (s specifier) equals(v Version, c int) bool {
	if s.prefix {
		return v.Starts(s.v)
	}
	return c == 0 && (s.v.local == "" || s.v.local == v.local)
}
