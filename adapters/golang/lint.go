package golang

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const (
	staticcheck = "honnef.co/go/tools/cmd/staticcheck"
	// golangci overrides the setting issues.fix, which would have it rewrite the sources.
	golangci = "golangci-lint run --fix=false"
)

// lint returns the lint recipe of a module with a linter: golangci-lint or staticcheck,
// configured (in its directory or above) or declared by a tool line of go.mod. A declared
// linter runs at the version that go.mod requires.
func lint(f *snapshot.Files, m *gomod.Module) []adapters.Task {
	isGolangci := func(tool string) bool {
		return strings.HasPrefix(tool, "github.com/golangci/golangci-lint/") && strings.HasSuffix(tool, "/cmd/golangci-lint")
	}
	config := lintConfig(f, ".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
	if slices.ContainsFunc(m.Tools, isGolangci) {
		return []adapters.Task{lintTask(f, "go tool "+golangci, config)}
	}
	if config != "" {
		return []adapters.Task{lintTask(f, golangci, config)}
	}
	config = lintConfig(f, "staticcheck.conf")
	if slices.Contains(m.Tools, staticcheck) {
		return []adapters.Task{lintTask(f, "go tool staticcheck ./...", config)}
	}
	if config != "" {
		return []adapters.Task{lintTask(f, "staticcheck ./...", config)}
	}
	return nil
}

// lintConfig returns the nearest file with one of names, or "".
func lintConfig(f *snapshot.Files, names ...string) string {
	for dir := range f.Ancestors() {
		for _, name := range names {
			if path := filepath.Join(dir, name); f.IsFile(path) {
				return path
			}
		}
	}
	return ""
}

func lintTask(f *snapshot.Files, run, config string) adapters.Task {
	t := adapters.Task{Name: "lint", Run: run}
	if config != "" && filepath.Dir(config) != f.Dir() {
		t.ExtraInputs = []string{config}
	}
	return t
}
