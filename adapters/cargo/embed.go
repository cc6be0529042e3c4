package cargo

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// manifestDir stands for the directory of the package in paths of include_dir and rust-embed.
const manifestDir = "$CARGO_MANIFEST_DIR"

// buildScript is the program that a package runs before it is compiled.
const buildScript = "build.rs"

// Embeds implements adapters.Embedder. It returns the arguments of the include macros of the standard library and of
// the crate include_dir, and the attributes path and folder (rust-embed). Of other strings it returns, as names
// alone, those that lead upwards, which other macros and generators may read, and all paths of a build script.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	text := string(data)
	holds := func(part string) bool { return strings.Contains(text, part) }
	if filepath.Base(file) != buildScript && !slices.ContainsFunc([]string{"include", "folder", "path", "../"}, holds) {
		return nil
	}
	var places []snapshot.EmbedPlace
	for _, l := range literals(text) {
		places = append(places, placesOf(l, dir, file)...)
	}
	slices.SortStableFunc(places, func(x, y snapshot.EmbedPlace) int { return cmp.Compare(x.Offset, y.Offset) })
	list := snapshot.EmbedsAt(nil, file, data, places)
	for i := range list {
		if !list[i].Named {
			list[i].Ignored = adapters.AllNames
		}
	}
	return list
}

// placesOf returns the paths that a string may mean. Most are relative to the source, some to the
// package, and for some only the macro decides.
func placesOf(l literal, dir, file string) []snapshot.EmbedPlace {
	source := filepath.Dir(file)
	if rest, ok := strings.CutPrefix(l.value, manifestDir); ok {
		l.value, l.inDir = rest, true
	}
	switch {
	case l.cut || strings.Contains(l.value, "$"):
	case l.inDir && includes(l):
		return []snapshot.EmbedPlace{{Offset: l.offset, Base: dir, Path: cmp.Or(strings.TrimPrefix(l.value, "/"), ".")}}
	case l.macro == "include_dir":
		return []snapshot.EmbedPlace{{Offset: l.offset, Base: source, Path: l.value}, {Offset: l.offset, Base: dir, Path: l.value}}
	case l.macro == "#" && l.name == "folder":
		return []snapshot.EmbedPlace{{Offset: l.offset, Base: dir, Path: l.value}}
	case includes(l):
		return []snapshot.EmbedPlace{{Offset: l.offset, Base: source, Path: l.value}}
	}
	return named(l, dir, file)
}

// includes reports whether the compiler reads the file that a string names.
func includes(l literal) bool {
	if l.macro == "#" {
		return l.name == "path" || l.name == "folder"
	}
	return slices.Contains([]string{"include", "include_str", "include_bytes", "include_dir"}, l.macro)
}

// named returns the paths for a string that looks like one. Of one with an open end it is the
// directory.
func named(l literal, dir, file string) []snapshot.EmbedPlace {
	_, at, directive := strings.Cut(l.value, "=") // cargo:rerun-if-changed=PATH
	if !directive {
		at = l.value
	}
	if i := strings.IndexAny(at, "*?[{"); i >= 0 {
		at, l.cut = at[:i], true
	}
	if l.cut {
		at = at[:strings.LastIndexByte(at, '/')+1]
	}
	upwards := strings.HasPrefix(at, "../") || strings.Contains(at, "/../")
	script := filepath.Base(file) == buildScript && strings.Contains(at, "/")
	if !upwards && !script || filepath.IsAbs(at) && !l.inDir || strings.ContainsAny(at, " \t\n\"'`$<>|:") {
		return nil
	}
	places := []snapshot.EmbedPlace{{Offset: l.offset, Base: dir, Path: strings.TrimPrefix(at, "/"), Named: true}}
	if source := filepath.Dir(file); source != dir && !l.inDir {
		places = append(places, snapshot.EmbedPlace{Offset: l.offset, Base: source, Path: at, Named: true})
	}
	return places
}
