package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// reader checks values and collects the problems.
type reader struct {
	file     string
	rule     string
	problems diagnostics.Problems
}

// value is a value with its path: "entrypoint.args[3]", "" for the whole file.
type value struct {
	*jsonfile.Value
	path string
}

// name returns the path for messages.
func (v value) name() string {
	if v.path == "" {
		return "the manifest"
	}
	return strconv.Quote(v.path)
}

func (v value) member(name string) value {
	path := name
	if v.path != "" {
		path = v.path + "." + name
	}
	return value{v.Get(name), path}
}

func (r *reader) fail(v value, hint, format string, args ...any) {
	r.problems = append(r.problems, diagnostics.Pos{File: r.file, Line: v.Line(), Col: v.Col()}.Error(r.rule, "%s %s", v.name(), fmt.Sprintf(format, args...)).WithHint(hint))
}

// is reports whether v has a kind.
func (r *reader) is(v value, kind jsonfile.Kind) bool {
	if v.Kind() != kind {
		r.fail(v, "", "is %v, required %v", v.Kind(), kind)
	}
	return v.Kind() == kind
}

// field is a member that an object may have.
type field struct {
	name string
	must bool
	read func(value)
}

func must(name string, read func(value)) field { return field{name, true, read} }
func may(name string, read func(value)) field  { return field{name, false, read} }

// object checks an object: it has all required members and no unknown ones.
func (r *reader) object(v value, fields ...field) {
	if !r.is(v, jsonfile.Object) {
		return
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
		at := v.member(f.name)
		switch {
		case at.Kind() != 0:
			f.read(at)
		case f.must:
			r.fail(v, "", "has no member %q, which is required", f.name)
		}
	}
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			at := value{m.Value, v.path}
			r.fail(at, diagnostics.Suggest(m.Name, known), "has an unknown member %.60q", m.Name)
		}
	}
}

// text is the constraints of a string. Lengths are in code points.
type text struct {
	min, max int
	form     *pattern.Pattern
	want     string // what form requires
}

func (r *reader) text(v value, t text, into *string) {
	if !r.is(v, jsonfile.String) {
		return
	}
	n := utf8.RuneCountInString(v.Text())
	switch {
	case n < t.min || n > t.max:
		r.fail(v, "", "has %d characters, required %d to %d", n, t.min, t.max)
	case t.form != nil && !t.form.MatchString(v.Text()):
		r.fail(v, "", "is %.140q, required %s", v.Text(), t.want)
	default:
		*into = v.Text()
	}
}

func (r *reader) word(v value, words []string, into *string) {
	if !r.is(v, jsonfile.String) {
		return
	}
	if !slices.Contains(words, v.Text()) {
		r.fail(v, diagnostics.Suggest(v.Text(), words), "is %.60q, required one of %s", v.Text(), strings.Join(words, ", "))
		return
	}
	*into = v.Text()
}

func (r *reader) flag(v value, into *bool) {
	if r.is(v, jsonfile.Bool) {
		*into = v.IsTrue()
	}
}

func (r *reader) integer(v value, low, high int, into *int) {
	if !r.is(v, jsonfile.Number) {
		return
	}
	n, whole := integer(v.Literal())
	if !whole || n < low || n > high {
		r.fail(v, "", "is %.40s, required an integer from %d to %d", v.Literal(), low, high)
		return
	}
	*into = n
}

// list checks a list and calls each with its elements.
func (r *reader) list(v value, most int, each func(value)) {
	if !r.is(v, jsonfile.Array) {
		return
	}
	if n := len(v.Items()); n > most {
		r.fail(v, "", "has %d elements, required at most %d", n, most)
		return
	}
	for i, item := range v.Items() {
		each(value{item, fmt.Sprintf("%s[%d]", v.path, i)})
	}
}

// set is list for strings of which no two are equal.
func (r *reader) set(v value, most int, read func(v value, into *string)) (set []string) {
	set = []string{}
	r.list(v, most, func(item value) {
		if item.Kind() == jsonfile.String && slices.Contains(set, item.Text()) {
			r.fail(item, "", "is %.140q, which is in the list before", item.Text())
			return
		}
		text, before := "", len(r.problems)
		if read(item, &text); len(r.problems) == before {
			set = append(set, text)
		}
	})
	return set
}

// manyDigits is more than any bound of a manifest has.
const manyDigits = 18

// integer returns the value of a JSON number and whether it is whole: 1000.0 and 1e3 are. A
// number that is too large for every bound has the largest value.
func integer(literal string) (n int, whole bool) {
	literal, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	before, after, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(before+after, "0")
	digits := strings.TrimRight(all, "0")
	if digits == "" {
		return 0, true
	}
	// zeros is how many zeros follow digits; a negative number of them makes a fraction.
	zeros := len(all) - len(digits) - len(after)
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 32)
		if err != nil { // the grammar is right, so it is too large
			e = 1 << 31
			if exponent[0] == '-' {
				e = -e
			}
		}
		zeros += int(e)
	}
	if zeros < 0 {
		return 0, false
	}
	if len(digits)+zeros > manyDigits {
		n = int(^uint(0) >> 1)
	} else {
		n, _ = strconv.Atoi(digits + strings.Repeat("0", zeros))
	}
	if negative {
		n = -n
	}
	return n, true
}
