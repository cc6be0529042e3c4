package manifest

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// maxProblems is the largest number of reported problems of one manifest.
const maxProblems = 100

// reader reads values of a manifest and collects their problems.
type reader struct{ problems []diagnostics.Diagnostic }

func (r *reader) add(d diagnostics.Diagnostic) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, d)
	} else if d.Severity == diagnostics.Error {
		r.problems[maxProblems-1] = d // a manifest with an error is never accepted
	}
}

func (r *reader) error(at diagnostics.Pos, rule, format string, args ...any) {
	r.add(at.Error(rule, format, args...))
}

// known reports unknown keys of a table. They are errors if strict, else warnings, since later revisions
// of the contract may add some.
func (r *reader) known(t *tomlfile.Value, strict bool, keys ...string) {
	isKnown := make(map[string]bool, len(keys))
	for _, k := range keys {
		isKnown[k] = true
	}
	for _, name := range t.Keys() {
		if !isKnown[name] {
			d := t.Child(name).Unknown(keys)
			if !strict {
				d.Severity = diagnostics.Warning
			}
			r.add(d)
		}
	}
}

// table returns a section, nil if it is missing or no table.
func (r *reader) table(parent *tomlfile.Value, key string) *tomlfile.Value {
	t := parent.Child(key)
	if t != nil && t.Kind() != tomlfile.Table {
		r.add(t.Expected("a table"))
		return nil
	}
	return t
}

// text returns a string, "" if it is missing or invalid.
func (r *reader) text(t *tomlfile.Value, key string) string {
	if v := t.Child(key); v != nil {
		return r.string(v)
	}
	return ""
}

// must is text for a required string, which is not empty.
func (r *reader) must(t *tomlfile.Value, key string) string {
	v := t.Child(key)
	if v == nil {
		r.error(t.KeyPos(), RuleMissingKey, "%s.%s is missing, required as a string", t.Path(), key)
		return ""
	}
	text := r.string(v)
	if v.Kind() == tomlfile.String && text == "" {
		r.error(v.Pos(), RuleInvalidValue, "%s is empty, required with a value", v.Path())
	}
	return text
}

func (r *reader) string(v *tomlfile.Value) string {
	text, ok := v.Text()
	if !ok || len(text) > maxText {
		r.add(v.Expected(fmt.Sprintf("a string of at most %d bytes", maxText)))
		return ""
	}
	return text
}

// integer returns an integer from 0 to most.
func (r *reader) integer(v *tomlfile.Value, most int64) (int64, bool) {
	if v == nil {
		return 0, false
	}
	n, ok := v.Any().(int64)
	switch {
	case !ok:
		r.add(v.Expected("an integer"))
	case n < 0 || n > most:
		r.error(v.Pos(), RuleInvalidValue, "%s is %d, expected an integer from 0 to %d", v.Path(), n, most)
	default:
		return n, true
	}
	return 0, false
}

// list returns an array of strings, nil if it is missing, empty or invalid.
func (r *reader) list(t *tomlfile.Value, key string) []string {
	v := t.Child(key)
	if v == nil {
		return nil
	}
	if v.Kind() != tomlfile.Array || len(v.Elems()) > maxList {
		r.add(v.Expected(fmt.Sprintf("an array of at most %d strings", maxList)))
		return nil
	}
	var list []string
	for _, e := range v.Elems() {
		list = append(list, r.string(e))
	}
	return list
}

// grant reads the value of a capability.
func (r *reader) grant(v *tomlfile.Value) Grant {
	if on, ok := v.Any().(bool); ok {
		return Grant{All: on}
	}
	if v.Kind() == tomlfile.Array && len(v.Elems()) <= maxList {
		var g Grant
		for _, e := range v.Elems() {
			g.Only = append(g.Only, r.string(e))
		}
		return g
	}
	r.add(v.Expected(fmt.Sprintf("true, false or an array of at most %d strings", maxList)))
	return Grant{}
}
