package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// Bounds of the tree, in lines.
const (
	maxFile     = 500
	maxFunction = 60
	halfBelow   = 10 // half of all functions are not longer
	mostBelow   = 40 // nine in ten
)

// longFiles are the files that may have more than maxFile lines, by path or by directory ("/" at the
// end), with the reason. Fixtures under testdata are as long as their originals.
var longFiles = map[string]string{
	"go.sum": "written by the go command",
	"docs/":  "a reference is one page, to be searched",
}

func TestFileLength(t *testing.T) {
	for _, name := range tracked(t) {
		if excused(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue // a link, a file that was just removed, or no text
		}
		if n := bytes.Count(data, []byte("\n")); n > maxFile {
			t.Errorf("%s has %d lines, %d are allowed; split it by idea, or give a reason in longFiles", name, n, maxFile)
		}
	}
}

// excused reports whether a file, or a directory around it, is listed.
func excused(name string) bool {
	for listed := range longFiles {
		if name == listed || strings.HasSuffix(listed, "/") && strings.HasPrefix(name, listed) {
			return true
		}
	}
	return strings.Contains("/"+name, "/testdata/")
}

// function is a declaration and its length from "func" to the closing brace.
type function struct {
	name  string
	lines int
}

func TestFunctionLength(t *testing.T) {
	all := functions(t)
	sort.Slice(all, func(i, j int) bool { return all[i].lines > all[j].lines })
	for _, f := range all {
		if f.lines > maxFunction {
			t.Errorf("%s has %d lines, %d are allowed", f.name, f.lines, maxFunction)
		}
	}
	half, most := all[len(all)/2].lines, all[len(all)/10].lines
	t.Logf("%d functions: half ≤ %d lines, nine in ten ≤ %d, longest %d", len(all), half, most, all[0].lines)
	if half > halfBelow {
		t.Errorf("half of the functions have more than %d lines, wanted %d", half-1, halfBelow)
	}
	if most > mostBelow {
		t.Errorf("one function in ten has %d lines or more, wanted %d; the longest are:\n%s", most, mostBelow, listing(all[:20]))
	}
}

func functions(t *testing.T) []function {
	var all []function
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		for _, decl := range s.ast.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				from, to := s.fset.Position(f.Pos()), s.fset.Position(f.End())
				all = append(all, function{fmt.Sprintf("%s:%d: %s", s.path, from.Line, f.Name.Name), to.Line - from.Line + 1})
			}
		}
	}
	return all
}

func listing(list []function) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%4d %s\n", f.lines, f.name)
	}
	return b.String()
}
