package golang

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// place is the position of an import; no file means that there is none.
type place struct {
	file string
	line int
	test bool // in tests only
}

// importsOf finds where the packages of m import those of the modules in list: the first
// import in the order of the files, preferably outside of tests. It reports whether it read
// all files. It skips a file that does not parse: the compiler reports it.
func importsOf(f *snapshot.Files, m *gomod.Module, list []member) (found []place, complete bool) {
	found = make([]place, len(list))
	complete = newTree(f, m, importDirs).each(func(dir string, files []string) bool {
		for _, name := range files {
			test := strings.HasSuffix(name, "_test.go")
			eachImport(f, filepath.Join(dir, name), func(path string, at place) {
				if i := owner(path, m, list); i >= 0 && (found[i].file == "" || found[i].test && !test) {
					at.test = test
					found[i] = at
				}
			})
		}
		return true
	})
	return found, complete
}

// owner returns the index of the module in list that holds a package: the one with the
// longest path, unless m itself or one of its requirements has a longer one.
func owner(path string, m *gomod.Module, list []member) int {
	best, longest := -1, 0
	holds := func(module string) bool {
		if len(module) <= longest || !within(path, module) {
			return false
		}
		longest = len(module)
		return true
	}
	for i := range list {
		if holds(list[i].mod.Name) {
			best = i
		}
	}
	if best < 0 {
		return -1
	}
	if holds(m.Name) {
		return -1
	}
	for _, r := range m.Requires {
		if holds(r.Path) {
			return -1
		}
	}
	return best
}

// within reports whether a package path is module's or below it.
func within(path, module string) bool {
	rest, ok := strings.CutPrefix(path, module)
	return ok && (rest == "" || rest[0] == '/')
}

func eachImport(f *snapshot.Files, path string, visit func(path string, at place)) {
	data, err := f.Read(path)
	if err != nil {
		return
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, path, data, parser.ImportsOnly) // imports before a syntax error still matter
	if file == nil {
		return
	}
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			visit(imported, place{file: path, line: fset.PositionFor(spec.Pos(), false).Line})
		}
	}
}
