package golang

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/bentobuild/bento/adapters"
)

// Portable implements adapters.Porter: the modules of the module cache that the sums of the scope name. Their archives are not
// needed beside the unpacked files.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	f := a.Now().Files(dir)
	tree := adapters.PortableTree{Dir: a.moduleCache(f), Variable: "GOMODCACHE"}
	if tree.Dir == "" {
		return adapters.Portable{Stays: "its module cache is not an absolute path"}, nil
	}
	globs := make(map[string]bool)
	for _, file := range scope.Files {
		if filepath.Ext(file) != ".sum" {
			continue
		}
		sums, err := a.sums.Read(f, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return adapters.Portable{}, err
		}
		for name, lines := range sums {
			for _, line := range lines {
				addModule(globs, name, line)
			}
		}
	}
	tree.Only = slices.Sorted(maps.Keys(globs))
	return adapters.Portable{Trees: []adapters.PortableTree{tree}, Set: map[string]string{"GOPROXY": "off"}}, nil
}

// addModule adds the globs of a line of a go.sum, which ends "v1.2.3 h1:…" or "v1.2.3/go.mod h1:…".
func addModule(globs map[string]bool, name, line string) {
	version, _, _ := strings.Cut(line, " ")
	version, onlyManifest := strings.CutSuffix(version, "/go.mod")
	at, err := module.EscapePath(name)
	if err != nil {
		return // go refuses it, too
	}
	if version, err = module.EscapeVersion(version); err != nil {
		return
	}
	files := path.Join("cache", "download", at, "@v", version)
	globs[files+".mod"], globs[files+".info"] = true, true
	if !onlyManifest {
		globs[files+".ziphash"], globs[at+"@"+version] = true, true
	}
}
