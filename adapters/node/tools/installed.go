package tools

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters/node/pins"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/semver"
)

// installation is how a manager is installed that prints the version of its own package.json.
type installation struct {
	name string // of the package
	main string // its program, relative to the package
}

// installed returns the version that the manager at path prints, from the package.json of its own
// installation: starting it takes a third of a second. It returns "" unless the manager certainly prints
// that version in the root of the file system, with this version of Node.js.
func (t *Tools) installed(path, tool, node string) string {
	want, known := map[string]installation{
		string(project.NPM):  {"npm", "bin/npm-cli.js"},
		string(project.Yarn): {"@yarnpkg/cli-dist", "bin/yarn.js"}, // yarn 1 looks for its settings in too many places
	}[tool]
	if !known || t.steered() || tool == string(project.Yarn) && t.yarnMayDiffer() {
		return ""
	}
	if behind, err := t.Asker.Resolve(path, "/"); err != nil || behind.Path != path || filepath.Base(filepath.Dir(path)) == "shims" {
		return "" // a version manager chooses
	}
	real, err := filepath.EvalSymlinks(path)
	dir, ok := strings.CutSuffix(filepath.ToSlash(real), "/"+want.main)
	if err != nil || !ok {
		return ""
	}
	file := filepath.Join(filepath.FromSlash(dir), project.File)
	data, err := snapshot.NewFiles(filepath.Dir(file)).Read(file)
	if err != nil {
		return ""
	}
	root, err := jsonfile.Parse(file, data)
	if err != nil || root.Get("name").Text() != want.name || !runs(root, node) {
		return ""
	}
	version := root.Get("version").Text()
	if _, err := semver.Parse(version); err != nil {
		return ""
	}
	return version
}

// steered reports whether a variable may change what the managers do.
func (t *Tools) steered() bool {
	for _, pair := range t.Env {
		name, _, _ := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		for _, prefix := range []string{"npm_config_", "yarn_", "node_options", "node_path"} {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
	}
	return false
}

// yarnMayDiffer reports whether yarn finds settings that may name another yarn.
func (t *Tools) yarnMayDiffer() bool {
	home := t.Env.Get("HOME")
	if !filepath.IsAbs(home) {
		return true
	}
	for _, path := range []string{filepath.Join(home, settings.YarnFile), "/" + settings.YarnFile, "/" + project.File} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			return true
		}
	}
	return false
}

// runs reports whether a package says that it runs with a version of Node.js.
func runs(root *jsonfile.Value, node string) bool {
	version, err := semver.Parse(node)
	if err != nil {
		return false
	}
	wanted := root.Get("engines").Get("node").Text()
	r, err := pins.ParseRange(wanted)
	return err == nil && wanted != "" && r.Has(version)
}
