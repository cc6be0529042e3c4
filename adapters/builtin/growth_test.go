package builtin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/cargo/cargolock"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/deno/denolock"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/node/lockfile"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/adapters/php/composer"
	pylock "github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/ruby/gemlock"
	"github.com/bentobuild/bento/internal/growth"
)

// readers are all functions Parse…(…[]byte) of adapters, by the directory below adapters and
// the name. A new one is added here.
func readers() map[string]growth.Reader {
	return map[string]growth.Reader{
		"cargo/cargolock.Parse":          growth.Of(growth.By(cargolock.Parse), growth.List("version = 3\n", "[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\ndependencies = [\"p%d\"]\n", "", "")),
		"cargo/cargotoml.Parse":          growth.Of(growth.By(cargotoml.Parse), growth.List("[package]\nname = \"x\"\n[dependencies]\n", "d%d = { path = \"../d%d\" }\n", "", "")),
		"cargo/cargotoml.ParseConfig":    growth.Of(growth.By(cargotoml.ParseConfig), growth.List("[env]\n", "V%d = \"x\"\n", "", "")),
		"cargo/rustup.Parse":             growth.Of(growth.By(rustup.Parse), growth.List("[toolchain]\nchannel = \"stable\"\ncomponents = [", "\"c%d\"", ", ", "]\n")),
		"deno/denojson.Parse":            growth.Of(growth.By(denojson.Parse), growth.List(`{"imports": {`, `"i%d": "./m%d.ts"`, ",", "}}")),
		"deno/denojson.ParseImportMap":   growth.Of(growth.By(denojson.ParseImportMap), growth.List(`{"imports": {`, `"i%d": "./m%d.ts"`, ",", "}}")),
		"deno/denojson.ParseScripts":     growth.Of(growth.By(denojson.ParseScripts), growth.List(`{"scripts": {`, `"s%d": "echo %d"`, ",", "}}")),
		"deno/denolock.Parse":            growth.Of(growth.By(denolock.Parse), growth.List(`{"version": "5", "npm": {`, `"p%d@1.0.0": {"integrity": "sha512-%d"}`, ",", "}}")),
		"golang/gomod.ParseModule":       growth.Of(growth.By(gomod.ParseModule), growth.List("module x\n\ngo 1.22\n\nrequire (\n", "\texample.com/m%d v1.0.0\n", "", ")\n")),
		"golang/gomod.ParseWork":         growth.Of(growth.By(gomod.ParseWork), growth.List("go 1.22\n\nuse (\n", "\t./m%d\n", "", ")\n")),
		"golang/gomod.ParseSums":         growth.Of(growth.By(gomod.ParseSums), growth.List("", "example.com/m%d v1.0.0 h1:0000000000000000000000000000000000000000000=\n", "", "")),
		"jvm/pom.Parse":                  growth.Of(growth.By(pom.Parse), growth.List("<project><modelVersion>4.0.0</modelVersion><artifactId>r</artifactId><modules>", "<module>m%d</module>", "", "</modules></project>")),
		"jvm.ParseProperties":            growth.Of(func(data []byte) any { return jvm.ParseProperties(data) }, growth.List("", "key%d = value\n", "", "")),
		"jvm/script.ParseCatalog":        growth.Of(growth.By(script.ParseCatalog), growth.List("[libraries]\n", "l%d = \"g:a%d:1\"\n", "", "")),
		"jvm/script.ParseSettings":       growth.Of(growth.By(script.ParseSettings), growth.List("", "include ':a:b:p%d'\n", "", "")),
		"jvm/script.ParseBuild":          growth.Of(growth.By(script.ParseBuild), growth.List("dependencies {\n", "  implementation(project(':p%d'))\n", "", "}\n")),
		"node/lockfile.ParseBun":         growth.Of(growth.By(lockfile.ParseBun), growth.List(`{"lockfileVersion": 1, "workspaces": {"": {"name": "r"}}, "packages": {`, `"p%d": ["p%d@1.0.0", "", {}, "sha512-%d"]`, ",", "}}")),
		"node/lockfile.ParseNPM":         growth.Of(growth.By(lockfile.ParseNPM), growth.List(`{"lockfileVersion": 3, "packages": {`, `"node_modules/p%d": {"version": "1.0.0"}`, ",", "}}")),
		"node/packagejson.ParseManifest": growth.Of(growth.By(packagejson.ParseManifest), growth.List(`{"name": "x", "scripts": {`, `"s%d": "echo %d"`, ",", "}}")),
		"node/lockfile.ParsePNPM":        growth.Of(growth.By(lockfile.ParsePNPM), growth.List("lockfileVersion: '9.0'\npackages:\n", "  p%d@1.0.0:\n    resolution: {integrity: sha512-%d}\n", "", "")),
		"node/yamldoc.ParsePlaced":       growth.Of(growth.By(yamldoc.ParsePlaced), growth.List("packages:\n", "  - 'p%d/**'\n", "", "")),
		"node/yamldoc.Parse":             growth.Of(growth.By(yamldoc.Parse), growth.List("packages:\n", "  - 'p%d/**'\n", "", "")),
		"node/lockfile.ParseClassic":     growth.Of(func(data []byte) any { v, err := lockfile.ParseClassic(data); return []any{v, err} }, growth.List("# yarn lockfile v1\n\n", "p%d@^1.0.0:\n  version \"1.0.0\"\n\n", "", "")),
		"node/lockfile.ParseYarn":        growth.Of(growth.By(lockfile.ParseYarn), growth.List("__metadata:\n  version: 8\n\n", "\"p%d@npm:1.0.0\":\n  version: 1.0.0\n  resolution: \"p%d@npm:1.0.0\"\n  languageName: node\n  linkType: hard\n\n", "", "")),
		"php/composer.ParseLock":         growth.Of(growth.By(composer.ParseLock), growth.List(`{"packages": [`, `{"name": "v/p%d", "version": "1.0.0"}`, ",", "]}")),
		"php/composer.ParseManifest":     growth.Of(growth.By(composer.ParseManifest), growth.List(`{"name": "a/b", "require": {`, `"v/p%d": "^1"`, ",", "}}")),
		"python/lockfile.ParseUV":        growth.Of(growth.By(pylock.ParseUV), growth.List("version = 1\n", "[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\nsource = { registry = \"r\" }\n", "", "")),
		"ruby/gemlock.Parse":             growth.Of(growth.By(gemlock.Parse), growth.List("GEM\n  remote: r\n  specs:\n", "    g%d (1.0.0)\n", "", "\nDEPENDENCIES\n  g0\n")),
	}
}

// No reader of foreign files needs more than n log n for n entries.
func TestReadersGrowWithTheFile(t *testing.T) { growth.Check(t, readers()) }

// Every reader stands in the table.
func TestReadersAreInTheTable(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time and memory")
	}
	var found []string
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Parse") && takesBytes(f) {
				found = append(found, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")+"."+f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table := readers()
	for _, name := range found {
		if _, ok := table[name]; !ok {
			t.Errorf("%s: not in readers, so nothing says how its work grows", name)
		}
	}
	for name := range table {
		if !slices.Contains(found, name) {
			t.Errorf("%s is in readers and nowhere else", name)
		}
	}
}

func takesBytes(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if a, ok := p.Type.(*ast.ArrayType); ok && a.Len == nil {
			if elem, ok := a.Elt.(*ast.Ident); ok && elem.Name == "byte" {
				return true
			}
		}
	}
	return false
}

func BenchmarkReaders(b *testing.B) { growth.Benchmark(b, readers()) }
