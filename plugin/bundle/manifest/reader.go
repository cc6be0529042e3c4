package manifest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// The rules of diagnostics about packages.
const (
	RuleInvalid      = "package_manifest_invalid"
	RuleIncompatible = "package_incompatible"
	RuleNotIndexed   = "package_not_in_index"
)

// The bounds of lists and strings in a manifest.
const (
	maxList = 1000
	maxText = 64 << 10
)

// reader reads the members of one object and collects the problems.
type reader struct {
	path     string
	root     *jsonfile.Value
	problems diagnostics.Problems
}

func newReader(path string, data []byte) (*reader, error) {
	if len(data) > MaxSize {
		return nil, diagnostics.Problems{diagnostics.Pos{File: path}.Error(RuleInvalid, "%d bytes, expected at most %d", len(data), MaxSize)}
	}
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, root: root}
	if root.Kind() != jsonfile.Object {
		return nil, diagnostics.Problems{root.Mistyped(path, path, "an object")}
	}
	return r, nil
}

// below returns the reader of an object inside.
func (r *reader) below(v *jsonfile.Value) *reader { return &reader{path: r.path, root: v} }

// join adds the problems of a reader of an object inside.
func (r *reader) join(inner *reader) { r.problems = append(r.problems, inner.problems...) }

// fail adds a problem at the value of name, or at the object when it is missing.
func (r *reader) fail(name, format string, args ...any) {
	at := r.root.Get(name)
	if at == nil {
		at = r.root
	}
	r.failAt(at, format, args...)
}

func (r *reader) failAt(at *jsonfile.Value, format string, args ...any) {
	r.problems = append(r.problems, diagnostics.Pos{File: r.path, Line: at.Line(), Col: at.Col()}.Error(RuleInvalid, format, args...))
}

// err returns all problems; none is nil.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return diagnostics.Problems(diagnostics.Sorted(r.problems))
}

// is reports whether the member name has a kind. It returns false for a missing member and null. Another
// kind is a problem.
func (r *reader) is(name string, kind jsonfile.Kind, want string) bool {
	v := r.root.Get(name)
	switch v.Kind() {
	case kind:
		return true
	case 0, jsonfile.Null:
		return false
	}
	r.problems = append(r.problems, v.Mistyped(r.path, name, want))
	return false
}

func (r *reader) text(name string) string {
	if !r.is(name, jsonfile.String, "a string") {
		return ""
	}
	return r.bounded(name, r.root.Get(name))
}

func (r *reader) bounded(name string, v *jsonfile.Value) string {
	if n := len(v.Text()); n > maxText {
		r.failAt(v, "%q has %d bytes, expected at most %d", name, n, maxText)
		return ""
	}
	return v.Text()
}

// texts returns a list of strings.
func (r *reader) texts(name string) []string {
	list := []string{}
	for _, v := range r.items(name) {
		if v.Kind() != jsonfile.String {
			r.problems = append(r.problems, v.Mistyped(r.path, name, "a list of strings"))
			continue
		}
		list = append(list, r.bounded(name, v))
	}
	return list
}

func (r *reader) items(name string) []*jsonfile.Value {
	if !r.is(name, jsonfile.Array, "a list") {
		return nil
	}
	list := r.root.Get(name).Items()
	if len(list) > maxList {
		r.fail(name, "%q has %d elements, expected at most %d", name, len(list), maxList)
		return nil
	}
	return list
}

// integer returns an integer; a missing one is RuntimeAPI.
func (r *reader) integer(name string) int {
	if !r.is(name, jsonfile.Number, "a number") {
		return RuntimeAPI
	}
	literal := r.root.Get(name).Literal()
	n, err := strconv.ParseInt(literal, 10, 32)
	if err != nil {
		r.fail(name, "%q is %.60s, expected an integer", name, literal)
		return RuntimeAPI
	}
	return int(n)
}

// objects calls each with a reader of every object of a list.
func (r *reader) objects(name string, each func(*reader)) {
	for _, v := range r.items(name) {
		if v.Kind() != jsonfile.Object {
			r.problems = append(r.problems, v.Mistyped(r.path, name, "a list of objects"))
			continue
		}
		inner := r.below(v)
		each(inner)
		r.join(inner)
	}
}

func (r *reader) dependencies() []Dependency {
	list := []Dependency{}
	r.objects("dependencies", func(r *reader) {
		d := Dependency{ID: r.text("id"), VersionReq: r.text("version_req")}
		switch {
		case strings.TrimSpace(d.ID) == "":
			r.fail("id", "dependency id cannot be empty")
		case !ValidID(d.ID):
			r.fail("id", "dependency id %.120q is not valid, expected "+idWanted, d.ID)
		}
		if _, err := ParseRequirement(d.VersionReq); err != nil {
			r.fail("version_req", "dependency %q: %v", d.ID, err)
		}
		list = append(list, d)
	})
	return list
}

// unknown returns the members that are not among known, sorted.
func (r *reader) unknown(known []string) []string {
	var names []string
	for _, m := range r.root.Members() {
		if !slices.Contains(known, m.Name) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}
