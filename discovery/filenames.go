package discovery

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
)

// fileNames are the file names that adapters look for. Adapters are identified by their index in a
// list.
type fileNames struct {
	first      [256]bool // first bytes of names
	last       [256]bool // last bytes of names
	literal    map[string][]int
	patterns   []pattern
	Everywhere []int // adapters without file names
}

type pattern struct {
	glob    string
	prefix  string // common start of all matches
	suffix  string // common end of all matches
	adapter int
}

// newFileNames returns the file names that a list of adapters looks for, by globs of their
// manifests.
func newFileNames(list []adapters.Adapter, globsOf func(*adapters.Manifest) []string) *fileNames {
	m := &fileNames{literal: make(map[string][]int)}
	for i, a := range list {
		globs := globsOf(a.Manifest())
		if len(globs) == 0 {
			m.Everywhere = append(m.Everywhere, i)
		}
		for _, g := range globs {
			m.addGlob(g, i)
		}
	}
	return m
}

func (m *fileNames) addGlob(glob string, adapter int) {
	name, _, _ := strings.Cut(strings.TrimPrefix(glob, "./"), "/")
	if name == "" || name == ".." || strings.HasPrefix(glob, "!") {
		return // a name in a directory above does not identify this directory
	}
	if i := strings.IndexAny(name, `*?[{\`); i >= 0 {
		// A brace may contain a slash; then the first element alone is no pattern.
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

// ending returns the common end of all matches of a pattern: the text after its last wildcard.
func ending(name string) string { return name[strings.LastIndexAny(name, `*?]}\`)+1:] }

// mayBe adds a start and an end of names.
func (m *fileNames) mayBe(prefix, suffix string) {
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

// Match calls yield with the index of every adapter that looks for the name.
func (m *fileNames) Match(name string, yield func(adapter int)) {
	if !m.first[name[0]] && !m.last[name[len(name)-1]] {
		return // true for most names
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

// Knows reports whether an adapter looks for the name.
func (m *fileNames) Knows(name string) (known bool) {
	m.Match(name, func(int) { known = true })
	return known
}
