package node

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// sharedFile is a file that tools also read from directories above the package.
type sharedFile struct {
	pattern string
	tasks   string // the one task that reads it, "" for all
}

// sharedFiles returns configurations that packages share. Files that a configuration names
// in turn are unknown, except for tsconfig.json.
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

// sharedBy returns the files above the package that its tasks depend on.
func (a *Adapter) sharedBy(f *snapshot.Files, p *project.Project) shared {
	var s shared
	if p.IsMember() {
		s.install = append(s.install, filepath.Join(p.Scope(), project.File))
		s.install = append(s.install, a.deciding(f, p.Scope())...)
	}
	for _, d := range p.Dependencies {
		if target := fileTarget(p.Dir, d.Value); target != "" && isArchive(target) {
			s.install = append(s.install, target)
		}
	}
	for _, l := range p.Above {
		s.configs = append(s.configs, l.Configs...)
	}
	return s
}

// taskOf returns the task that a configuration of that name is for.
func taskOf(name string) (task string, ok bool) {
	for _, c := range sharedFiles() {
		if hit, err := path.Match(c.pattern, name); err == nil && hit {
			return c.tasks, true
		}
	}
	return "", false
}

func isSharedFile(name string) bool {
	_, ok := taskOf(name)
	return ok
}

// inputs returns the inputs of a task above the package, with the further files in more. A
// task with an unknown name has all of them.
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
