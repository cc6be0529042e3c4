package devtool

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// levels is the number of levels of directories in which tests are looked for.
const levels = 3

// pytest returns pytest, and notes whether the project has tests: without a test pytest
// fails.
func pytest(f *snapshot.Files, p *pyproject.Project) Tool {
	t := Tool{Name: "pytest"}
	if p.Table("tool", "pytest") || pytestConfig(f) || hasTests(f) {
		t.settings = "tests"
	}
	return t
}

// pytestConfig reports whether a file beside pyproject.toml configures pytest.
func pytestConfig(f *snapshot.Files) bool {
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
func hasTests(f *snapshot.Files) bool {
	path, full := snapshot.Search{
		Levels: levels,
		Match: func(name string, isDir bool) bool {
			return isDir && (name == "tests" || name == "test") || !isDir && isTest(name)
		},
		Skip: func(dir string) bool { return passedOver(filepath.Base(dir)) || isProject(f, dir) },
	}.In(f, f.Dir())
	return path != "" || full
}

// Untested returns a file of tests near the top of the project, if pytest is not declared.
func (list Tools) Untested(f *snapshot.Files) snapshot.Untested {
	if pytest := list.named("pytest"); pytest.Declared || pytest.settings == "" {
		return snapshot.Untested{}
	}
	file, _ := snapshot.Search{
		Levels: levels + 1, // below a directory of tests
		Match:  func(name string, isDir bool) bool { return !isDir && isTest(name) },
		Skip: func(dir string) bool {
			return passedOver(filepath.Base(dir)) || isProject(f, dir) || f.IsFile(filepath.Join(dir, "requirements.txt"))
		},
	}.In(f, f.Dir())
	return snapshot.Untested{File: file, Runner: "pytest", Hint: requirePytest}
}

// requirePytest is the hint for every manager, as people read it once for all projects. pip and poetry install into
// an environment of the project's own: what a directory above requires counts only if a file of the project takes
// it over.
const requirePytest = `require pytest with "uv add --dev", "poetry add --group dev", or for pip in requirements-dev.txt ` +
	`("-r ../requirements.txt" there takes over a file above)`

// isTest reports whether pytest finds tests in a file of this name.
func isTest(name string) bool {
	return strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py"))
}

func passedOver(name string) bool {
	return slices.Contains([]string{"__pycache__", "node_modules", "venv", "build", "dist", "docs", "site-packages"}, name)
}

func isProject(f *snapshot.Files, dir string) bool {
	return f.IsFile(filepath.Join(dir, "pyproject.toml")) || f.IsFile(filepath.Join(dir, "setup.py"))
}
