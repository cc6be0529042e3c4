package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxExported is how many exported names a package declares at most: types, functions, and
// constants and variables by their declarations, methods not counted.
const maxExported = 25

// manyNames are the packages with more, and why. A new one needs a reason that a reader of
// the package accepts.
var manyNames = map[string]string{
	"adapters":             "the values of the wire, which are also the contract of an adapter",
	"cache":                "the contract of a store, its values, and the store on disk",
	"cache/remote":         "the seam of servers, the seam of the run, and the values of trust between them",
	"adapters/adaptertest": "what the tests of 13 adapters share",
	"internal/config":      "a type for each table of bento.toml and dish.toml",
	"internal/key":         "what a run, a plan and why know of a task, and what is remembered of it",
	"internal/proc":        "children, what a guard does for them, and the terminal that they borrow",
	"internal/run":         "a type for each event of a run",
	"internal/action":      "the seam of executors: a command, its execution, what it used",
	"internal/dish":        "a type for each value of a dish, from dish.toml and from its adapter",
	"internal/kit":         "a door to each kind of thing that is not the core",
	"internal/report":      "a document for each command, and its writer",
	"internal/tree/disk":   "the system calls of the walk, for three systems",
	"plugin/host":          "plugins that answer and residents that also ask, over one process",
	"plugin/wire":          "a type for each message",
	"plugin/sep":           "the values of the contract: what a provider answers, and what is seen of an extension",

	"plugin/bundle/manifest": "the manifests of three kinds of packages, an index, versions and their requirements",
}

// fewImporters are the packages that only one other package imports and that have no fuzz target,
// with the reason why they are packages.
var fewImporters = map[string]string{
	"plugin/scaffold":        "files of projects, apart from the command that writes them",
	"adapters/declared":      "an adapter beside the built-in ones, of definitions that it knows only as values",
	"adapters/jvm/maven":     "an adapter beside gradle",
	"adapters/node":          "a family of languages",
	"adapters/node/tools":    "the package managers, as bento finds and asks them, apart from the recipes",
	"adapters/python":        "a family of languages",
	"adapters/python/uv":     "an adapter beside pip",
	"docs":                   "the text of the pages, which only a package in their directory can embed",
	"internal/archtest":      "nothing but tests",
	"cache/remote/share":     "a server of results beside the others: a directory",
	"cache/remote/web":       "a server of remote caches, which only the door opens",
	"internal/confine":       "an executor beside the local one, which run does not know",
	"internal/companion":     "the extensions of an invocation, apart from the commands that use them",
	"plugin/ainb/bus":        "topics and inboxes alone: no process, no message",
	"internal/report/export": "formats of other programs",
	"internal/tree/disk":     "system calls alone: what they mean is known above",
	"internal/watch":         "the loop of one command, apart from its flags and its terminal",
	"internal/prune":         "which files some dishes need, apart from the command that copies them",
	"internal/mcp":           "a protocol of agents, apart from the commands that they call",
	"internal/ui":            "a server of browsers, apart from the command that says what it serves",
	"internal/kit":           "the one door to what is not the core: TestOneDoor",
}

// TestPackagesAreIdeas: a package has two importers or reads a foreign format, and not more
// names than one idea needs.
func TestPackagesAreIdeas(t *testing.T) {
	files, importers := byPackage(sources(t)), make(map[string]map[string]bool)
	for pkg, list := range files {
		for _, s := range list {
			for _, i := range s.imports() {
				if i.ours && i.path != pkg {
					if importers[i.path] == nil {
						importers[i.path] = make(map[string]bool)
					}
					importers[i.path][pkg] = true
				}
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		if isProgram(files[pkg]) {
			continue
		}
		n, fuzzed := exported(files[pkg]), fuzzes(files[pkg])
		if n > maxExported != (manyNames[pkg] != "") {
			t.Errorf("%s exports %d names, %d are allowed; unexport some, or give a reason in manyNames (or take it out there)", pkg, n, maxExported)
		}
		if few := len(importers[pkg]) < 2 && !fuzzed; few != (fewImporters[pkg] != "") {
			t.Errorf("%s has %d importers and fuzz target %v; join it with its importer, or give a reason in fewImporters (or take it out there)", pkg, len(importers[pkg]), fuzzed)
		}
	}
}

// isProgram reports whether files are a program, or only tests.
func isProgram(files []*source) bool {
	return !slices.ContainsFunc(files, func(s *source) bool { return !s.test && s.ast.Name.Name != "main" })
}

// exported counts the exported names of a package.
func exported(files []*source) (n int) {
	for _, s := range files {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					n++
				}
			case *ast.GenDecl:
				n += exportedIn(d)
			}
		}
	}
	return n
}

func exportedIn(d *ast.GenDecl) (n int) {
	values := false
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			values = values || slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported)
		}
	}
	if values {
		n++ // a block of constants is one name to look up
	}
	return n
}

func fuzzes(files []*source) bool {
	return slices.ContainsFunc(files, func(s *source) bool {
		return s.test && slices.ContainsFunc(s.ast.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && strings.HasPrefix(f.Name.Name, "Fuzz")
		})
	})
}
