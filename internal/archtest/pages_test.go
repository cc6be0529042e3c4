package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages whose claims name the tests behind them, as `package: Test/part`.
var claiming = []string{"docs/PROTOCOL.md", "docs/TOOL-PROTOCOL.md", "docs/EXTENSION-PROTOCOL-SEP.md", "docs/security.md", "docs/tool-packages.md"}

var namedTest = regexp.MustCompile("`([a-z0-9/]+: (?:Test|Fuzz)\\w+(?:/[\\w.-]+)?)`")

// TestNamedTestsExist: a test that a page names is in the tree.
func TestNamedTestsExist(t *testing.T) {
	for _, name := range claiming {
		for _, m := range namedTest.FindAllStringSubmatch(page(t, name), -1) {
			if err := testExists(t, m[1]); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			}
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// testExists looks for a function of that name in the tests of its package, and for the
// name of the part in quotes. The parts of TestScript are files.
func testExists(t *testing.T, name string) error {
	pkg, test, _ := strings.Cut(name, ": ")
	test, part, _ := strings.Cut(test, "/")
	if test == "TestScript" {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(pkg), "testdata", "script", part+".txtar"))
		return err
	}
	found, hasPart := false, part == ""
	for _, s := range byPackage(sources(t))[pkg] {
		if !s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				found = found || n.Recv == nil && n.Name.Name == test
			case *ast.BasicLit:
				text := strings.Trim(n.Value, "`\"")
				hasPart = hasPart || text == part || strings.ReplaceAll(text, " ", "_") == part
			}
			return true
		})
	}
	switch {
	case !found:
		return fmt.Errorf("there is no such test")
	case !hasPart:
		return fmt.Errorf("the test has no such part")
	}
	return nil
}

// TestSecurityPageNamesTests: the page names a test for each claim. A claim is an item of a list; the
// titles of sections without claims show that.
func TestSecurityPageNamesTests(t *testing.T) {
	claims := 0
	for _, section := range strings.Split(page(t, "docs/security.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		if strings.HasPrefix(title, "Report") || strings.HasPrefix(title, "Not ") {
			continue
		}
		for _, item := range strings.Split(text, "\n- ")[1:] {
			item, _, _ = strings.Cut(item, "\n\n")
			claims++
			if !namedTest.MatchString(item) {
				t.Errorf("docs/security.md, %q: this claim names no test:\n%s", title, item)
			}
		}
	}
	if claims < 20 {
		t.Errorf("docs/security.md has %d claims, wanted 20 or more", claims)
	}
}

var namedFunction = regexp.MustCompile("`([a-zA-Z0-9_/]+\\.go):(\\w+)`")

// TestNamedFunctionsExist: a function that CONTRIBUTING names is in the file that it names.
func TestNamedFunctionsExist(t *testing.T) {
	functions := make(map[string]bool)
	for _, s := range sources(t) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[s.path+":"+f.Name.Name] = true
			}
		}
	}
	named := namedFunction.FindAllStringSubmatch(page(t, "CONTRIBUTING.md"), -1)
	if len(named) == 0 {
		t.Error("CONTRIBUTING.md names no function as `file.go:name`")
	}
	for _, m := range named {
		if !functions[m[1]+":"+m[2]] {
			t.Errorf("CONTRIBUTING.md: %s has no function %s", m[1], m[2])
		}
	}
}
