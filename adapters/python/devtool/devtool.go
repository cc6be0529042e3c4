// Package devtool knows the development tools that a Python project has recipes for:
// which of them it asks for or configures, and what is run then.
package devtool

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// Tool is a development tool that has a recipe.
type Tool struct {
	Name       string // of the package
	Configured bool   // a file of the project holds its settings
	Declared   bool   // the project asks for the package; left to the caller
	Alone      bool   // needs nothing but itself, so that a configuration is enough
	Spec       string // the version that the configuration wants

	settings string // what the recipe has to know of them
}

// Tools are those of one project.
type Tools []Tool

// Find gives the tools in the order in which they are looked for. None of them is
// declared yet.
func Find(f *adapters.Files, p *pyproject.Project) Tools {
	return Tools{pytest(f, p), ruff(f, p), flake8(f, p), mypy(f, p), {Name: "black"}}
}

// named gives the tool of that name.
func (list Tools) named(name string) Tool {
	for _, t := range list {
		if t.Name == name {
			return t
		}
	}
	return Tool{Name: name}
}

func ruff(f *adapters.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "ruff", Alone: true}
	t.Configured = p.Table("tool", "ruff") || f.IsFile("ruff.toml") || f.IsFile(".ruff.toml")
	t.Spec = specOf(p.Text("tool", "ruff", "required-version"))
	return t
}

// specOf makes "==1.0" of a bare version.
func specOf(text string) string {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		return "==" + text
	}
	return text
}

// flake8 keeps the directories that the project excludes, for the recipe adds one.
func flake8(f *adapters.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "flake8", Alone: true}
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
	return t
}

// mypy knows whether the project says what to check.
func mypy(f *adapters.Files, p *pyproject.Project) Tool {
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
		}
	}
	return t
}
