package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// checks returns the command of a hook. It prefers check and lint, which are fast, and leaves out the tasks
// that the commit does not concern.
func checks(dishes []Dish) string {
	var names []string
	for _, want := range [][]string{{"check", "lint"}, {"test"}, {"build"}} {
		for _, name := range want {
			if slices.ContainsFunc(dishes, func(d Dish) bool { return slices.Contains(d.Tasks, name) }) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if len(names) == 0 {
		names = []string{"check"}
	}
	return "bento run " + strings.Join(names, " ") + " --allow-empty"
}

// hooksPath matches the setting by which git uses another directory of hooks.
var hooksPath = pattern.New(`(?im)^\s*hookspath\s*=`)

// Hooks returns the kinds of hooks that Hook knows.
func Hooks() []string { return []string{"pre-commit", "git"} }

// Hook returns the file of a pre-commit hook: the configuration of the tool pre-commit, or a hook of git in
// this clone.
func Hook(src Source, kind string) (NewFile, error) {
	if kind == "pre-commit" {
		f := NewFile{Path: ".pre-commit-config.yaml", Mode: 0o644, Absent: "add to its repos what bento init --dry-run --hooks pre-commit prints"}
		f.Text = `# Made by bento init --hooks pre-commit; pre-commit install enables it.
repos:
  - repo: local
    hooks:
      - id: bento
        name: bento
        entry: ` + checks(src.Dishes) + ` --since HEAD
        language: system
        pass_filenames: false
        require_serial: true
`
		return f, nil
	}
	mode, err := src.Files.Mode(".git")
	if err == nil && mode.IsDir() {
		_, err = src.Files.Mode(".git/HEAD")
	} else if err == nil {
		err = errors.New("it is no directory")
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is not the top of a git repository")
		}
		return NewFile{}, unusable(fmt.Sprintf("--hooks git: %q has no hooks: %v", src.Files.Root(), err),
			"use --hooks pre-commit, or name the top of the repository with -C")
	}
	if data, _ := src.Files.Read(".git/config", 1<<20); hooksPath.MatchString(string(data)) {
		return NewFile{}, unusable("--hooks git: git's core.hooksPath names another directory for hooks",
			"add to its pre-commit the command that bento init --dry-run --hooks pre-commit prints")
	}
	f := NewFile{Path: ".git/hooks/pre-commit", Mode: 0o755, Absent: "add to it the command that bento init --dry-run --hooks git prints"}
	f.Text = `#!/bin/sh
# Made by bento init --hooks git. git commit --no-verify leaves it out.
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
if git rev-parse --quiet --verify HEAD >/dev/null; then
    exec ` + checks(src.Dishes) + ` --since HEAD
fi
exec ` + checks(src.Dishes) + `
`
	return f, nil
}

// unusable returns the problem of a directory that has no place for a hook.
func unusable(message, hint string) error {
	return diagnostics.Refuse("unusable_directory", hint, "%s", message)
}
