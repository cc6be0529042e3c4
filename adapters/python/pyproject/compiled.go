package pyproject

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// pureBackends only link the sources in an editable install, unless a setting says that they build.
var pureBackends = [...]string{
	"", "setuptools.build_meta", "setuptools.build_meta:__legacy__", "hatchling.build", "flit_core.buildapi", "flit.buildapi",
	"poetry.core.masonry.api", "poetry.masonry.api", "pdm.backend", "uv_build",
}

// compilers are packages with which a build compiles.
var compilers = [...]string{
	"cython", "cffi", "pybind11", "nanobind", "mypy", "setuptools-rust", "maturin", "scikit-build", "scikit-build-core", "numpy", "meson-python", "cmake",
}

// buildWords are words of a setup.py that does more than to describe a package.
var buildWords = [...]string{"ext_modules", "Extension(", "cffi_modules", "rust_extensions", "cythonize", "cmdclass", "mypycify", "CMakeExtension"}

// Compiles reports whether even an editable install of the project in f's directory runs a build that
// reads its sources, as of a C extension.
func (p *Project) Compiles(f *snapshot.Files) bool {
	if !slices.Contains(pureBackends[:], p.Backend) || len(p.List("build-system", "backend-path")) > 0 {
		return true
	}
	for _, r := range p.List("build-system", "requires") {
		name := strings.TrimSpace(r.Value)
		if end := strings.IndexFunc(name, notInName); end >= 0 {
			name = name[:end]
		}
		if slices.Contains(compilers[:], requirements.Normalize(name)) {
			return true
		}
	}
	for _, key := range [][]string{
		{"tool", "setuptools", "ext-modules"}, {"tool", "setuptools", "cmdclass"}, {"tool", "setuptools-rust"},
		{"tool", "hatch", "build", "hooks"}, {"tool", "hatch", "build", "targets", "wheel", "hooks"}, {"tool", "poetry", "build"},
		{"tool", "pdm", "build", "run-setuptools"}, {"tool", "pdm", "build", "custom-hook"},
	} {
		if p.Has(key...) {
			return true
		}
	}
	if !p.UsesSetuptools() {
		return false
	}
	text, err := f.ReadIfExists("setup.py")
	return err == nil && slices.ContainsFunc(buildWords[:], func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// notInName reports whether a character ends the name of a requirement.
func notInName(r rune) bool { return strings.ContainsRune(" <>=!~;[(@", r) }
