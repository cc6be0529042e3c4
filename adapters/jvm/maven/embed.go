package maven

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
)

// sourcePath is a directory of sources or resources of the project, or of a plugin that adds some.
var sourcePath = pattern.New(`<(?:directory|sourceDirectory|testSourceDirectory|scriptSourceDirectory|source)>\s*([^<]+?)\s*</`)

// Embeds implements adapters.Embedder: directories of resources and sources outside of the project.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	if filepath.Dir(file) != dir {
		return nil // a fixture
	}
	text := string(data)
	var places []adapters.EmbedPlace
	for _, m := range sourcePath.FindAllStringSubmatchIndex(text, -1) {
		path := text[m[2]:m[3]]
		for _, base := range []string{"${project.basedir}/", "${basedir}/"} {
			path = strings.TrimPrefix(path, base)
		}
		if !strings.Contains(path, "$") {
			places = append(places, adapters.EmbedPlace{Offset: m[0], Base: dir, Path: path})
		}
	}
	return adapters.Outside(dir, adapters.EmbedsAt(nil, file, data, places))
}
