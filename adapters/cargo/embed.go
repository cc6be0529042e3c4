package cargo

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
)

// The macros of the standard library and of the crate include_dir, and the attribute of the crate
// rust-embed. Their paths are relative to the source, or to the package where they say so.
var (
	includeMacro = pattern.New(`\binclude(?:_str|_bytes|_dir)?!\s*[(\[{]\s*(concat!\s*\(\s*env!\s*\(\s*"CARGO_MANIFEST_DIR"\s*\)\s*,\s*)?r?"([^"\\\n]+)"`)
	embedFolder  = pattern.New(`#\s*\[\s*folder\s*=\s*"([^"\\\n]+)"`)
)

// manifestDir stands for the directory of the package in paths of include_dir and rust-embed.
const manifestDir = "$CARGO_MANIFEST_DIR"

// Embeds implements adapters.Embedder.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	text := string(data)
	if !strings.Contains(text, "include") && !strings.Contains(text, "folder") {
		return nil
	}
	var places []adapters.EmbedPlace
	for _, m := range includeMacro.FindAllStringSubmatchIndex(text, -1) {
		base, path := filepath.Dir(file), text[m[4]:m[5]]
		if m[2] >= 0 {
			base, path = dir, strings.TrimPrefix(path, "/")
		}
		places = append(places, placeOf(m[0], base, dir, path))
	}
	for _, m := range embedFolder.FindAllStringSubmatchIndex(text, -1) {
		places = append(places, placeOf(m[0], dir, dir, text[m[2]:m[3]]))
	}
	slices.SortFunc(places, func(x, y adapters.EmbedPlace) int { return cmp.Compare(x.Offset, y.Offset) })
	list := adapters.EmbedsAt(nil, file, data, places, "//")
	for i := range list {
		list[i].Ignored = adapters.AllNames
	}
	return list
}

// placeOf returns the place of a path, which may begin with the directory of the package. A path
// with another variable is none.
func placeOf(offset int, base, dir, path string) adapters.EmbedPlace {
	if rest, ok := strings.CutPrefix(path, manifestDir); ok {
		base, path = dir, strings.TrimPrefix(rest, "/")
		path = cmp.Or(path, ".")
	}
	if strings.Contains(path, "$") {
		path = ""
	}
	return adapters.EmbedPlace{Offset: offset, Base: base, Path: path}
}
