package golang

import (
	"go/parser"
	"go/token"
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

// standard are the first elements of the most imported packages of the standard library. No module has
// one of them as its name.
var standard = map[string]bool{
	"C": true, "bufio": true, "bytes": true, "cmp": true, "context": true, "crypto": true, "database": true, "embed": true,
	"encoding": true, "errors": true, "flag": true, "fmt": true, "go": true, "hash": true, "html": true, "io": true, "iter": true,
	"log": true, "maps": true, "math": true, "mime": true, "net": true, "os": true, "path": true, "reflect": true, "regexp": true,
	"runtime": true, "slices": true, "sort": true, "strconv": true, "strings": true, "sync": true, "syscall": true, "testing": true,
	"text": true, "time": true, "unicode": true, "unsafe": true,
}
