package node

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
)

// sharedFile is a file that tools also look for above the package.
type sharedFile struct {
	pattern string
	tasks   string // the one task that it is for, "" for all
}

// sharedFiles are configurations that a package shares with its neighbours. What
// a configuration names in turn is out of sight, but for tsconfig.json.
func sharedFiles() []sharedFile {
	return []sharedFile{
		{".babelrc*", ""}, {"babel.config.*", ""}, {".browserslistrc", ""},
		{"jest.*", "test"}, {"vitest.*", "test"},
		{".eslintrc*", "lint"}, {"eslint.config.*", "lint"}, {".eslintignore", "lint"},
		{".prettierrc*", "lint"}, {"prettier.config.*", "lint"}, {".prettierignore", "lint"},
		{".stylelintrc*", "lint"}, {"stylelint.config.*", "lint"}, {".oxlintrc.json", "lint"},
		{"biome.json", "lint"}, {"biome.jsonc", "lint"}, {".editorconfig", "lint"},
	}
}

// shared are the inputs above a package.
type shared struct {
	install []string // manifest, lockfile and settings of the workspace
	configs []string
}

// sharedBy finds what stands above the package and decides about its tasks.
func (a *Adapter) sharedBy(f *adapters.Files, p *project) shared {
	var s shared
	if p.isMember() {
		for _, name := range []string{packageFile, "package-lock.json", "npm-shrinkwrap.json", ".npmrc"} {
			s.install = append(s.install, filepath.Join(p.scope(), name))
		}
	}
	for _, d := range p.Dependencies {
		if target := fileTarget(p.dir, d.Value); target != "" && isArchive(target) {
			s.install = append(s.install, target)
		}
	}
	for dir := range f.Ancestors() {
		if dir != f.Dir() {
			s.configs = append(s.configs, a.configsIn(f, dir)...)
		}
	}
	return s
}

// configsIn gives the paths of shared configurations in dir.
func (a *Adapter) configsIn(f *adapters.Files, dir string) []string {
	paths, _ := a.configs.get(f, dir, func(f *adapters.Files) ([]string, error) {
		var paths []string
		for _, e := range f.List(dir) {
			if _, ok := taskOf(e.Name()); ok && !e.IsDir() {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
		return paths, nil
	})
	return paths
}

// taskOf tells which task a configuration of that name is for.
func taskOf(name string) (task string, ok bool) {
	for _, c := range sharedFiles() {
		if hit, err := path.Match(c.pattern, name); err == nil && hit {
			return c.tasks, true
		}
	}
	return "", false
}

// inputs gives what a task depends on above the package, with the further files
// in more. A task whose name says nothing has everything.
func (s *shared) inputs(task string, more []string) []string {
	out := slices.Concat(s.install, more)
	for _, path := range s.configs {
		of, _ := taskOf(filepath.Base(path))
		if of == "" || of == task || !slices.Contains([]string{"build", "lint", "test"}, task) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
