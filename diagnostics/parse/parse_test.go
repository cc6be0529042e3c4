package parse

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

var update = flag.Bool("update", false, "write the .want files")

// TestSamples parses real output of tools: testdata/<parser>.<case>.txt.
func TestSamples(t *testing.T) {
	samples, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	for _, sample := range samples {
		name := strings.TrimSuffix(filepath.Base(sample), ".txt")
		t.Run(name, func(t *testing.T) {
			parser, _, _ := strings.Cut(name, ".")
			got := show(run(t, parser, diagnostics.Output{Stdout: read(t, sample), Dir: "/repo", Root: "/repo"}))
			want := strings.TrimSuffix(sample, ".txt") + ".want"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(read(t, want)), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func run(t *testing.T, parser string, o diagnostics.Output) []diagnostics.Diagnostic {
	t.Helper()
	list, err := Parse(parser, o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// show returns one line for each finding.
func show(list []diagnostics.Diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		at := d.Where()
		if d.EndLine > 0 {
			at += fmt.Sprintf("-%d:%d", d.EndLine, d.EndCol)
		}
		fmt.Fprintf(&b, "%s: %s %s [%s] %q", at, d.Source, d.Severity, d.Rule, d.Message)
		if d.Hint != "" {
			fmt.Fprintf(&b, " hint %q", d.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A parser exists for every language of a built-in adapter, and not only for JSON (fault E8).
func TestParsers(t *testing.T) {
	for _, name := range []string{
		"cargo-message", "golangci-lint", "eslint", "ruff", "go-test", "go-build", "tsc", "pytest", "mypy", "junit", "sarif",
		"javac", "maven", "gradle", "rubocop", "phpstan", "phpunit", "deno-lint", "gnu",
	} {
		if !slices.Contains(Parsers(), name) {
			t.Errorf("there is no parser %s", name)
		}
	}
	if !slices.IsSorted(Parsers()) {
		t.Error("not sorted")
	}
	for _, name := range Parsers() {
		if list, err := Parse(name, diagnostics.Output{}); err != nil || len(list) != 0 {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	if _, err := Parse("plugin", diagnostics.Output{}); err == nil || err.Error() != `"plugin": no such diagnostics parser` {
		t.Error(err)
	}
}
