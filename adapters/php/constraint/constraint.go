// Package constraint compares versions of PHP with the version constraints of
// Composer, https://getcomposer.org/doc/articles/versions.md.
package constraint

import (
	"slices"
	"strconv"
	"strings"
)

// version is a release: missing numbers are zero.
type version [4]int

// parse reads a version and counts its numbers. It ignores what follows them ("-1ubuntu2",
// "RC1").
func parse(text string) (v version, parts int, ok bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "v"), "V")
	for parts < len(v) {
		end := 0
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(text[:end])
		if err != nil {
			break
		}
		v[parts] = n
		parts++
		if text = text[end:]; !strings.HasPrefix(text, ".") {
			break
		}
		text = text[1:]
	}
	return v, parts, parts > 0
}

// next returns the first version after all that begin with the first n numbers of v.
func (v version) next(n int) version {
	v[n-1]++
	for i := n; i < len(v); i++ {
		v[i] = 0
	}
	return v
}

func (v version) compare(w version) int { return slices.Compare(v[:], w[:]) }

// maxLength is the size limit of a constraint, in bytes.
const maxLength = 1 << 10

// Satisfies reports whether a version meets a constraint; known is false for a constraint
// that it cannot read.
func Satisfies(have, constraint string) (ok, known bool) {
	v, _, valid := parse(have)
	if !valid || len(constraint) > maxLength {
		return false, false
	}
	for _, group := range strings.Split(strings.ReplaceAll(constraint, "||", "|"), "|") {
		all, valid := satisfiesAll(v, strings.TrimSpace(group))
		if !valid {
			return false, false
		}
		ok = ok || all
	}
	return ok, true
}

// satisfiesAll reports whether have meets all constraints of a group: "^8.1 !=8.1.3".
func satisfiesAll(v version, group string) (ok, known bool) {
	if from, to, is := strings.Cut(group, " - "); is {
		return between(v, strings.TrimSpace(from), strings.TrimSpace(to))
	}
	words := strings.FieldsFunc(glue(group), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	if len(words) == 0 {
		return false, false
	}
	ok = true
	for _, word := range words {
		one, valid := satisfiesOne(v, word)
		if !valid {
			return false, false
		}
		ok = ok && one
	}
	return ok, true
}

// glue removes blanks after operators.
func glue(text string) string {
	var b strings.Builder
	behind := false
	for _, r := range text {
		if behind && (r == ' ' || r == '\t') {
			continue
		}
		behind = strings.ContainsRune("<>=!~^", r)
		b.WriteRune(r)
	}
	return b.String()
}

// between reports whether have is in a hyphen range. An incomplete upper end includes all
// versions that begin with it.
func between(v version, from, to string) (ok, known bool) {
	low, _, valid := parse(from)
	high, n, valid2 := parse(to)
	if !valid || !valid2 {
		return false, false
	}
	if n < 3 {
		return v.compare(low) >= 0 && v.compare(high.next(n)) < 0, true
	}
	return v.compare(low) >= 0 && v.compare(high) <= 0, true
}

// satisfiesOne reports whether have meets one word: an operator and a version.
func satisfiesOne(v version, word string) (ok, known bool) {
	word, _, _ = strings.Cut(word, "@") // stability
	if word == "*" || word == "x" || word == "X" {
		return true, true
	}
	if rest, wild := cutWildcard(word); wild {
		low, n, valid := parse(rest)
		return v.compare(low) >= 0 && valid && v.compare(low.next(n)) < 0, valid
	}
	op := word[:len(word)-len(strings.TrimLeft(word, "<>=!~^"))]
	w, n, valid := parse(word[len(op):])
	if !valid {
		return false, false
	}
	c := v.compare(w)
	switch op {
	case "", "=", "==":
		return c == 0, true
	case "!=", "<>":
		return c != 0, true
	case "<":
		return c < 0, true
	case "<=":
		return c <= 0, true
	case ">":
		return c > 0, true
	case ">=":
		return c >= 0, true
	case "~":
		return c >= 0 && v.compare(w.next(max(1, min(n, 4)-1))) < 0, true
	case "^":
		return c >= 0 && v.compare(caret(w, n)) < 0, true
	}
	return false, false
}

// cutWildcard removes ".*" or ".x" from the end.
func cutWildcard(word string) (rest string, ok bool) {
	for _, end := range []string{".*", ".x", ".X"} {
		if rest, ok := strings.CutSuffix(word, end); ok {
			for inner, more := cutWildcard(rest); more; inner, more = cutWildcard(rest) {
				rest = inner
			}
			return rest, true
		}
	}
	return word, false
}

// caret returns the end of a caret range: the next change of the first number that is not
// zero.
func caret(w version, parts int) version {
	for i := range parts {
		if w[i] != 0 {
			return w.next(i + 1)
		}
	}
	return w.next(parts)
}
