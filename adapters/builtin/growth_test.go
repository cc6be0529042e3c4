package builtin_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/cargo/cargolock"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/deno/denolock"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/jvm/properties"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/node/bunlock"
	"github.com/bentobuild/bento/adapters/node/npmlock"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/pnpmlock"
	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/adapters/node/yarnlock"
	"github.com/bentobuild/bento/adapters/php/composer"
	pylock "github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/ruby/gemlock"
)

// reader is a reader of foreign files, with a file of n entries for it.
type reader struct {
	read func(data []byte) any
	file func(n int) string
}

// list writes n entries between head and tail, with %d for the number of each.
func list(head, entry, between, tail string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(strings.ReplaceAll(entry, "%d", fmt.Sprint(i)))
		}
		return b.String() + tail
	}
}

func by[T any](parse func(string, []byte) (T, error)) func([]byte) any {
	return func(data []byte) any {
		v, err := parse("/w/file", data)
		return []any{v, err}
	}
}

// readers are all functions Parse…(…[]byte) of adapters, by the directory below adapters and
// the name. A new one is added here.
func readers() map[string]reader {
	return map[string]reader{
		"cargo/cargolock.Parse":       {by(cargolock.Parse), list("version = 3\n", "[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\ndependencies = [\"p%d\"]\n", "", "")},
		"cargo/cargotoml.Parse":       {by(cargotoml.Parse), list("[package]\nname = \"x\"\n[dependencies]\n", "d%d = { path = \"../d%d\" }\n", "", "")},
		"cargo/cargotoml.ParseConfig": {by(cargotoml.ParseConfig), list("[env]\n", "V%d = \"x\"\n", "", "")},
		"cargo/rustup.Parse":          {by(rustup.Parse), list("[toolchain]\nchannel = \"stable\"\ncomponents = [", "\"c%d\"", ", ", "]\n")},
		"deno/denojson.Parse":         {by(denojson.Parse), list(`{"imports": {`, `"i%d": "./m%d.ts"`, ",", "}}")},
		"deno/denojson.ParseImportMap": {
			by(denojson.ParseImportMap), list(`{"imports": {`, `"i%d": "./m%d.ts"`, ",", "}}"),
		},
		"deno/denojson.ParseScripts": {by(denojson.ParseScripts), list(`{"scripts": {`, `"s%d": "echo %d"`, ",", "}}")},
		"deno/denolock.Parse":        {by(denolock.Parse), list(`{"version": "5", "npm": {`, `"p%d@1.0.0": {"integrity": "sha512-%d"}`, ",", "}}")},
		"golang/gomod.ParseModule":   {by(gomod.ParseModule), list("module x\n\ngo 1.22\n\nrequire (\n", "\texample.com/m%d v1.0.0\n", "", ")\n")},
		"golang/gomod.ParseWork":     {by(gomod.ParseWork), list("go 1.22\n\nuse (\n", "\t./m%d\n", "", ")\n")},
		"golang/gomod.ParseSums":     {by(gomod.ParseSums), list("", "example.com/m%d v1.0.0 h1:0000000000000000000000000000000000000000000=\n", "", "")},
		"jvm/pom.Parse":              {by(pom.Parse), list("<project><modelVersion>4.0.0</modelVersion><artifactId>r</artifactId><modules>", "<module>m%d</module>", "", "</modules></project>")},
		"jvm/properties.Parse":       {func(data []byte) any { return properties.Parse(data) }, list("", "key%d = value\n", "", "")},
		"jvm/script.ParseCatalog":    {by(script.ParseCatalog), list("[libraries]\n", "l%d = \"g:a%d:1\"\n", "", "")},
		"jvm/script.ParseSettings":   {by(script.ParseSettings), list("", "include ':a:b:p%d'\n", "", "")},
		"jvm/script.ParseBuild":      {by(script.ParseBuild), list("dependencies {\n", "  implementation(project(':p%d'))\n", "", "}\n")},
		"node/bunlock.Parse":         {by(bunlock.Parse), list(`{"lockfileVersion": 1, "workspaces": {"": {"name": "r"}}, "packages": {`, `"p%d": ["p%d@1.0.0", "", {}, "sha512-%d"]`, ",", "}}")},
		"node/npmlock.Parse":         {by(npmlock.Parse), list(`{"lockfileVersion": 3, "packages": {`, `"node_modules/p%d": {"version": "1.0.0"}`, ",", "}}")},
		"node/packagejson.ParseManifest": {
			by(packagejson.ParseManifest), list(`{"name": "x", "scripts": {`, `"s%d": "echo %d"`, ",", "}}"),
		},
		"node/pnpmlock.Parse":        {by(pnpmlock.Parse), list("lockfileVersion: '9.0'\npackages:\n", "  p%d@1.0.0:\n    resolution: {integrity: sha512-%d}\n", "", "")},
		"node/yamldoc.Parse":         {by(yamldoc.Parse), list("packages:\n", "  - 'p%d/**'\n", "", "")},
		"node/yarnlock.ParseClassic": {func(data []byte) any { v, err := yarnlock.ParseClassic(data); return []any{v, err} }, list("# yarn lockfile v1\n\n", "p%d@^1.0.0:\n  version \"1.0.0\"\n\n", "", "")},
		"node/yarnlock.Parse":        {by(yarnlock.Parse), list("__metadata:\n  version: 8\n\n", "\"p%d@npm:1.0.0\":\n  version: 1.0.0\n  resolution: \"p%d@npm:1.0.0\"\n  languageName: node\n  linkType: hard\n\n", "", "")},
		"php/composer.ParseLock":     {by(composer.ParseLock), list(`{"packages": [`, `{"name": "v/p%d", "version": "1.0.0"}`, ",", "]}")},
		"php/composer.ParseManifest": {by(composer.ParseManifest), list(`{"name": "a/b", "require": {`, `"v/p%d": "^1"`, ",", "}}")},
		"python/lockfile.ParseUV":    {by(pylock.ParseUV), list("version = 1\n", "[[package]]\nname = \"p%d\"\nversion = \"1.0.0\"\nsource = { registry = \"r\" }\n", "", "")},
		"ruby/gemlock.Parse":         {by(gemlock.Parse), list("GEM\n  remote: r\n  specs:\n", "    g%d (1.0.0)\n", "", "\nDEPENDENCIES\n  g0\n")},
	}
}

// work counts the bytes that a call allocates: that is the same each time, whatever else
// the machine does.
func work(read func([]byte) any, data []byte) uint64 {
	var before, after runtime.MemStats
	least := uint64(1 << 62)
	for range 3 { // the first one fills pools and compiles patterns
		runtime.ReadMemStats(&before)
		kept := read(data)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// No reader of foreign files needs more than n log n for n entries.
func TestReadersGrowWithTheFile(t *testing.T) {
	const n, factor, slack = 400, 4, 1.6 // maps and slices grow in steps
	for name, r := range readers() {
		few, many := work(r.read, []byte(r.file(n))), work(r.read, []byte(r.file(factor*n)))
		if float64(many) > factor*slack*float64(max(few, 16<<10)) {
			t.Errorf("%s: %d times the entries take %.1f times the work", name, factor, float64(many)/float64(few))
		}
	}
}

// Every reader stands in the table.
func TestReadersAreInTheTable(t *testing.T) {
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

// BenchmarkReaders tells how the time grows: four times the entries should take about four
// times as long.
func BenchmarkReaders(b *testing.B) {
	for name, r := range readers() {
		for _, n := range []int{1000, 4000} {
			data := []byte(r.file(n))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					r.read(data)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
			})
		}
	}
}
