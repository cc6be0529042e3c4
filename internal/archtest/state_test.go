package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// waited is, by file, the code that waits for the goroutines that it starts with a go statement. All
// other files start them with errgroup, parallel or sync.WaitGroup.Go.
var waited = map[string]string{
	"internal/watch/watch.go":          "follow, for the run",
	"internal/watch/server.go":         "stopServer",
	"internal/action/run.go":           "runServer, for the probe",
	"internal/proc/process.go":         "Wait, for the end of the child",
	"internal/proc/terminal_linux.go":  "TakeBack, for the watch of the terminal",
	"internal/observe/start_linux.go":  "Refused",
	"internal/report/terminal/live.go": "end, for the block",
	"plugin/adapter/start.go":          "startProcess, for the digest",
	"plugin/bundle/registry/clone.go":  "clone, which cancels it and waits",
	"plugin/extension/server.go":       "serve, for all but a handler that ignores its context",
	"plugin/host/host.go":              "Close, for the life of the plugin",
	"plugin/host/resident.go":          "Close, for the life of the resident",
	"plugin/host/process.go":           "the life of the plugin or the resident, for the process",
	"plugin/oneshot/run.go":            "settle, for 2 s",
	"plugin/plugintest/served.go":      "Stream.Wait",
	"plugin/plugintest/replay.go":      "Stream.Wait",
	"plugin/wasm/launcher.go":          "Stream.Wait",
}

// TestGoroutinesAreWaitedFor checks that every goroutine is waited for.
func TestGoroutinesAreWaitedFor(t *testing.T) {
	starts := make(map[string]bool)
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.path, "examples/") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				starts[s.path] = true
				if waited[s.path] == "" {
					t.Errorf("%s: no owner waits for this goroutine, according to the table in state_test.go", s.fset.Position(g.Pos()))
				}
			}
			return true
		})
	}
	for name := range waited {
		if !starts[name] {
			t.Errorf("%s starts no goroutine; remove it from the table", name)
		}
	}
}

// TestNoContextInAStruct checks that a context is passed on, and not kept.
func TestNoContextInAStruct(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			st, ok := n.(*ast.StructType)
			if !ok || s.test {
				return true
			}
			for _, f := range st.Fields.List {
				if sel, ok := f.Type.(*ast.SelectorExpr); ok && isName(sel.X, "context") && sel.Sel.Name == "Context" {
					t.Errorf("%s: a context in a struct", s.fset.Position(f.Pos()))
				}
			}
			return true
		})
	}
}

// changing are the variables of packages that change, and why.
var changing = map[string]string{
	"examples/tools/json-go.held": "bento has the addresses of these texts until the instance of the module ends",
	"internal/proc.kin":           "the kernel has one set of children for the process",
	"internal/proc.waiting":       "the process has one set of threads",
	"internal/sandbox.groups":     "the names of control groups hold the process and a number",
	"plugin.exported":             "the functions that a module exports have no receiver",
	"plugin.held":                 "bento has the addresses of these texts until the instance of the module ends",
	"internal/tomlfile.structs":   "what a type's tags say never changes",
}

// TestNoMutableGlobals checks that no function changes a variable of its package, and that no
// variable has a type for changing values. The result of sync.OnceValue is a constant that is made on
// first use.
func TestNoMutableGlobals(t *testing.T) {
	found := make(map[string]bool)
	for dir, files := range byPackage(sources(t)) {
		files = slices.DeleteFunc(files, func(s *source) bool { return s.test })
		globals := make(map[string]bool)
		for _, s := range files {
			globalsOf(s, globals, func(name string) { found[dir+"."+name] = true })
		}
		for _, s := range files {
			writesOf(s, func(id *ast.Ident) {
				if globals[id.Name] && isGlobal(s, id) {
					found[dir+"."+id.Name] = true
				}
			})
		}
	}
	for name := range found {
		if changing[name] == "" {
			t.Errorf("%s changes; keep it in a value that its owner passes on", name)
		}
	}
	for name := range changing {
		if !found[name] {
			t.Errorf("%s does not change; remove it from the table", name)
		}
	}
}

// globalsOf collects the variables that a file declares outside of functions, and reports those with
// types for changing values.
func globalsOf(s *source, globals map[string]bool, report func(name string)) {
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for _, name := range v.Names {
				globals[name.Name] = name.Name != "_"
			}
			if sel, ok := v.Type.(*ast.SelectorExpr); ok && (isName(sel.X, "sync") || isName(sel.X, "atomic")) {
				report(v.Names[0].Name)
			}
		}
	}
}

// writesOf reports the variables that a file assigns to, whole or in part.
func writesOf(s *source, report func(*ast.Ident)) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		var written []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				written = n.Lhs
			}
		case *ast.IncDecStmt:
			written = []ast.Expr{n.X}
		}
		for _, x := range written {
			if id := rootOf(x); id != nil {
				report(id)
			}
		}
		return true
	})
}

// rootOf returns the variable that an expression is part of, nil for none.
func rootOf(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// isGlobal reports whether a name of a variable of the package means that variable here: the
// parser resolves local names.
func isGlobal(s *source, id *ast.Ident) bool {
	return id.Obj == nil || s.ast.Scope.Lookup(id.Name) == id.Obj
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
