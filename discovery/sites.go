package discovery

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/tree"
)

// site is a directory that may be a dish.
type site struct {
	path   string
	config *config.Dish // nil without dish.toml
	// ask are the adapters that may detect it, by their index in the registry.
	ask    []int
	marker string // a file in it that made it a candidate
}

// sites lists the directories to look at: those with dish.toml, and those with a
// name at their top that an adapter knows.
func (f *finder) sites() {
	m := newMarkers(f.Registry.All())
	byPath := make(map[string]*site)
	at := func(dir string) *site {
		s := byPath[dir]
		if s == nil {
			s = &site{path: dir}
			byPath[dir] = s
		}
		return s
	}
	withFile := make(map[string]bool)
	for _, e := range f.Tree.Entries() {
		dir, name := path.Dir(e.Path), path.Base(e.Path)
		if name == config.DishFile && e.Kind != tree.Special {
			withFile[dir] = true
			at(dir)
		}
		m.match(name, func(adapter int) { at(dir).add(adapter, e.Path) })
	}
	for _, dir := range f.Tree.Dirs() {
		dir = path.Clean(dir)
		for _, adapter := range m.everywhere {
			at(dir).add(adapter, dir)
		}
		if dir != "." {
			m.match(path.Base(dir), func(adapter int) { at(path.Dir(dir)).add(adapter, dir) })
		}
	}
	f.choose(byPath, withFile)
}

func (s *site) add(adapter int, marker string) {
	if !slices.Contains(s.ask, adapter) {
		s.ask = append(s.ask, adapter)
	}
	if s.marker == "" {
		s.marker = marker
	}
}

// choose leaves out what is excluded or not wanted, and reads the dish.toml files.
func (f *finder) choose(byPath map[string]*site, withFile map[string]bool) {
	excluded := f.excluded()
	var paths []string
	for dir, s := range byPath {
		if excluded(dir) || !withFile[dir] && !f.Config.Discover {
			continue
		}
		slices.Sort(s.ask)
		f.pending = append(f.pending, s)
		if withFile[dir] {
			paths = append(paths, dir)
		}
	}
	slices.SortFunc(f.pending, func(a, b *site) int { return strings.Compare(a.path, b.path) })
	slices.Sort(paths)
	dishes, problems := f.Config.LoadDishes(f.found(paths), f.Memory)
	f.add(problems...)
	for i := range dishes {
		byPath[dishes[i].Path].config = &dishes[i]
		f.checkGlobs(&dishes[i])
	}
}

// found tells what is known of the dish.toml files in paths.
func (f *finder) found(paths []string) []config.Found {
	list := make([]config.Found, len(paths))
	for i, dir := range paths {
		list[i].Dir = dir
		e, ok := f.Tree.Lookup(path.Join(dir, config.DishFile))
		if !ok || e.Kind != tree.File {
			continue
		}
		sum, err := f.Tree.Index().Sum(e)
		list[i].Sum, list[i].Known = sum, err == nil
	}
	return list
}

// excluded gives the test for [workspace] exclude. What is below an excluded
// directory is excluded too, unless negations say what of it is not.
func (f *finder) excluded() func(dir string) bool {
	if len(f.Config.Exclude) == 0 {
		return func(string) bool { return false }
	}
	set := f.compile("", f.Config.Exclude)
	negated := slices.ContainsFunc(f.Config.Exclude, func(g config.Glob) bool { return strings.HasPrefix(g.Text, "!") })
	return func(dir string) bool {
		for above := range upwards(dir) {
			if set == nil || above == "." {
				return false
			}
			if set.Match(above) || negated {
				return set.Match(above)
			}
		}
		return false
	}
}

// markers knows which names at the top of a directory make which adapters look.
type markers struct {
	literal    map[string][]int
	patterns   []pattern
	everywhere []int // adapters that name no files
}

type pattern struct {
	glob    string
	prefix  string // what every match starts with
	adapter int
}

func newMarkers(list []adapters.Adapter) *markers {
	m := &markers{literal: make(map[string][]int)}
	for i, a := range list {
		globs := a.Manifest().FingerprintFiles
		if len(globs) == 0 {
			m.everywhere = append(m.everywhere, i)
		}
		for _, g := range globs {
			m.addGlob(g, i)
		}
	}
	return m
}

func (m *markers) addGlob(glob string, adapter int) {
	name, _, _ := strings.Cut(strings.TrimPrefix(glob, "./"), "/")
	if name == "" || name == ".." || strings.HasPrefix(glob, "!") {
		return // what stands above says nothing of the directory
	}
	if i := strings.IndexAny(name, `*?[{\`); i >= 0 {
		// A brace may hold a slash: then the first part alone is no pattern.
		if p := (pattern{name, name[:i], adapter}); doublestar.ValidatePattern(name) && !slices.Contains(m.patterns, p) {
			m.patterns = append(m.patterns, p)
		}
		return
	}
	if !slices.Contains(m.literal[name], adapter) {
		m.literal[name] = append(m.literal[name], adapter)
	}
}

func (m *markers) match(name string, yield func(adapter int)) {
	for _, adapter := range m.literal[name] {
		yield(adapter)
	}
	for _, p := range m.patterns {
		if strings.HasPrefix(name, p.prefix) && doublestar.MatchUnvalidated(p.glob, name) {
			yield(p.adapter)
		}
	}
}
