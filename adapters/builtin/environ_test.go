package builtin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// adaptersOf names the adapters whose code is in a directory.
func adaptersOf(t *testing.T, dir string) []*adapters.Manifest {
	family := map[string]string{"golang": "go", "cargo": "cargo", "python": "python", "ruby": "ruby", "php": "php", "jvm": "jvm", "deno": "deno", "node": "node"}[dir]
	var list []*adapters.Manifest
	for _, a := range builtin.All(snapshot.Options{}) {
		m := a.Manifest()
		jvm := dir == "jvm" && (m.AdapterID == "maven" || m.AdapterID == "gradle")
		if m.FamilyName() == family || m.AdapterID == dir || jvm {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		t.Fatalf("adapters/%s: no adapter", dir)
	}
	return list
}

// Every variable that the code of an adapter reads by name is declared in its manifest: it
// would never get another.
func TestWhatIsReadIsDeclared(t *testing.T) {
	asked := 0
	for _, dir := range []string{"golang", "cargo", "python", "ruby", "php", "jvm", "deno", "node"} {
		manifests := adaptersOf(t, dir)
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for _, name := range askedFor(n) {
					asked++
					if env := adapters.NewEnviron([]string{name + "=x"}); len(env.Declared(manifests...)) == 0 {
						t.Errorf("%s: asks for %s, which the manifest does not declare", set.Position(n.Pos()), name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if asked < 50 {
		t.Errorf("only %d questions were found: how are variables asked for?", asked)
	}
}

// askedFor names the variables of a call of Get, Lookup or Env.
func askedFor(n ast.Node) (names []string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Get" && f.Sel.Name != "Lookup" && f.Sel.Name != "Env" {
		return nil
	}
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if name, err := strconv.Unquote(lit.Value); err == nil && name != "" && name == strings.ToUpper(name) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" {
			names = append(names, name)
		}
	}
	return names
}
