package cargo

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// lint returns the lint recipe of a package that configures clippy: by an alias of that
// name, a [lints] table, a clippy.toml in its directory or above, or a toolchain file that
// names the component clippy. Clippy comes with rustup, but -D warnings would fail packages
// that never ran it. It compiles these targets.
func (r *recipes) lint(targets string) []adapters.Task {
	t := adapters.Task{Name: "lint", Run: "cargo clippy" + locked + targets + " -- -D warnings"}
	config, found := clippyConfig(r.f)
	switch {
	case r.aliases["lint"] != "" && !rewrites(r.aliases["lint"]):
		t.Run = "cargo lint"
	case found || r.asksForLints() || r.toolchain != nil && slices.Contains(r.toolchain.Components, "clippy"):
	default:
		return nil
	}
	if found && filepath.Dir(config) != r.Dir() {
		t.ExtraInputs = []string{config}
	}
	return []adapters.Task{t}
}

func (p *project) asksForLints() bool {
	if p.Lints.Inherited {
		return p.root.Workspace != nil && p.root.Workspace.Lints
	}
	return p.Lints.Given
}

// clippyConfig returns the nearest configuration of clippy in the directory and above it.
func clippyConfig(f *snapshot.Files) (path string, ok bool) {
	for dir := range f.Ancestors() {
		for _, name := range []string{".clippy.toml", "clippy.toml"} {
			if path := filepath.Join(dir, name); f.IsFile(path) {
				return path, true
			}
		}
	}
	return "", false
}

// rewrites reports whether an alias has Cargo change the sources.
func rewrites(alias string) bool {
	words := strings.Fields(alias)
	return slices.Contains(words, "--fix") || len(words) > 0 && (words[0] == "fix" || words[0] == "fmt" && !slices.Contains(words, "--check"))
}
