// Package devtool finds the development tools that a Python project requires or configures,
// and returns the recipes that run them.
package devtool

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Tool is a development tool that has a recipe.
type Tool struct {
	Name       string // of the package
	Configured bool   // a file of the project holds its settings
	Declared   bool   // the project requires the package; set by the caller
	Alone      bool   // a configuration is enough for a recipe: it needs no packages of the project, and the repository names its version
	Spec       string // the version that the configuration requires
	Pinned     string // the versions that a requirement allows; set by the caller

	// Files are the paths that the configuration tells the tool to check, relative to the project, possibly
	// with globs. None: the configuration does not say, or says it by the names of packages.
	Files []string

	settings string // settings that the recipe needs
}

// Reaches reports whether the tool, run in its project, checks files of dir, which is relative to the
// project. It does where its configuration does not name files.
func (t Tool) Reaches(dir string) bool {
	return len(t.Files) == 0 || slices.ContainsFunc(t.Files, func(file string) bool {
		if file = path.Clean(file); strings.ContainsAny(file, "*?[") {
			file, _ = doublestar.SplitPattern(file)
		}
		return file == "." || strings.HasPrefix(file+"/", dir+"/") || strings.HasPrefix(dir+"/", file+"/")
	})
}

// Tools are the tools of one project.
type Tools []Tool

// Find returns the tools by precedence. None of them is declared yet.
func Find(f *snapshot.Files, p *pyproject.Project) Tools {
	return Tools{pytest(f, p), ruff(f, p), flake8(f, p), mypy(f, p), {Name: "black"}}
}

// named returns the tool of that name.
func (list Tools) named(name string) Tool {
	for _, t := range list {
		if t.Name == name {
			return t
		}
	}
	return Tool{Name: name}
}

func ruff(f *snapshot.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "ruff"}
	t.Configured = p.Table("tool", "ruff") || f.IsFile("ruff.toml") || f.IsFile(".ruff.toml")
	t.Spec = specOf(p.Text("tool", "ruff", "required-version"))
	return t.pinned(f)
}

// specOf returns "==1.0" for a bare version.
func specOf(text string) string {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		return "==" + text
	}
	return text
}

// flake8 returns flake8 with the directories that the project excludes: the recipe excludes
// one more.
func flake8(f *snapshot.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "flake8"}
	for _, name := range []string{"setup.cfg", "tox.ini", ".flake8"} {
		data, err := f.ReadIfExists(name)
		if err != nil {
			continue
		}
		if excluded, ok := pyproject.Section(data, "flake8", "extend-exclude"); ok {
			t.Configured = true
			t.settings = strings.Join(strings.FieldsFunc(excluded, func(r rune) bool { return r == ',' || r <= ' ' }), ",")
		}
	}
	return t.pinned(f)
}

// pinned sets Alone if the repository names the version of a configured tool: a tool that nobody requires
// is never installed in whatever version is the newest today.
func (t Tool) pinned(f *snapshot.Files) Tool {
	if !t.Configured {
		return t
	}
	if t.Spec == "" {
		t.Spec = hookVersion(f, t.Name)
	}
	t.Alone = t.Spec != ""
	return t
}

// mypy returns mypy, and notes whether the project names the files to check.
func mypy(f *snapshot.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "mypy", Configured: p.Table("tool", "mypy")}
	for _, key := range []string{"files", "packages", "modules"} {
		if p.Has("tool", "mypy", key) {
			t.settings = key
		}
		for _, name := range []string{"setup.cfg", ".mypy.ini", "mypy.ini"} {
			data, err := f.ReadIfExists(name)
			if err != nil {
				continue
			}
			value, ok := pyproject.Section(data, "mypy", key)
			t.Configured = t.Configured || ok
			if value != "" {
				t.settings = key
			}
			if key == "files" {
				t.addFiles(value)
			}
		}
	}
	t.addFiles(p.Text("tool", "mypy", "files"))
	for _, e := range p.List("tool", "mypy", "files") {
		t.addFiles(e.Value)
	}
	return t
}

// addFiles adds a list of paths with commas between them.
func (t *Tool) addFiles(list string) {
	for file := range strings.SplitSeq(list, ",") {
		if file = strings.TrimSpace(file); file != "" {
			t.Files = append(t.Files, file)
		}
	}
}
