package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// function is a function or a variable of a directory. ".name" means all methods of that name there.
type function struct{ dir, name string }

// calls are the names that functions of tests and of their kits use: "name", ".name" of a method,
// and "package.Name".
type calls map[function]map[string]bool

// read adds the functions of a file, if it is a test's or imports testing.
func (c calls) read(tree fs.FS, name string) error {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	kit := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
	if !kit && !strings.HasSuffix(name, "_test.go") {
		return nil
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			of := f.Name.Name
			if f.Recv != nil {
				of = "." + of
			}
			c.add(function{path.Dir(name), of}, f)
		}
		for _, v := range variables(d) {
			for _, id := range v.Names {
				c.add(function{path.Dir(name), id.Name}, v)
			}
		}
	}
	return nil
}

// variables returns the variables of a declaration.
func variables(d ast.Decl) (list []*ast.ValueSpec) {
	if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
		for _, s := range g.Specs {
			list = append(list, s.(*ast.ValueSpec))
		}
	}
	return list
}

// add adds the names that a function or variable uses.
func (c calls) add(of function, node ast.Node) {
	if c[of] == nil {
		c[of] = make(map[string]bool)
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			c[of][n.Name] = true
		case *ast.SelectorExpr:
			c[of]["."+n.Sel.Name] = true
			if x, ok := n.X.(*ast.Ident); ok {
				c[of][x.Name+"."+n.Sel.Name] = true
			}
			ast.Inspect(n.X, visit)
			return false
		}
		return true
	}
	ast.Inspect(node, visit)
}

// shortened returns the tests that -short changes, by directory.
func (c calls) shortened() map[string][]string {
	known := make(map[function]bool)
	for changed := true; changed; {
		changed = false
		for f, used := range c {
			if !known[f] && c.asks(f.dir, used, known) {
				known[f], changed = true, true
			}
		}
	}
	tests := make(map[string][]string)
	for f := range known {
		if run(f.name) {
			tests[f.dir] = append(tests[f.dir], f.name)
		}
	}
	for _, names := range tests {
		slices.Sort(names)
	}
	return tests
}

// asks reports whether one of the names is known to ask for -short.
func (c calls) asks(dir string, used map[string]bool, known map[function]bool) bool {
	for _, name := range []string{"testing.Short", "rapid.Check", "rapid.MakeCheck"} {
		if used[name] {
			return true
		}
	}
	for f := range known {
		if f.dir == dir && used[f.name] || f.dir != dir && used[path.Base(f.dir)+"."+f.name] {
			return true
		}
	}
	return false
}

// run reports whether go test runs the function of that name.
func run(name string) bool {
	return name != "TestMain" && slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(p string) bool { return strings.HasPrefix(name, p) })
}
