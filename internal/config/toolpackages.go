package config

import (
	"cmp"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// PackageDirs returns the directories of the workspace with packages of modules, relative to the root. The
// packages of dev take precedence over all others.
func (t *Tools) PackageDirs() (project, dev string) {
	return cmp.Or(t.Dir, projectTools), cmp.Or(t.DevDir, devTools)
}

const (
	projectTools = "tools/wasm"
	devTools     = "plugins"
)

// The policies for a module that does not have the digest of its manifest.
const (
	HashSkip    = "skip"    // it is not compared
	HashWarn    = "warn"    // a warning
	HashEnforce = "enforce" // the module is not called
)

// stricter lists the policies, the strictest last.
var stricter = [...]string{"", HashSkip, HashWarn, HashEnforce}

type hashWords struct{}

func (hashWords) words() []string { return []string{HashWarn, HashEnforce, HashSkip} }

// packagesIn returns a directory of packages, "" for the default.
func packagesIn(key string, dir tomlfile.At[string]) (string, []diagnostics.Diagnostic) {
	if !dir.Given {
		return "", nil
	}
	clean, why := cleanDir(dir.Value)
	if why == "" && clean == "." {
		why = "is the root of the workspace, expected a directory below it"
	}
	if why != "" {
		return "", []diagnostics.Diagnostic{dir.Pos.Error(rulePath, "tools.%s: path %q %s", key, dir.Value, why)}
	}
	return clean, nil
}

// HashPolicy returns the policy for a module of a package that does not have the digest of its manifest. Only the
// user's own file can loosen the policy for installed packages, and never for a digest that a signature covers.
func (w *Workspace) HashPolicy(installed bool) string {
	own := w.Trust.HashPolicy
	switch {
	case w.Trust.RequireSigned:
		return HashEnforce
	case installed:
		return cmp.Or(own, HashEnforce)
	}
	given := cmp.Or(w.Tools.HashPolicy, HashWarn)
	return stricter[max(slices.Index(stricter[:], given), slices.Index(stricter[:], own))]
}
