package yamldoc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// show writes a node in one line.
func show(n *jsonfile.Value) string {
	switch n.Kind() {
	case jsonfile.Object:
		var parts []string
		for _, p := range n.Members() {
			parts = append(parts, fmt.Sprintf("%d %q=%s", p.Line, p.Name, show(p.Value)))
		}
		return fmt.Sprintf("%d{%s}", n.Line(), strings.Join(parts, " "))
	case jsonfile.Array:
		var parts []string
		for _, item := range n.Items() {
			parts = append(parts, show(item))
		}
		return fmt.Sprintf("%d[%s]", n.Line(), strings.Join(parts, " "))
	case jsonfile.String:
		return fmt.Sprintf("%d%q", n.Line(), n.Text())
	}
	return "null"
}

func showAll(docs []*jsonfile.Value) string {
	var lines []string
	for _, d := range docs {
		lines = append(lines, show(d))
	}
	return strings.Join(lines, "\n")
}

const lockfile = `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true

importers:

  .: {}

  packages/app:
    dependencies:
      '@ex/lib':
        specifier: workspace:*
        version: link:../lib   # ours
      "chalk":
        specifier: 'catalog:'

packages:

  chalk@4.1.2(react@18.0.0):
    resolution: {integrity: sha512-a+b/c==, tarball: https://x.invalid/a.tgz}
    engines: {node: '>=10', npm: ^8 || >=9}
    deprecated: |-
      Old.
        Use ü: new.
    os: [darwin, '!linux']
    cpu:
    - x64
    -   arm64
    hasBin: true
    peers: ~
    none:

snapshots:
  ? odd
`

func TestFast(t *testing.T) {
	text := strings.TrimSuffix(lockfile, "  ? odd\n")
	fast, ok := parseFast(text)
	if !ok {
		t.Fatal("the fast parser gives up")
	}
	full, err := parseFull([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(showAll(full), showAll(fast)); diff != "" {
		t.Error(diff)
	}
	doc := fast[0]
	app := doc.Get("importers", "packages/app", "dependencies", "@ex/lib")
	if app.Get("version").Text() != "link:../lib" || app.Line() != 13 || doc.Get("importers", "nobody", "x").Kind() != 0 {
		t.Errorf("%s", show(app))
	}
	p := doc.Get("packages", "chalk@4.1.2(react@18.0.0)")
	if got := p.Get("deprecated").Text(); got != "Old.\n  Use ü: new." || p.Get("os").Items()[1].Text() != "!linux" || p.Get("peers").Kind() != jsonfile.Null {
		t.Errorf("%q", got)
	}
}

func TestDocuments(t *testing.T) {
	for _, text := range []string{"---\na: 1\n---\nb: 2\n", "a: 1\n---\nb:\n  c: 3\n", "a:\n---\nb: 2"} {
		fast, ok := parseFast(text)
		full, err := parseFull([]byte(text))
		if !ok || err != nil || len(fast) != 2 || showAll(fast) != showAll(full) {
			t.Errorf("%q: %v, %v\n%s\n%s", text, ok, err, showAll(fast), showAll(full))
		}
	}
}

func TestWhatPeopleWrite(t *testing.T) {
	docs, err := Parse("pnpm-workspace.yaml", []byte("\xef\xbb\xbf# ours\r\npackages: &globs\r\n  - 'packages/*'\r\n  - \"!**/x\\u0061\"\r\nmore: *globs\r\nlong: >-\r\n  a\r\n  b\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	d := docs[0]
	if d.Get("packages").Items()[1].Text() != "!**/xa" || len(d.Get("more").Items()) != 2 || d.Get("long").Text() != "a b" || d.Get("long").Line() != 6 {
		t.Errorf("%s", show(d))
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n c: d\n":                      "p:2: not valid YAML: mapping values are not allowed",
		"a: [\n":                             "p:1: not valid YAML: did not find expected node content",
		"a: 1\nb: 2\na: 3\n":                 `p:3: not valid YAML: the key "a" occurs twice`,
		"<<<<<<< HEAD\na: 1\n=======\n":      "p:2: not valid YAML: mapping values are not allowed",
		"a: 1\n? [x]\n: 2\n":                 "p:2: not valid YAML: a key that is not a string",
		"\tx: 1\n":                           "p:1: not valid YAML: found character that cannot start any token",
		strings.Repeat("[", 20_000):          "p:1: not valid YAML:",
		strings.Repeat("- ", 600) + "x":      "p:1: not valid YAML: nested deeper than 500",
		bomb():                               "p:1: not valid YAML: aliases stand for more than 20000 values",
		"a: &a [*a]\n":                       "p:1: not valid YAML:",
		"? a\n" + strings.Repeat("#", 5<<20): "p:1: not valid YAML: larger than 4 MiB, and not in the layout of a package manager",
	} {
		_, err := Parse("p", []byte(text))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), want) || problems[0].Rule != RuleSyntax {
			t.Errorf("%.30q gave %.200v, want %s", text, err, want)
		}
	}
	if _, err := Parse("p", nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// FuzzParse: what the fast parser takes means the same to the full one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{lockfile, "a: b\n---\n- 'x'\n- {a: [b, 'c'], \"d\": e}\n", "a: |\n  x\n   y\nb: ~ # z\n", "__metadata:\n  version: 8\n\n\"a@npm:1, a@npm:2\":\n  bin:\n    x: ./y.js\n"} {
		f.Add(seed)
	}
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if fast, ok := parseFast(text); ok {
			full, err := parseFull([]byte(text))
			if err != nil {
				t.Fatalf("the fast parser takes what is none: %v", err)
			}
			if diff := cmp.Diff(showAll(full), showAll(fast)); diff != "" {
				t.Fatal(diff)
			}
		}
		lines := 1 + strings.Count(text, "\n")
		_, err := Parse("f", []byte(text))
		var problems diagnostics.Problems
		if err != nil && (!errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Line > lines+1) {
			t.Fatalf("line of %v, of %d", err, lines)
		}
	})
}
