package devtool_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters/python/devtool"
)

// TestImported: which files an import may mean.
func TestImported(t *testing.T) {
	for _, c := range []struct{ source, file, not string }{
		{"from app import _gen", "/w/app/_gen.py", "/w/app/other.py"},
		{"from .gen import x", "/w/app/gen.py", "/w/gen.py"},
		{"from . import (\n  a, # first\n  gen as g,\n)", "/w/app/gen/__init__.py", "/w/app/first.py"},
		{"from ..app.gen import x", "/w/app/gen/x.py", "/w/app/x.py"},
		{"import os, app.gen.api_pb2 as pb", "/w/app/gen/api_pb2.py", "/w/app/gen/api.py"},
		{"import os; import gen", "/w/src/gen.py", "/w/lib/gen.py"},
		{"from app.gen \\\n  import x", "/w/app/gen/x.pyi", "/w/app/x.pyi"},
		{"    import fast", "/w/app/fast.cpython-312.so", "/w/app/fast.c"},
		{"from app.gen import *", "/w/app/gen/__init__.py", "/w/app/gen/x.py"},
	} {
		list := devtool.Imported("/w", "/w/app/main.py", []byte("\n"+c.source))
		matches := func(file string) bool {
			for _, e := range list {
				rest, below := strings.CutPrefix(file, e.Path+"/")
				if e.Line != 2 {
					t.Errorf("%s: %+v", c.source, e)
				}
				if below && doublestar.MatchUnvalidated(e.Glob, rest) {
					return true
				}
			}
			return false
		}
		if !matches(c.file) || matches(c.not) {
			t.Errorf("%s: %+v", c.source, list)
		}
	}
	for _, source := range []string{"# import gen", "x = 'import'", "from gen", "import a/b", "important gen"} {
		if list := devtool.Imported("/w", "/w/app/main.py", []byte(source)); len(list) > 0 {
			t.Errorf("%s: %+v", source, list)
		}
	}
}

// FuzzImported reads any bytes as a source. Every result is a valid glob below an absolute path.
func FuzzImported(f *testing.F) {
	f.Add("import a.b, c as d; from . import (x,\ny)\nfrom ...z import *\\\n")
	f.Add("from " + strings.Repeat(".", 300) + "a import b\nfrom x import(\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range devtool.Imported("/w", "/w/app/main.py", []byte(text)) {
			if !filepath.IsAbs(e.Path) || filepath.Clean(e.Path) != e.Path || e.Line < 1 || !doublestar.ValidatePattern(e.Glob) {
				t.Fatalf("%+v", e)
			}
		}
	})
}
