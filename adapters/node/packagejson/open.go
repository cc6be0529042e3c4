package packagejson

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// maxOpen bounds the globs of Manifest.Open.
const maxOpen = 64

// openFiles returns globs of the files that package.json names for other packages: everything in the
// directories of its entry points, and what it publishes. It is nil for a package that names none, or
// too many.
func openFiles(root *jsonfile.Value) []string {
	var globs []string
	add := func(name string, inDir bool) {
		name = path.Clean(strings.TrimPrefix(name, "/"))
		if strings.HasPrefix(name, "!") || strings.HasPrefix(name, "..") || name == "package.json" {
			return
		}
		if i := strings.IndexAny(name, "*?[{"); i >= 0 {
			name = path.Dir(name[:i] + "x")
		} else if inDir {
			name = path.Dir(name)
		}
		if glob := path.Join(escape(name), "**"); !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	for _, key := range []string{"exports", "main", "module", "browser", "types", "typings", "bin"} {
		eachText(root.Get(key), func(text string) { add(text, true) })
	}
	eachText(root.Get("files"), func(text string) { add(text, strings.Contains(path.Base(text), ".")) })
	if len(globs) > maxOpen {
		return nil
	}
	return globs
}

// eachText calls f with every text in v.
func eachText(v *jsonfile.Value, f func(string)) {
	if text := v.Text(); text != "" {
		f(text)
	}
	for _, m := range v.Members() {
		eachText(m.Value, f)
	}
	for _, item := range v.Items() {
		eachText(item, f)
	}
}

func escape(name string) string { return strings.ReplaceAll(name, `\`, `\\`) }
