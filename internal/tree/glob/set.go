// Package glob matches paths against lists of globs. It reads no file.
package glob

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Set is a list of globs that matches paths. The last glob that matches a path decides. It does not
// change.
type Set struct {
	globs []glob
	roots []string // every path that can match is one of these, or below one
	// plain are the paths of globs without wildcards, when there are many and no glob is negated.
	plain map[string]struct{}
}

type glob struct {
	text    string
	negated bool
	list    []Pattern // patterns of which one must match
}

// Error is the reason why a glob passed to Compile is invalid.
type Error struct {
	Index  int // index of the glob
	Glob   string
	Reason string
	Hint   string // the correction, "" if Reason includes it
}

func (e *Error) Error() string { return fmt.Sprintf("glob %q: %s", e.Glob, e.Reason) }

// Compile returns the Set of globs as written in a configuration file. They are relative to the
// directory base ("" or "." is the root); "//" in front makes one relative to the root, "!" before
// that excludes paths that earlier globs match.
//
// The rest is doublestar: "*", "?", "[a-z]" and "[!a-z]" stay within an element, "**" is any number
// of elements, "{a,b}" is either, "\" quotes the next character. A path without any of these also
// matches everything below it, and so does a "/" at the end.
//
// The error joins an *Error for each invalid glob.
func Compile(base string, globs []string) (*Set, error) {
	if base == "." {
		base = ""
	}
	s := &Set{globs: make([]glob, 0, len(globs))}
	var errs []error
	for i, text := range globs {
		pattern, negated := strings.CutPrefix(text, "!")
		list, err := parseGlob(base, pattern)
		if err != nil {
			bad := &Error{Index: i, Glob: text, Reason: err.Error()}
			if errors.Is(err, errReserved) {
				bad.Hint = "remove it; pass what the task needs from git in a variable that its env lists"
			}
			errs = append(errs, bad)
			continue
		}
		s.globs = append(s.globs, glob{text: text, negated: negated, list: list})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	s.findRoots()
	s.findPlain()
	return s, nil
}

func (s *Set) findRoots() {
	for p := range s.Patterns() {
		s.roots = append(s.roots, p.Prefix)
	}
	s.roots = topmost(s.roots)
}

// topmost returns the paths that are below none of the others. It sorts them.
func topmost(paths []string) (kept []string) {
	slices.Sort(paths) // a directory before its content
	for _, p := range paths {
		if !anyAbove(p, func(dir string) bool { _, ok := slices.BinarySearch(kept, dir); return ok }) {
			kept = append(kept, p)
		}
	}
	return kept
}

// anyAbove reports whether is returns true for path or one of its parents; "" is the last.
func anyAbove(path string, is func(dir string) bool) bool {
	for path != "" && !is(path) {
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return path != "" || is("")
}

// manyPlain is the smallest number of globs whose plain paths are looked up in a map.
const manyPlain = 8

// findPlain collects the plain paths: an adapter may list the manifests of hundreds of members for
// each of them.
func (s *Set) findPlain() {
	if len(s.globs) < manyPlain || slices.ContainsFunc(s.globs, func(g glob) bool { return g.negated }) {
		return
	}
	s.plain = make(map[string]struct{}, len(s.globs))
	for i := range s.globs {
		if path, ok := s.Plain(i); ok {
			s.plain[path] = struct{}{}
		}
	}
}

// Roots returns the shortest list of paths such that every path that can match is one of them, or
// below one. The caller must not change it.
func (s *Set) Roots() []string { return s.roots }

// Around divides the patterns by where they can match. Every path that can match is one of roots or below one, or in a directory
// that is dir or around it, with a name that a pattern of names has. A further pattern, which can match below such a directory, too, is
// deep.
func (s *Set) Around(dir string) (roots []string, names []*Pattern, deep *Pattern) {
	for p := range s.Patterns() {
		switch {
		case !Inside(dir, p.Prefix):
			roots = append(roots, p.Prefix)
		case p.Rest != "" && p.Rest != "**" && !strings.Contains(p.Rest, "/"):
			names = append(names, p)
		default:
			deep = p
		}
	}
	return topmost(roots), names, deep
}

// Patterns returns the patterns of the globs that are not negated.
func (s *Set) Patterns() iter.Seq[*Pattern] {
	return func(yield func(*Pattern) bool) {
		for i := range s.globs {
			for j := range s.globs[i].list {
				if !s.globs[i].negated && !yield(&s.globs[i].list[j]) {
					return
				}
			}
		}
	}
}

// Len returns the number of patterns of the globs that are not negated.
func (s *Set) Len() (n int) {
	for range s.Patterns() {
		n++
	}
	return n
}

// Inside reports whether path is dir or below it.
func Inside(path, dir string) bool {
	return dir == "" || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// Match reports whether path, relative to the root, matches.
func (s *Set) Match(path string) bool {
	if s.plain != nil && anyAbove(path, func(dir string) bool { _, ok := s.plain[dir]; return ok }) {
		return true
	}
	for i := len(s.globs) - 1; i >= 0; i-- {
		if s.plain != nil && s.globs[i].isPlain() {
			continue
		}
		if s.globs[i].match(path) {
			return !s.globs[i].negated
		}
	}
	return false
}

// isPlain reports whether a glob is one path and not negated.
func (g *glob) isPlain() bool {
	return !g.negated && len(g.list) == 1 && g.list[0].shape == plain
}

func (g *glob) match(path string) bool {
	for i := range g.list {
		if g.list[i].match(path) {
			return true
		}
	}
	return false
}

// Enters reports whether a path below the directory dir may match.
func (s *Set) Enters(dir string) bool {
	for p := range s.Patterns() {
		if p.Enters(dir) {
			return true
		}
	}
	return false
}

// Whole reports whether the set is one directory with all paths below it.
func (s *Set) Whole() (dir string, ok bool) {
	if len(s.globs) != 1 || len(s.roots) != 1 || len(s.globs[0].list) != 1 {
		return "", false
	}
	p := &s.globs[0].list[0]
	return p.Prefix, p.shape == all || p.shape == plain
}

// Plain returns the path, relative to the root, of the glob at index i of Compile's list; ok is
// false when it has a wildcard or is negated.
func (s *Set) Plain(i int) (path string, ok bool) {
	g := &s.globs[i]
	if !g.isPlain() {
		return "", false
	}
	return g.list[0].Prefix, true
}

// Unmatched returns the indices of the globs, without negated ones, that match none of paths.
func (s *Set) Unmatched(paths iter.Seq[string]) []int {
	var list []int
	for i := range s.globs {
		if g := &s.globs[i]; !g.negated && !g.matchesAny(paths) {
			list = append(list, i)
		}
	}
	return list
}

func (g *glob) matchesAny(paths iter.Seq[string]) bool {
	for p := range paths {
		if g.match(p) {
			return true
		}
	}
	return false
}

// ownDir is state.Name. A matcher needs nothing else of that package.
const ownDir = ".bento"

// Reserved reports whether path, relative to the root, is or is in a .git or bento's own directory,
// which are never part of a workspace.
func Reserved(path string) bool {
	for i, rest := 0, path; rest != ""; i++ {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if name == ".git" || i == 0 && name == ownDir {
			return true
		}
	}
	return false
}
