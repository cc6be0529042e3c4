package parse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

func FuzzCargoMessage(f *testing.F) { fuzz(f, "cargo-message") }
func FuzzDenoLint(f *testing.F)     { fuzz(f, "deno-lint") }
func FuzzESLint(f *testing.F)       { fuzz(f, "eslint") }
func FuzzGNU(f *testing.F)          { fuzz(f, "gnu") }
func FuzzGoBuild(f *testing.F)      { fuzz(f, "go-build") }
func FuzzGoTest(f *testing.F)       { fuzz(f, "go-test") }
func FuzzGolangci(f *testing.F)     { fuzz(f, "golangci-lint") }
func FuzzJava(f *testing.F)         { fuzz(f, "gradle") }
func FuzzJSTest(f *testing.F)       { fuzz(f, "js-test") }
func FuzzJUnit(f *testing.F)        { fuzz(f, "junit") }
func FuzzMypy(f *testing.F)         { fuzz(f, "mypy") }
func FuzzPHPStan(f *testing.F)      { fuzz(f, "phpstan") }
func FuzzPHPUnit(f *testing.F)      { fuzz(f, "phpunit") }
func FuzzPytest(f *testing.F)       { fuzz(f, "pytest") }
func FuzzRuboCop(f *testing.F)      { fuzz(f, "rubocop") }
func FuzzRuff(f *testing.F)         { fuzz(f, "ruff") }
func FuzzSARIF(f *testing.F)        { fuzz(f, "sarif") }
func FuzzTSC(f *testing.F)          { fuzz(f, "tsc") }

// fuzz checks that the findings of any output are in bounds and always the same.
func fuzz(f *testing.F, parser string) {
	samples, err := filepath.Glob("testdata/" + parser + ".*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range samples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte{}, "/repo/dish", "/repo", "")
	}
	f.Add([]byte(goVerbose), []byte("a.c:1:2: x [-Wy]\n"), "", "", "m")
	f.Add([]byte(`[{"a":[{},`), []byte(`{"runs":[{"results":[{"locations":[{}]}]}]}`), "rel", "/", "/base")
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, dir, root, base string) {
		o := diagnostics.Output{Stdout: stdout, Stderr: stderr, Dir: dir, Root: root, Base: base, Module: base}
		list, err := Parse(parser, o)
		if err != nil {
			t.Fatal(err)
		}
		inBounds(t, list)
		again, _ := Parse(parser, o)
		if d := cmp.Diff(list, again); d != "" {
			t.Errorf("not the same again:\n%s", d)
		}
	})
}

func inBounds(t *testing.T, list []diagnostics.Diagnostic) {
	t.Helper()
	if len(list) > maxFindings {
		t.Errorf("%d findings", len(list))
	}
	for i, d := range list {
		if i > 0 && diagnostics.Compare(list[i-1], d) >= 0 {
			t.Errorf("not sorted, or twice: %v", d)
		}
		if d.Message == "" || d.Source == "" || rank(d.Severity) < 0 {
			t.Errorf("something is missing: %+v", d)
		}
		if outside := d.File == ""; outside != (d.Line == 0) || d.Line < 0 || outside && d.Col+d.EndLine != 0 || d.Col < 0 || d.EndLine < 0 || d.EndCol < 0 || (d.EndLine == 0) != (d.EndCol == 0) {
			t.Errorf("impossible place: %+v", d)
		}
		if len(d.Message) > maxMessage || len(d.Hint) > maxMessage || len(d.Rule) > maxName || len(d.Source) > maxName || len(d.File) > maxPath {
			t.Errorf("too long: %+v", d)
		}
		text := d.File + d.Message + d.Rule + d.Source + d.Hint
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\r\x7f") || strings.ContainsAny(d.File, "\n\\") {
			t.Errorf("not fit to show: %+v", d)
		}
	}
}
