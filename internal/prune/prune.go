// Package prune chooses the files of a workspace that some of its dishes need, in two layers: those that an install of
// dependencies reads, and all.
package prune

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Subset are the files that some dishes need. Paths are relative to the root of the workspace.
type Subset struct {
	Dishes    []*dish.Dish // by path
	Manifests []tree.Entry // manifests and lockfiles of all dishes of the languages, by path
	Files     []tree.Entry // those and all others, by path
	// Stubs are sources that Cargo wants to exist beside a manifest, in the layer of the manifests; LeftStubs are those
	// of them that Files lacks.
	Stubs, LeftStubs []string
}

// Choose returns the subset for the tasks of a plan, which are those of the wanted dishes and all that they need. inputs
// are further files that the tasks read. A manifest of a dish that is not needed is included: the lockfile of its
// workspace names it. read returns the content of a file, nil for none.
func Choose(files *tree.Tree, p *plan.Plan, inputs []string, read func(path string) []byte) (*Subset, error) {
	dishes := needed(p)
	var list []*dish.Dish
	for d := range dishes {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *dish.Dish) int { return strings.Compare(a.Path, b.Path) })
	wanted := make(map[string]bool, len(inputs))
	for _, name := range inputs {
		wanted[name] = true
	}
	innermost := dirsOf(p.Workspace.Dishes)
	manifests, err := manifestsOf(list)
	if err != nil {
		return nil, err
	}
	s := &Subset{Dishes: list}
	for _, e := range files.Entries() {
		manifest := manifests.Match(e.Path)
		if manifest {
			s.Manifests = append(s.Manifests, e)
		}
		if manifest || wanted[e.Path] || isOfBento(e.Path) || slices.ContainsFunc(innermost(e.Path), func(d *dish.Dish) bool { return dishes[d] }) {
			s.Files = append(s.Files, e)
		}
	}
	s.addStubs(files, read)
	return s, nil
}

// needed returns the dishes of the tasks of a plan, and those whose sources the tasks read.
func needed(p *plan.Plan) map[*dish.Dish]bool {
	dishes := make(map[*dish.Dish]bool)
	for _, d := range p.Dishes {
		dishes[d] = true
	}
	for _, t := range p.Tasks {
		dishes[t.Dish] = true
		for _, d := range t.Sources {
			dishes[d] = true
		}
	}
	return dishes
}

// dirsOf returns a function that returns the dishes of the innermost directory of a dish around a path.
func dirsOf(all []*dish.Dish) func(path string) []*dish.Dish {
	at := make(map[string][]*dish.Dish)
	for _, d := range all {
		at[d.Path] = append(at[d.Path], d)
	}
	return func(name string) []*dish.Dish {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			if list := at[dir]; list != nil || dir == "." {
				return list
			}
		}
	}
}

// ofInstalls are files that an install reads, besides those that an adapter names.
var ofInstalls = []string{
	"pnpm-workspace.yaml", ".pnpmfile.cjs", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases/**", ".yarn/plugins/**", ".yarn/patches/**", "patches/**",
	"bunfig.toml", "uv.toml", "go.work", "go.work.sum", ".python-version",
}

// manifestsOf returns the set of the manifests, lockfiles and settings of the languages of dishes, in any directory.
func manifestsOf(list []*dish.Dish) (*glob.Set, error) {
	patterns := slices.Clone(ofInstalls)
	for _, d := range list {
		if d.Adapter == nil {
			continue
		}
		for _, name := range d.Adapter.Manifest().FingerprintFiles {
			if !slices.Contains(patterns, name) {
				patterns = append(patterns, name)
			}
		}
	}
	for i := range patterns {
		patterns[i] = "**/" + patterns[i]
	}
	return glob.Compile("", patterns)
}

// isOfBento reports whether a file configures bento or git for the whole workspace.
func isOfBento(name string) bool {
	return name == "bento.toml" || name == ".bento-version" || name == ".gitignore" || strings.HasPrefix(name, "bentos/adapters/")
}

// addStubs finds the stubs of all manifests of Cargo.
func (s *Subset) addStubs(files *tree.Tree, read func(path string) []byte) {
	have := make(map[string]bool, len(s.Files))
	for _, e := range s.Files {
		have[e.Path] = true
	}
	for _, m := range s.Manifests {
		if path.Base(m.Path) != "Cargo.toml" {
			continue
		}
		dir := path.Dir(m.Path)
		named := targets(m.Path, read(m.Path))
		for _, e := range files.Under(dir) {
			name := strings.TrimPrefix(e.Path, dir+"/")
			if e.Kind != tree.File || !named(name) {
				continue
			}
			if s.Stubs = append(s.Stubs, e.Path); !have[e.Path] {
				s.LeftStubs = append(s.LeftStubs, e.Path)
			}
		}
	}
	slices.Sort(s.Stubs)
	slices.Sort(s.LeftStubs)
	s.Stubs, s.LeftStubs = slices.Compact(s.Stubs), slices.Compact(s.LeftStubs)
}

// targets returns a function that reports whether a file, relative to a manifest of Cargo, is the root of one of its
// targets.
func targets(name string, manifest []byte) func(name string) bool {
	var explicit []string
	if f, _ := tomlfile.ParseManifest(name, manifest); f != nil {
		for _, key := range []string{"lib", "bin", "example", "test", "bench"} {
			v := f.Lookup(key)
			if v == nil {
				continue
			}
			for _, target := range slices.Concat(v.Elems(), []*tomlfile.Value{v}) {
				if at := target.Child("path"); at != nil {
					text, _ := at.Text()
					explicit = append(explicit, path.Clean(text))
				}
			}
		}
		if v := f.Lookup("package", "build"); v != nil {
			text, _ := v.Text()
			explicit = append(explicit, path.Clean(text))
		}
	}
	return func(name string) bool {
		dir, base := path.Split(name)
		switch dir = strings.TrimSuffix(dir, "/"); {
		case slices.Contains(explicit, name), name == "build.rs", name == "src/lib.rs", name == "src/main.rs":
			return true
		case dir == "src/bin" || dir == "examples" || dir == "tests" || dir == "benches":
			return strings.HasSuffix(base, ".rs")
		}
		up := path.Dir(dir)
		return base == "main.rs" && (up == "src/bin" || up == "examples" || up == "tests" || up == "benches")
	}
}
