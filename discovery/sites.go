package discovery

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/tree"
)

// site is a directory that may be a dish.
type site struct {
	path    string
	hasFile bool           // it has a dish.toml
	config  *dish.Settings // content of dish.toml
	// ask are the adapters that may detect it, by index in the registry.
	ask      []int
	markers  []string // the files that made it a site
	projects []int    // the adapters for which a name of Manifest.Projects is in the directory, likewise

	barred    adapters.NestedAnswer // set if no adapter is asked
	decisions []*decision           // nil until it is decided
}

// sites returns the directories to decide about: those with dish.toml, and those that directly
// contain a name that an adapter looks for.
func (f *finder) sites() {
	c := candidates{
		fileNames: newFileNames(f.Registry.All(), func(m *adapters.Manifest) []string { return m.FingerprintFiles }),
		manifests: newFileNames(f.Registry.All(), func(m *adapters.Manifest) []string { return m.Projects }),
		clone:     f.Clone, byPath: make(map[string]*site),
	}
	for l := range f.Tree.Lists {
		c.look(l)
	}
	f.marks = c.marks
	f.choose(c.byPath)
	f.reportSpecial()
}

// candidates collects sites.
type candidates struct {
	*fileNames
	manifests *fileNames
	clone     *clone.Clone
	byPath    map[string]*site
	marks     []answers.Mark // files with names that adapters look for
}

// at returns the site of a directory by its path in trees.
func (c *candidates) at(dir string) *site {
	if dir == "" {
		dir = "."
	}
	s := c.byPath[dir]
	if s == nil {
		s = &site{path: dir}
		c.byPath[dir] = s
	}
	return s
}

// look adds the site of a directory according to its own name and the names in it.
func (c *candidates) look(l tree.List) {
	dir := l.Dir
	for file, kind := range l.Files {
		name := file[strings.LastIndexByte(file, '/')+1:]
		if kind == tree.Link && (name == dish.File || c.Knows(name)) && c.leadsOut(file) {
			continue // bento ignores it
		}
		if name == dish.File { // even if it is not a file: reading it reports that
			c.at(dir).hasFile = true
		}
		c.mark(dir, name, file, kind)
	}
	for _, adapter := range c.Everywhere {
		c.at(dir).add(adapter, dir)
	}
	if dir != "" {
		slash := strings.LastIndexByte(dir, '/')
		if dir[slash+1:] == dish.File {
			c.at(dir[:max(0, slash)]).hasFile = true
		}
		c.mark(dir[:max(0, slash)], dir[slash+1:], dir, tree.Dir)
	}
}

// leadsOut reports whether a link leads out of the workspace, and adds a warning then.
func (c *candidates) leadsOut(file string) bool {
	if c.clone == nil {
		return false
	}
	_, err := c.clone.Mode(file)
	return errors.As(err, new(*clone.StrayError))
}

// mark adds a file or directory directly in dir to the marks.
func (c *candidates) mark(dir, name, file string, kind tree.Kind) {
	known := false
	c.Match(name, func(adapter int) {
		c.at(dir).add(adapter, file)
		known = true
	})
	if !known {
		return
	}
	c.marks = append(c.marks, answers.Mark{Path: file, Kind: kind})
	if s := c.at(dir); kind == tree.File || kind == tree.Link {
		c.manifests.Match(name, func(adapter int) {
			if !slices.Contains(s.projects, adapter) {
				s.projects = append(s.projects, adapter)
			}
		})
	}
}

func (s *site) add(adapter int, marker string) {
	if !slices.Contains(s.ask, adapter) {
		s.ask = append(s.ask, adapter)
	}
	if !slices.Contains(s.markers, marker) {
		s.markers = append(s.markers, marker)
	}
}

// choose removes unwanted sites, bars those that exclude matches, and reads the dish.toml files.
func (f *finder) choose(byPath map[string]*site) {
	f.included = f.includes()
	excluded := f.excluded()
	f.ws.Excludes = func(dir string) bool { return excluded(dir) && !f.included(dir) }
	var paths []string
	for dir, s := range byPath {
		if !s.hasFile && !f.Config.Discover && !f.included(dir) {
			continue
		}
		slices.Sort(s.ask)
		slices.Sort(s.projects)
		f.all = append(f.all, s)
		if f.ws.Excludes(dir) {
			s.barred = adapters.NestedAnswer{Reason: dish.Excluded, Why: "[workspace] exclude matches it"}
		} else if s.hasFile {
			paths = append(paths, dir)
		}
	}
	f.all = slices.DeleteFunc(f.all, f.madeByTask)
	slices.SortFunc(f.all, func(a, b *site) int { return byPlace(a.path, b.path) })
	f.pending = slices.Clone(f.all)
	slices.Sort(paths)
	dishes, problems := f.Config.LoadDishes(f.found(paths), f.Memory)
	f.add(problems...)
	if f.Loaded != nil {
		f.Loaded(dishes)
	}
	for i := range dishes {
		byPath[dishes[i].Path].config = dishes[i]
	}
}

// reportSpecial warns of pipes, sockets and devices with the name of a manifest; adapters ignore
// them.
func (f *finder) reportSpecial() {
	if !f.Config.Discover {
		return
	}
	for _, m := range f.marks {
		if m.Kind != tree.Special || f.ws.Excludes(path.Dir(m.Path)) {
			continue
		}
		f.add(diagnostics.Pos{File: m.Path}.Warning(tree.RuleSpecial, "it is a FIFO, a socket or a device, required a regular file; its adapter ignores it").
			WithHint("remove it, or name its directory in [workspace] exclude"))
	}
}

// found returns the dish.toml files in paths, as far as they are known.
func (f *finder) found(paths []string) []config.Found {
	return parallel.Map(paths, func() *tree.Tree { return f.Tree }, func(files *tree.Tree, dir string) config.Found {
		e, ok := files.Lookup(path.Join(dir, dish.File))
		if !ok || e.Kind != tree.File {
			return config.Found{Dir: dir}
		}
		sum, err := files.Index().Sum(e)
		return config.Found{Dir: dir, Sum: sum, Known: err == nil}
	})
}

// excluded returns the test for [workspace] exclude. A path below an excluded directory is excluded
// too, unless a negation includes it.
func (f *finder) excluded() func(dir string) bool {
	if len(f.Config.Exclude) == 0 {
		return func(string) bool { return false }
	}
	set := f.compile("", f.Config.Exclude)
	negated := slices.ContainsFunc(f.Config.Exclude, func(g dish.Glob) bool { return strings.HasPrefix(g.Text, "!") })
	return func(dir string) bool {
		for above := range dish.Upwards(dir) {
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

// includes returns the test for [workspace] include, which matches the directory itself. The last matching
// glob decides.
func (f *finder) includes() func(dir string) bool {
	if len(f.Config.Include) == 0 || f.compile("", f.Config.Include) == nil {
		return func(string) bool { return false }
	}
	return func(dir string) (yes bool) {
		for _, g := range f.Config.Include {
			text, not := strings.CutPrefix(g.Text, "!")
			if yes == not && matchesDir(text, dir) {
				yes = !not
			}
		}
		return yes
	}
}

// matchesDir reports whether a valid glob matches a directory.
func matchesDir(glob, dir string) bool {
	return doublestar.MatchUnvalidated(path.Clean(strings.TrimPrefix(glob, "//")), dir)
}

// compile compiles globs. It reports wrong ones and returns nil then.
func (f *finder) compile(base string, globs []dish.Glob) *tree.Set {
	globs = slices.DeleteFunc(slices.Clone(globs), func(g dish.Glob) bool { return g.Text == "" })
	texts := make([]string, len(globs))
	for i, g := range globs {
		texts[i] = g.Text
	}
	set, err := tree.CompileSet(base, texts)
	if err == nil {
		return set
	}
	for _, err := range unjoin(err) {
		var bad *tree.GlobError
		if errors.As(err, &bad) && bad.Index < len(globs) {
			f.add(globs[bad.Index].Pos.Error(config.RuleGlob, "glob %q: %s", bad.Glob, bad.Reason))
		}
	}
	return nil
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
