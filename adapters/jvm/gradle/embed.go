package gradle

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

// A line that sets directories of sources, a string of it, a line that names projects, and a string that
// begins at the root of the build.
var (
	sourceLine  = pattern.New(`\bsrcDirs?\b[^\n]*`)
	quotedPath  = pattern.New(`"([^"\n]+)"|'([^'\n]+)'`)
	projectLine = pattern.New(`\b(include|includeBuild|includeFlat|projectDir)\b`)
	fromRoot    = pattern.New(`"\$\{?(?:rootDir|rootProject\.projectDir)\}?/([^"\n$]+)"`)
)

// Embeds implements adapters.Embedder. It returns the directories of sources and resources that the build script
// names outside of the project, and every other path in it that leads upwards or starts at the root of the build,
// such as the files of a front end that are copied to the resources.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	if filepath.Dir(file) != dir {
		return nil // a fixture
	}
	text := string(data)
	var places []snapshot.EmbedPlace
	for _, line := range sourceLine.FindAllStringSubmatchIndex(text, -1) {
		for _, m := range quotedPath.FindAllStringSubmatchIndex(text[line[0]:line[1]], -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			path := text[line[0]+from : line[0]+to]
			for _, base := range []string{"$projectDir/", "${projectDir}/"} {
				path = strings.TrimPrefix(path, base)
			}
			if !strings.Contains(path, "$") {
				places = append(places, snapshot.EmbedPlace{Offset: line[0], Base: dir, Path: path})
			}
		}
	}
	list := snapshot.Outside(dir, snapshot.EmbedsAt(nil, file, data, places, "//"))
	skip := func(line string) bool { return sourceLine.MatchString(line) || projectLine.MatchString(line) }
	list = append(list, snapshot.UpwardPaths(dir, file, data, skip, "//")...)
	return append(list, snapshot.Outside(dir, snapshot.EmbedsAt(nil, file, data, a.fromRoot(dir, text), "//"))...)
}

// fromRoot returns the strings that begin at the root of the build. That is the project's directory or one
// above it; where a path leads to nothing, no key changes.
func (a *Adapter) fromRoot(dir, text string) []snapshot.EmbedPlace {
	var places []snapshot.EmbedPlace
	for _, m := range fromRoot.FindAllStringSubmatchIndex(text, -1) {
		for at := dir; ; at = filepath.Dir(at) {
			places = append(places, snapshot.EmbedPlace{Offset: m[0], Base: at, Path: text[m[2]:m[3]], Named: true})
			if at == a.Root() || at == filepath.Dir(at) {
				break
			}
		}
	}
	return places
}
