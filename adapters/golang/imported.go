package golang

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Imports implements adapters.Importer: the packages that a source imports, without most of those of
// the standard library.
func (a *Adapter) Imports(_, file string, data []byte) (list []adapters.Embed) {
	fset := token.NewFileSet()
	parsed, _ := parser.ParseFile(fset, file, data, parser.ImportsOnly) // imports before a syntax error still matter
	if parsed == nil {
		return nil
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || standard[strings.SplitN(path, "/", 2)[0]] {
			continue
		}
		list = append(list, adapters.Embed{
			Path: path, File: file, Line: fset.PositionFor(spec.Pos(), false).Line, Named: strings.HasSuffix(file, "_test.go"),
		})
	}
	return list
}

// compiledFiles are the files of a package that the compiler reads.
const compiledFiles = "*.{go,c,cc,cpp,cxx,h,hh,hpp,hxx,m,s,S,sx,syso,swig,swigcxx}"

// ImportsIn implements adapters.SourceImporter.
func (a *Adapter) ImportsIn() []string { return a.Manifest().EmbedsIn }

// SourceImports implements adapters.SourceImporter: the directory of the package itself, and those of
// the packages of its own module that it imports. names has the path of the module.
func (a *Adapter) SourceImports(dir string, names []string, file string, data []byte) []adapters.Embed {
	if base := filepath.Base(file); base[0] == '_' || base[0] == '.' {
		return nil // go compiles no such file
	}
	list := []adapters.Embed{{Path: filepath.Dir(file), Glob: compiledFiles, File: file, Line: 1, Named: strings.HasSuffix(file, "_test.go")}}
	for _, e := range a.Imports(dir, file, data) {
		if len(names) == 0 || !within(e.Path, names[0]) {
			continue
		}
		if rest := strings.TrimPrefix(e.Path[len(names[0]):], "/"); rest == "" || filepath.IsLocal(filepath.FromSlash(rest)) {
			e.Path, e.Glob = filepath.Join(dir, filepath.FromSlash(rest)), compiledFiles
			list = append(list, e)
		}
	}
	return list
}

// standard are the first elements of the most imported packages of the standard library. No module has
// one of them as its name.
var standard = map[string]bool{
	"C": true, "bufio": true, "bytes": true, "cmp": true, "context": true, "crypto": true, "database": true, "embed": true,
	"encoding": true, "errors": true, "flag": true, "fmt": true, "go": true, "hash": true, "html": true, "io": true, "iter": true,
	"log": true, "maps": true, "math": true, "mime": true, "net": true, "os": true, "path": true, "reflect": true, "regexp": true,
	"runtime": true, "slices": true, "sort": true, "strconv": true, "strings": true, "sync": true, "syscall": true, "testing": true,
	"text": true, "time": true, "unicode": true, "unsafe": true,
}
