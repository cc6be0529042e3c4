package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEntriesAreWhole(t *testing.T) {
	var last string
	for _, e := range Codes() {
		if e.Code == last {
			t.Errorf("%s has two entries", e.Code)
		}
		last = e.Code
		if e.Meaning == "" || e.Cause == "" || e.Fix == "" {
			t.Errorf("%s lacks its meaning, cause or fix: %+v", e.Code, e)
		}
		for _, text := range []string{e.Meaning, e.Cause, e.Fix} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no whole sentence", e.Code, text)
			}
			for _, name := range ownFile.FindAllString(text, -1) {
				if name != "bento.toml" && name != "bento.plugins.lock" && name != "bento.lock" {
					t.Errorf("%s: bento has no file %q", e.Code, name)
				}
			}
		}
	}
	if _, ok := FindCode("no_such_code"); ok {
		t.Error("a code was found that there is not")
	}
}

// ownFile matches the names of bento's own files.
var ownFile = regexp.MustCompile(`bento\.[a-z]+(\.[a-z]+)*`)

// TestEveryCodeHasAnEntry finds all codes in the source of bento, and checks that each has an entry and is used.
func TestEveryCodeHasAnEntry(t *testing.T) {
	used := make(map[string]token.Position)
	fset := token.NewFileSet()
	var files []*ast.File
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "examples" || strings.HasPrefix(name, ".") && len(name) > 2):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	takers := codeTakers(files)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, lit := range codesIn(n, takers) {
				text, _ := strconv.Unquote(lit.Value)
				if isCode.MatchString(text) {
					used[text] = fset.Position(lit.Pos())
				}
			}
			return true
		})
	}
	if len(used) < 60 {
		t.Errorf("only %d codes were found in the source; the search is broken", len(used))
	}
	for code, pos := range used {
		if _, ok := FindCode(code); !ok {
			t.Errorf("%s: the code %q has no entry in internal/report/codes", pos, code)
		}
	}
	statuses := []string{"no_adapter", "skipped_diff_clean", "skipped_tool_missing"} // statuses of bento plan, which the source does not name as codes
	for _, e := range Codes() {
		if _, ok := used[e.Code]; !ok && !slices.Contains(statuses, e.Code) {
			t.Errorf("nothing prints the code %q", e.Code)
		}
	}
}

var isCode = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// codeTakers finds the functions, and the fields that hold one, that take a code, with the index of that argument.
func codeTakers(files []*ast.File) map[string]int {
	takers := make(map[string]int)
	add := func(name string, of *ast.FuncType) {
		at := 0
		for _, field := range of.Params.List {
			for _, param := range field.Names {
				if param.Name == "rule" || param.Name == "code" {
					takers[name] = at
				}
				at++
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				add(n.Name.Name, n.Type)
			case *ast.Field:
				if of, ok := n.Type.(*ast.FuncType); ok && len(n.Names) == 1 {
					add(n.Names[0].Name, of)
				}
			}
			return true
		})
	}
	return takers
}

// codesIn returns the string literals in n that are codes by their place in the syntax.
func codesIn(n ast.Node, takers map[string]int) (list []*ast.BasicLit) {
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			list = append(list, lit)
		}
	}
	switch n := n.(type) {
	case *ast.ValueSpec:
		named, _ := n.Type.(*ast.Ident)
		if of, ok := n.Type.(*ast.SelectorExpr); ok {
			named = of.Sel
		}
		for i, name := range n.Names {
			if i < len(n.Values) && (codeName.MatchString(name.Name) || named != nil && (named.Name == "Code" || named.Name == "Reason")) {
				add(n.Values[i])
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Rule" || key.Name == "Kind" && isText(n.Value, "internal")) {
			add(n.Value)
		}
	case *ast.CallExpr:
		var name string
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if at, ok := takers[name]; ok && at < len(n.Args) {
			add(n.Args[at])
		}
	}
	return list
}

var codeName = regexp.MustCompile(`^([Rr]ule|[Rr]eason|Miss)[A-Z]|^Rule$`)

func isText(e ast.Expr, text string) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && slices.Contains([]string{strconv.Quote(text)}, lit.Value)
}
