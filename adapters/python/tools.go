package python

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// tool is a development tool that has a recipe.
type tool struct {
	name       string
	configured bool   // a file of the project holds its settings
	declared   bool   // the project asks for the package
	alone      bool   // needs nothing but itself, so that a configuration is enough
	spec       string // the version that the configuration wants
	settings   string // what the recipe has to know of them
}

// configuredTools gives the tools in the order in which they are looked for.
func configuredTools(f *adapters.Files, p *pyproject.Project) []tool {
	return []tool{{name: "pytest"}, ruff(f, p), flake8(f, p), mypy(f, p)}
}

// tool gives the tool of that name.
func (p *project) tool(name string) tool {
	for _, t := range p.tools {
		if t.name == name {
			return t
		}
	}
	return tool{name: name}
}

func ruff(f *adapters.Files, p *pyproject.Project) tool {
	t := tool{name: "ruff", alone: true}
	t.configured = p.Table("tool", "ruff") || f.IsFile("ruff.toml") || f.IsFile(".ruff.toml")
	t.spec = specOf(p.Text("tool", "ruff", "required-version"))
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
func flake8(f *adapters.Files, p *pyproject.Project) tool {
	t := tool{name: "flake8", alone: true}
	for _, name := range []string{"setup.cfg", "tox.ini", ".flake8"} {
		data, err := f.ReadIfExists(name)
		if err != nil {
			continue
		}
		if excluded, ok := pyproject.Section(data, "flake8", "extend-exclude"); ok {
			t.configured = true
			t.settings = strings.Join(strings.FieldsFunc(excluded, func(r rune) bool { return r == ',' || r <= ' ' }), ",")
		}
	}
	return t
}

// mypy knows whether the project says what to check.
func mypy(f *adapters.Files, p *pyproject.Project) tool {
	t := tool{name: "mypy", configured: p.Table("tool", "mypy")}
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
			t.configured = t.configured || ok
			if value != "" {
				t.settings = key
			}
		}
	}
	return t
}
