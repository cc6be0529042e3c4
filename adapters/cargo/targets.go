package cargo

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// unstable is the attribute of a crate that only a nightly toolchain compiles.
var unstable = pattern.New(`(?m)^\s*#!\[\s*feature\s*\(`)

const allTargets = " --all-targets"

// targets returns the options that select what check and lint compile: all targets, but without
// benchmarks where one needs a nightly toolchain and the project does not choose one.
func (r *recipes) targets() string {
	if !r.nightlyBenches() {
		return allTargets
	}
	kinds := " --bins --tests --examples"
	if r.Package.Lib || r.f.IsFile("src/lib.rs") {
		return " --lib" + kinds // cargo refuses --lib for a package without a library
	}
	return kinds
}

func (r *recipes) nightlyBenches() bool {
	if r.toolchain != nil && (r.toolchain.Dir != "" || strings.HasPrefix(r.toolchain.Channel, "nightly")) {
		return false
	}
	return slices.ContainsFunc(r.benches(), func(path string) bool {
		source, err := r.f.ReadIfExists(path)
		return err == nil && unstable.MatchString(string(source))
	})
}

// benches returns the directories of the sources of benchmarks,
// https://doc.rust-lang.org/cargo/reference/cargo-targets.html#target-auto-discovery.
func (r *recipes) benches() []string {
	paths := slices.Clone(r.Package.BenchPaths)
	for _, e := range r.f.List("benches") {
		name := filepath.Join("benches", e.Name())
		switch {
		case e.Type()&fs.ModeDir != 0:
			paths = append(paths, filepath.Join(name, "main.rs"))
		case filepath.Ext(name) == ".rs":
			paths = append(paths, name)
		}
	}
	return paths
}
