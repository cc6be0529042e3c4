package node

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// Configurations of the TypeScript compiler, and of bundlers whose names do not end in
// ".config".
var (
	compilerFiles = []string{"tsconfig.json", "jsconfig.json", "tsconfig.app.json", "tsconfig.base.json", "tsconfig.build.json",
		"tsconfig.lib.json", "tsconfig.node.json", "tsconfig.prod.json", "tsconfig.spec.json", "tsconfig.test.json", "tsconfig.types.json"}
	bundlerFiles = []string{".babelrc", ".babelrc.json", ".swcrc", "angular.json", "esbuild", "webpack.base", "webpack.common",
		"webpack.dev", "webpack.prod"}
	moduleEnds = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}
)

// embedsIn returns the ends of the names of files that map imports to paths.
func embedsIn() []string {
	files := slices.Clone(compilerFiles)
	for _, name := range append(bundlerFiles, ".config") {
		if strings.Contains(name, ".babelrc") || filepath.Ext(name) == ".json" || name == ".swcrc" {
			files = append(files, name)
			continue
		}
		for _, end := range moduleEnds {
			files = append(files, name+end)
		}
	}
	for _, end := range moduleEnds {
		files = append(files, ".paths"+end, ".data"+end)
	}
	return files
}

// upwardPath is a string that leads upwards from the directory of a configuration, or the parts of one
// (path.join(__dirname, "..", "lib")).
var upwardPath = pattern.New("[\"'`](?:<rootDir>|\\$\\{[\\w.]+\\})?/?(\\.\\./[^\"'`\\n]+)[\"'`]" +
	"|[\"'](\\.\\.)[\"']((?:\\s*,\\s*[\"'][^\"'\\n$]+[\"'])+)")

// Embeds implements adapters.Embedder: paths in settings of compilers and bundlers that lead out of the
// package.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	var list []adapters.Embed
	switch name := filepath.Base(file); {
	case loads(name) && !bytes.Contains(data, []byte("vitepress")):
		return nil
	case !slices.Contains(compilerFiles, name):
		list = bundlerPaths(file, data)
	case filepath.Dir(file) == dir:
		list = compilerPaths(dir, file, data)
	}
	list = slices.DeleteFunc(list, func(e adapters.Embed) bool {
		around := strings.HasPrefix(dir+"/", strings.TrimSuffix(e.Path, "/")+"/") // a limit of the tool
		return around || strings.Contains(e.Path+"/", "/node_modules/")
	})
	return snapshot.Outside(dir, list)
}

// loads reports whether a file is named like those by which VitePress makes pages of other files.
func loads(name string) bool {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	return strings.HasSuffix(stem, ".paths") || strings.HasSuffix(stem, ".data")
}

// bundlers include the paths that their configuration names. Another program may name a path and not
// read it.
var bundlers = []string{"vite", "vitest", "webpack", "rollup", "rspack", "rsbuild"}

// bundlerPaths returns the strings that lead upwards.
func bundlerPaths(file string, data []byte) []adapters.Embed {
	var places, manifests []snapshot.EmbedPlace // the configuration of a tool imports modules, but a manifest is a value
	text := string(data)
	tool, _, _ := strings.Cut(filepath.Base(file), ".")
	named := !slices.Contains(bundlers, tool)
	outputs := outputSetting.FindAllStringSubmatchIndex(text, maxSettings)
	for _, m := range upwardPath.FindAllStringSubmatchIndex(text, -1) {
		if slices.ContainsFunc(outputs, func(o []int) bool { return o[2] <= m[1] && m[0] < o[1] && m[0] >= o[0] }) {
			continue // the tool writes there
		}
		to := ""
		if m[2] >= 0 {
			to = beforeStar(text[m[2]:m[3]])
		} else {
			to = joined(text[m[4]:m[5]], text[m[6]:m[7]])
		}
		place := snapshot.EmbedPlace{Offset: m[0], Base: filepath.Dir(file), Path: to, Named: named}
		if filepath.Base(to) == project.File {
			place.Named = false
			manifests = append(manifests, place)
		} else {
			places = append(places, place)
		}
	}
	return snapshot.EmbedsAt(snapshot.EmbedsAt(nil, file, data, manifests, "//"), file, data, places, "//", "import ")
}

// joined returns the path of first and of the strings in rest, which are separated by commas.
func joined(first, rest string) string {
	parts := []string{first}
	for _, part := range strings.Split(rest, ",") {
		parts = append(parts, strings.Trim(strings.TrimSpace(part), `"'`))
	}
	return beforeStar(strings.Join(parts, "/"))
}

// compilerPaths reads the paths of sources and aliases. What cannot be read is the compiler's to
// report.
func compilerPaths(dir, file string, data []byte) (list []adapters.Embed) {
	root, err := jsonfile.ParseLoose(file, data)
	if err != nil {
		return nil
	}
	add := func(base string, values ...*jsonfile.Value) {
		for _, v := range values {
			path := beforeStar(strings.ReplaceAll(v.Text(), "${configDir}", "."))
			if path == "" || filepath.IsAbs(path) || strings.ContainsAny(path, "$\x00") {
				continue
			}
			list = append(list, adapters.Embed{Path: filepath.Join(base, filepath.FromSlash(path)), File: file, Line: v.Line()})
		}
	}
	options := root.Get("compilerOptions")
	for _, alias := range options.Get("paths").Members() {
		add(filepath.Join(dir, filepath.FromSlash(options.Get("baseUrl").Text())), alias.Value.Items()...)
	}
	for _, list := range []*jsonfile.Value{root.Get("include"), root.Get("files"), options.Get("rootDirs"), options.Get("typeRoots")} {
		add(dir, list.Items()...)
	}
	return list
}

// beforeStar returns the directory in which the part that an alias or a variable leaves open begins.
func beforeStar(path string) string {
	if i := strings.IndexAny(path, "*$"); i >= 0 {
		return path[:strings.LastIndexByte(path[:i], '/')+1]
	}
	return path
}
