package ruby

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/ruby/gemfile"
	"github.com/bentobuild/bento/adapters/ruby/gemlock"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// maxSearched is how many directories are searched for a gem on disk.
const maxSearched = 2_000

// bundle is a Gemfile with its lockfile and its gems on disk.
type bundle struct {
	dir    string
	file   *gemfile.File // nil when missing
	lock   string        // absolute path, "" when missing
	locked *gemlock.Lock // nil when it is missing or cannot be read
	whole  string        // why it cannot be read
	gems   []pathGem

	declared map[string]bool // the requirements of the Gemfile and the gemspecs on disk
}

// pathGem is a gem on disk.
type pathGem struct {
	name  string
	dir   string // absolute, the directory of its gemspec
	dev   bool
	place gemfile.Place // its place in the Gemfile or its lockfile
}

// readBundle reads the Gemfile in f's directory.
func readBundle(f *snapshot.Files) (*bundle, error) {
	path, _ := gemfileIn(f, f.Dir())
	file, err := gemfile.Read(f, path)
	if err != nil {
		return nil, err
	}
	b := &bundle{dir: f.Dir(), file: file, declared: make(map[string]bool)}
	if err := b.readLock(f, lockOf(path)); err != nil {
		return nil, err
	}
	b.findGems(f)
	for _, g := range file.Gems {
		b.declared[g.Name] = true
	}
	for _, s := range file.Specs {
		b.declare(f, s.Dir, true)
	}
	for _, g := range b.gems {
		b.declared[g.name] = true
		b.declare(f, g.dir, false)
	}
	return b, nil
}

// readLock reads the lockfile. One that Bundler would refuse is an error; one that only
// bento cannot read is not.
func (b *bundle) readLock(f *snapshot.Files, path string) error {
	data, err := f.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	b.lock = path
	if err == nil {
		b.locked, err = gemlock.Parse(path, data)
	}
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		return err
	}
	if err != nil {
		b.whole = err.Error()
	}
	return nil
}

// findGems finds the gems on disk: those of the Gemfile, and those that only the lockfile
// names because the program computes their directories.
func (b *bundle) findGems(f *snapshot.Files) {
	for _, g := range b.file.Gems {
		if g.Path != "" {
			b.gems = append(b.gems, pathGem{name: g.Name, dir: locate(f, g.Path, g.Name), dev: g.Dev, place: g.Place})
		}
	}
	for _, s := range b.file.Specs {
		specs := gemspecsIn(f, s.Dir)
		if s.Dir == b.dir || len(specs) == 0 {
			b.findBelow(f, specs)
			continue
		}
		if spec, err := gemfile.ReadGemspec(f, specs[0]); err == nil {
			b.gems = append(b.gems, pathGem{name: spec.Name, dir: s.Dir, place: s.Place})
		}
	}
	if b.locked == nil {
		return
	}
	for _, p := range b.locked.Paths {
		known := slices.ContainsFunc(b.gems, func(g pathGem) bool { return g.name == p.Name })
		if dir := filepath.Join(b.dir, filepath.FromSlash(p.Remote)); !known && p.Remote != "." && !filepath.IsAbs(p.Remote) {
			place := gemfile.Place{File: b.lock, Line: p.Line}
			b.gems = append(b.gems, pathGem{name: p.Name, dir: locate(f, dir, p.Name), place: place})
		}
	}
}

// findBelow finds the gems one level below the Gemfile that its gemspecs depend on, directly or
// not: the directive gemspec is a source for them too
// (https://bundler.io/man/gemfile.5.html#GEMSPEC).
func (b *bundle) findBelow(f *snapshot.Files, specs []string) {
	below := make(map[string]string) // paths of gemspecs, by name
	for i, e := range f.List(b.dir) {
		if !e.IsDir() || i > maxSearched || len(specs) == 0 {
			continue
		}
		for _, path := range gemspecsIn(f, filepath.Join(b.dir, e.Name())) {
			below[strings.TrimSuffix(filepath.Base(path), ".gemspec")] = path
		}
	}
	for own := len(specs); len(below) > 0 && len(specs) > 0; own, specs = own-1, specs[1:] {
		spec, err := gemfile.ReadGemspec(f, specs[0])
		if err != nil {
			continue // bento reports it for its own directory
		}
		for _, d := range spec.Dependencies {
			path, ok := below[d.Name]
			if !ok || d.Dev && own <= 0 {
				continue
			}
			delete(below, d.Name)
			b.gems = append(b.gems, pathGem{name: d.Name, dir: filepath.Dir(path), dev: d.Dev, place: d.Place})
			specs = append(specs, path)
		}
	}
}

// locate returns the directory of a gem's gemspec in dir or up to two levels below, as
// Bundler looks for it, else dir.
func locate(f *snapshot.Files, dir, name string) string {
	level := []string{dir}
	searched := 0
	for range 3 {
		var next []string
		for _, at := range level {
			if f.IsFile(filepath.Join(at, name+".gemspec")) {
				return at
			}
			if searched++; searched > maxSearched {
				return dir
			}
			for _, e := range f.List(at) {
				if e.IsDir() {
					next = append(next, filepath.Join(at, e.Name()))
				}
			}
		}
		level = next
	}
	return dir
}

// declare adds the requirements of the gemspecs in dir, those for development only if dev
// is true.
func (b *bundle) declare(f *snapshot.Files, dir string, dev bool) {
	for _, path := range gemspecsIn(f, dir) {
		spec, err := gemfile.ReadGemspec(f, path)
		if err != nil {
			continue // bento reports it for its own directory
		}
		b.declared[spec.Name] = true
		for _, g := range spec.Dependencies {
			if dev || !g.Dev {
				b.declared[g.Name] = true
			}
		}
	}
}

// isEmpty reports whether a Gemfile requires nothing; Bundler writes no lockfile then.
func (b *bundle) isEmpty() bool {
	return len(b.file.Gems)+len(b.file.Specs)+len(b.file.Unsure) == 0
}

// has reports whether the bundle has a gem: in the lockfile, else by its requirements.
func (b *bundle) has(name string) bool {
	if b.locked != nil {
		return b.locked.Has(name)
	}
	return b.declared[name]
}

// hasAny reports whether the bundle has one of the gems.
func (b *bundle) hasAny(names ...string) bool { return slices.ContainsFunc(names, b.has) }

// gemNamed returns the gem on disk of that name.
func (b *bundle) gemNamed(name string) (pathGem, bool) {
	i := slices.IndexFunc(b.gems, func(g pathGem) bool { return g.name == name })
	if i < 0 {
		return pathGem{}, false
	}
	return b.gems[i], true
}

// members returns the gems on disk inside the directory of the Gemfile.
func (b *bundle) members() []string {
	var dirs []string
	for _, g := range b.gems {
		if g.dir != b.dir && adapters.Within(b.dir, g.dir) && !slices.Contains(dirs, g.dir) {
			dirs = append(dirs, g.dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}
