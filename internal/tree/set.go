package tree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set is a list of globs that decides which paths are meant. The last glob that
// matches a path decides. It is immutable.
type Set struct {
	globs []glob
	roots []string // every path that can match is one of these, or below one
}

type glob struct {
	text    string
	negated bool
	arms    []arm
}

// GlobError says what is wrong with one of the globs given to CompileSet.
type GlobError struct {
	Index  int // which one
	Glob   string
	Reason string
}

func (e *GlobError) Error() string { return fmt.Sprintf("glob %q: %s", e.Glob, e.Reason) }

// CompileSet makes a Set of globs as written in a configuration file. They are
// relative to the directory base ("" or "." is the root); "//" in front makes one
// relative to the root, "!" before that takes out what the ones before it let in.
//
// The rest is doublestar: "*", "?", "[a-z]" and "[!a-z]" stay within a component,
// "**" is any number of components, "{a,b}" is either, "\" takes the meaning off
// what follows. A path without any of these also means all that is below it, and
// so does a "/" at the end.
//
// The error joins a *GlobError for each glob that is wrong.
func CompileSet(base string, globs []string) (*Set, error) {
	base = clean(base)
	s := &Set{globs: make([]glob, 0, len(globs))}
	var errs []error
	for i, text := range globs {
		pattern, negated := strings.CutPrefix(text, "!")
		arms, err := parseGlob(base, pattern)
		if err != nil {
			errs = append(errs, &GlobError{Index: i, Glob: text, Reason: err.Error()})
			continue
		}
		s.globs = append(s.globs, glob{text: text, negated: negated, arms: arms})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	s.findRoots()
	return s, nil
}

func (s *Set) findRoots() {
	for a := range s.letIn() {
		s.roots = append(s.roots, a.prefix)
	}
	slices.SortFunc(s.roots, compareDirs)
	kept := s.roots[:0]
	for _, r := range s.roots {
		if len(kept) == 0 || !inside(r, kept[len(kept)-1]) {
			kept = append(kept, r)
		}
	}
	s.roots = kept
}

// letIn gives the arms of the globs that are not negated.
func (s *Set) letIn() func(func(*arm) bool) {
	return func(yield func(*arm) bool) {
		for i := range s.globs {
			for j := range s.globs[i].arms {
				if !s.globs[i].negated && !yield(&s.globs[i].arms[j]) {
					return
				}
			}
		}
	}
}

// inside tells whether path is dir or below it.
func inside(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// Match tells whether path, relative to the root, is meant.
func (s *Set) Match(path string) bool {
	for i := len(s.globs) - 1; i >= 0; i-- {
		if s.globs[i].match(path) {
			return !s.globs[i].negated
		}
	}
	return false
}

func (g *glob) match(path string) bool {
	for i := range g.arms {
		if g.arms[i].match(path) {
			return true
		}
	}
	return false
}

// enters tells whether something below the directory dir may match.
func (s *Set) enters(dir string) bool {
	for a := range s.letIn() {
		if a.enters(dir) {
			return true
		}
	}
	return false
}

// whole tells whether the set is one directory with all below it.
func (s *Set) whole() (dir string, ok bool) {
	if len(s.globs) != 1 || len(s.roots) != 1 || len(s.globs[0].arms) != 1 {
		return "", false
	}
	a := &s.globs[0].arms[0]
	return a.prefix, a.shape == all || a.shape == plain
}

// Plain gives the path, relative to the root, that the glob at index i of
// CompileSet's list names without any wildcard; ok is false when it has some or is
// negated.
func (s *Set) Plain(i int) (path string, ok bool) {
	g := &s.globs[i]
	if g.negated || len(g.arms) != 1 || g.arms[0].shape != plain {
		return "", false
	}
	return g.arms[0].prefix, true
}

// Unmatched gives the indexes of the globs, not counting negated ones, that match
// none of entries.
func (s *Set) Unmatched(entries []Entry) []int {
	var list []int
	for i := range s.globs {
		g := &s.globs[i]
		if !g.negated && !slices.ContainsFunc(entries, func(e Entry) bool { return g.match(e.Path) }) {
			list = append(list, i)
		}
	}
	return list
}
