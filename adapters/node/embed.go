package node

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// embedsIn returns the names of files that map imports to paths.
func embedsIn() []string {
	files := []string{"tsconfig.json", "tsconfig.base.json", "tsconfig.build.json", "tsconfig.app.json", "jsconfig.json"}
	for _, bundler := range []string{"vite", "vitest", "webpack", "rollup", "rspack", "rsbuild"} {
		for _, end := range []string{"js", "mjs", "cjs", "ts", "mts"} {
			files = append(files, bundler+".config."+end)
		}
	}
	return files
}

// upwardPath is a string that leads out of the directory of a bundler's configuration.
var upwardPath = pattern.New("[\"'`](\\.\\./[^\"'`\\n$]+)[\"'`]")

// Embeds implements adapters.Embedder: aliases of imports that lead out of the package.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	if filepath.Dir(file) != dir || !slices.Contains(embedsIn(), filepath.Base(file)) {
		return nil
	}
	list := bundlerAliases(dir, file, data)
	if filepath.Ext(file) == ".json" {
		list = pathAliases(dir, file, data)
	}
	list = slices.DeleteFunc(list, func(e adapters.Embed) bool { return strings.Contains(e.Path+"/", "/node_modules/") })
	return adapters.Outside(dir, list)
}

func bundlerAliases(dir, file string, data []byte) []adapters.Embed {
	var places []adapters.EmbedPlace
	text := string(data)
	for _, m := range upwardPath.FindAllStringSubmatchIndex(text, -1) {
		places = append(places, adapters.EmbedPlace{Offset: m[0], Base: dir, Path: beforeStar(text[m[2]:m[3]])})
	}
	return adapters.EmbedsAt(nil, file, data, places, "//", "import ")
}

// pathAliases reads compilerOptions.paths. What cannot be read is the compiler's to report.
func pathAliases(dir, file string, data []byte) (list []adapters.Embed) {
	root, err := jsonfile.ParseLoose(file, data)
	if err != nil {
		return nil
	}
	options := root.Get("compilerOptions")
	base := filepath.Join(dir, filepath.FromSlash(options.Get("baseUrl").Text()))
	for _, alias := range options.Get("paths").Members() {
		for _, to := range alias.Value.Items() {
			path := beforeStar(to.Text())
			if path == "" || filepath.IsAbs(path) || strings.ContainsAny(path, "$\x00") {
				continue
			}
			list = append(list, adapters.Embed{Path: filepath.Join(base, filepath.FromSlash(path)), File: file, Line: to.Line()})
		}
	}
	return list
}

// beforeStar returns the directory in which the part that an alias leaves open begins.
func beforeStar(path string) string {
	if i := strings.IndexByte(path, '*'); i >= 0 {
		return path[:strings.LastIndexByte(path[:i], '/')+1]
	}
	return path
}
