package gradle

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
)

// A line that sets directories of sources, and a string of it.
var (
	sourceLine = pattern.New(`\bsrcDirs?\b[^\n]*`)
	quotedPath = pattern.New(`"([^"\n]+)"|'([^'\n]+)'`)
)

// Embeds implements adapters.Embedder: directories of sources and resources outside of the project,
// as the build script names them.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	if filepath.Dir(file) != dir {
		return nil // a fixture
	}
	text := string(data)
	var places []adapters.EmbedPlace
	for _, line := range sourceLine.FindAllStringSubmatchIndex(text, -1) {
		for _, m := range quotedPath.FindAllStringSubmatchIndex(text[line[0]:line[1]], -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			path := text[line[0]+from : line[0]+to]
			for _, base := range []string{"$projectDir/", "${projectDir}/"} {
				path = strings.TrimPrefix(path, base)
			}
			if !strings.Contains(path, "$") {
				places = append(places, adapters.EmbedPlace{Offset: line[0], Base: dir, Path: path})
			}
		}
	}
	return adapters.Outside(dir, adapters.EmbedsAt(nil, file, data, places, "//"))
}
