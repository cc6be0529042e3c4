package devtool

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// The bounds of a search for tests.
const (
	maxDepth    = 3
	maxSearched = 300 // directories
)

// pytest returns pytest, and notes whether the project has tests: without a test pytest
// fails.
func pytest(f *adapters.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "pytest"}
	if p.Table("tool", "pytest") || pytestConfig(f) || hasTests(f) {
		t.settings = "tests"
	}
	return t
}

// pytestConfig reports whether a file beside pyproject.toml configures pytest.
func pytestConfig(f *adapters.Files) bool {
	for _, c := range []struct{ name, section string }{
		{"pytest.ini", "pytest"}, {".pytest.ini", "pytest"}, {"tox.ini", "pytest"}, {"setup.cfg", "tool:pytest"},
	} {
		data, err := f.ReadIfExists(c.name)
		if err != nil {
			continue
		}
		if _, ok := pyproject.Section(data, c.section, "testpaths"); ok {
			return true
		}
	}
	return false
}

// hasTests reports whether the project has a file or a directory of tests near its top. It
// skips other projects below. It returns true when there are more directories than it
// reads.
func hasTests(f *adapters.Files) bool {
	level := []string{f.Dir()}
	searched := 0
	for range maxDepth {
		var next []string
		for _, dir := range level {
			if searched++; searched > maxSearched {
				return true
			}
			for _, e := range f.List(dir) {
				name := e.Name()
				switch {
				case !e.IsDir():
					if strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py")) {
						return true
					}
				case name == "tests" || name == "test":
					return true
				case !passedOver(name) && !isProject(f, filepath.Join(dir, name)):
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
		level = next
	}
	return false
}

func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"__pycache__", "node_modules", "venv", "build", "dist", "docs", "site-packages"}, name)
}

func isProject(f *adapters.Files, dir string) bool {
	return f.IsFile(filepath.Join(dir, "pyproject.toml")) || f.IsFile(filepath.Join(dir, "setup.py"))
}
