package environment

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// insideRule is Manifest.Inside.
const insideRule = "it has `[project]`, `[tool.poetry]`, a `setup.py`, or a `setup.cfg` with metadata and a build system; a `requirements.txt` alone only beside sources or tests"

// Nested is adapters.Nester for both adapters, in f's directory.
func Nested(f *snapshot.Files) (answer adapters.NestedAnswer, err error) {
	own, err := standsAlone(f)
	if !own && err == nil {
		answer.Reason = adapters.NoProject
		if answer.Why = "its pyproject.toml describes no project"; !f.IsFile("pyproject.toml") {
			answer.Why = "its requirements.txt has neither sources nor tests beside it"
		}
	}
	answer.Reads = f.Reads()
	return answer, err
}

func standsAlone(f *snapshot.Files) (bool, error) {
	if f.IsFile("setup.py") || f.IsFile("uv.lock") {
		return true, nil
	}
	p, err := pyproject.Read(f)
	switch {
	case err != nil:
		return false, err
	case p.HasProject || p.HasPoetry || p.Table("tool", "uv", "workspace"):
		return true, nil
	case p.HasBuildSystem:
		text, err := f.ReadIfExists("setup.cfg")
		return hasMetadata(text), err
	}
	return f.IsFile("requirements.txt") && hasSources(f), nil
}

// hasMetadata reports whether a setup.cfg describes a package.
func hasMetadata(setupCfg []byte) bool {
	for line := range strings.Lines(string(setupCfg)) {
		if strings.TrimSpace(line) == "[metadata]" {
			return true
		}
	}
	return false
}

// hasSources reports whether the directory holds modules, a package or tests. The conf.py of
// Sphinx is none: its requirements.txt is that of the documentation.
func hasSources(f *snapshot.Files) bool {
	return slices.ContainsFunc(f.List("."), func(e fs.DirEntry) bool {
		if !e.IsDir() {
			return strings.HasSuffix(e.Name(), ".py") && e.Name() != "conf.py"
		}
		return slices.Contains([]string{"src", "tests", "test"}, e.Name()) || f.IsFile(filepath.Join(e.Name(), "__init__.py"))
	})
}
