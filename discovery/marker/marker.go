// Package marker tells by a name at the top of a directory which adapters are to
// look at the directory.
package marker

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
)

// Set knows the names. Adapters are meant by their index in a list.
type Set struct {
	first      [256]bool // what they may start with, or else
	last       [256]bool // end with
	literal    map[string][]int
	patterns   []pattern
	Everywhere []int // adapters that name no files
}

type pattern struct {
	glob    string
	prefix  string // what every match starts with
	suffix  string // and ends with
	adapter int
}

// New gives the names that a list of adapters looks for.
func New(list []adapters.Adapter) *Set {
	m := &Set{literal: make(map[string][]int)}
	for i, a := range list {
		globs := a.Manifest().FingerprintFiles
		if len(globs) == 0 {
			m.Everywhere = append(m.Everywhere, i)
		}
		for _, g := range globs {
			m.addGlob(g, i)
		}
	}
	return m
}

func (m *Set) addGlob(glob string, adapter int) {
	name, _, _ := strings.Cut(strings.TrimPrefix(glob, "./"), "/")
	if name == "" || name == ".." || strings.HasPrefix(glob, "!") {
		return // what stands above says nothing of the directory
	}
	if i := strings.IndexAny(name, `*?[{\`); i >= 0 {
		// A brace may hold a slash: then the first part alone is no pattern.
		m.mayBe(name[:i], ending(name))
		if p := (pattern{name, name[:i], ending(name), adapter}); doublestar.ValidatePattern(name) && !slices.Contains(m.patterns, p) {
			m.patterns = append(m.patterns, p)
		}
		return
	}
	m.mayBe(name, "")
	if !slices.Contains(m.literal[name], adapter) {
		m.literal[name] = append(m.literal[name], adapter)
	}
}

// ending gives what every match of a pattern ends with: what stands behind its last
// wildcard.
func ending(name string) string { return name[strings.LastIndexAny(name, `*?]}\`)+1:] }

// mayBe notes that names may start and end so.
func (m *Set) mayBe(prefix, suffix string) {
	switch {
	case prefix != "":
		m.first[prefix[0]] = true
	case suffix != "":
		m.last[suffix[len(suffix)-1]] = true
	default:
		for i := range m.first {
			m.first[i] = true
		}
	}
}

// Match calls yield with the index of every adapter that the name says something to.
func (m *Set) Match(name string, yield func(adapter int)) {
	if !m.first[name[0]] && !m.last[name[len(name)-1]] {
		return // most names
	}
	for _, adapter := range m.literal[name] {
		yield(adapter)
	}
	for _, p := range m.patterns {
		if strings.HasPrefix(name, p.prefix) && strings.HasSuffix(name, p.suffix) && doublestar.MatchUnvalidated(p.glob, name) {
			yield(p.adapter)
		}
	}
}

// Knows reports whether the name says something to an adapter.
func (m *Set) Knows(name string) (known bool) {
	m.Match(name, func(int) { known = true })
	return known
}
