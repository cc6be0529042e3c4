package maven

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

// sourcePath is a directory of sources or resources of the project, or of a plugin that adds some.
var sourcePath = pattern.New(`<(?:directory|sourceDirectory|testSourceDirectory|scriptSourceDirectory|source)>\s*([^<]+?)\s*</`)

// upwardPath is the text of another element that leads upwards, such as the workingDirectory of a plugin that
// builds a front end. relativePath and module name projects.
var upwardPath = pattern.New(`>\s*((?:\$\{(?:project\.)?basedir\}/)?\.\./[^<$]*?)\s*</([\w.-]+)>`)

// Embeds implements adapters.Embedder: directories of resources and sources outside of the project, and what
// other settings name by a path that leads upwards.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	if filepath.Dir(file) != dir {
		return nil // a fixture
	}
	text := string(data)
	var places []snapshot.EmbedPlace
	for _, m := range sourcePath.FindAllStringSubmatchIndex(text, -1) {
		if path := withoutBase(text[m[2]:m[3]]); !strings.Contains(path, "$") {
			places = append(places, snapshot.EmbedPlace{Offset: m[0], Base: dir, Path: path})
		}
	}
	list := snapshot.EmbedsAt(nil, file, data, places)
	if !strings.Contains(text, "../") { // the expression is slow
		return snapshot.Outside(dir, list)
	}
	places = nil
	for _, m := range upwardPath.FindAllStringSubmatchIndex(text, -1) {
		switch text[m[4]:m[5]] {
		case "relativePath", "module", "directory", "sourceDirectory", "testSourceDirectory", "scriptSourceDirectory", "source":
		default:
			places = append(places, snapshot.EmbedPlace{Offset: m[2], Base: dir, Path: withoutBase(text[m[2]:m[3]]), Named: true})
		}
	}
	return snapshot.Outside(dir, snapshot.EmbedsAt(list, file, data, places))
}

// withoutBase returns a path without the variable for the directory of the project.
func withoutBase(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "${project.basedir}/"), "${basedir}/")
}
