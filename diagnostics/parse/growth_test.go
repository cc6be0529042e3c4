package parse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/growth"
)

// No parser needs more than n log n for n times as much output: samples of real tools, findings of many
// files, and output that no tool writes.
func TestParsingGrowsWithTheOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time and memory")
	}
	read := func(parser string) func([]byte) any {
		return func(data []byte) any {
			list, err := Parse(parser, diagnostics.Output{Stdout: data, Dir: "/repo/dish", Root: "/repo"})
			return []any{list, err}
		}
	}
	readers := make(map[string]growth.Reader)
	samples, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		parser, _, _ := strings.Cut(name, ".")
		readers[name] = growth.Of(read(parser), func(n int) string { // an entry is about a line
			return strings.Repeat(string(text)+"\n", max(1, n*100/len(text)))
		})
	}
	list := growth.List
	for name, of := range map[string]func(int) string{
		"lines":     list("", "dir/f%d.c:%d:1: error: m [-W%d]\n", "", ""),
		"goes on":   list("a.c:1: error: m\n", "    and so on %d\n", "", ""),
		"documents": list("", "{\"filePath\":\"/repo/%d.js\",\"messages\":[{\"severity\":2,\"message\":\"m\",\"line\":1}]}\n", "", ""),
		"array":     list("[", `{"filePath":"/repo/%d.js","messages":[{"severity":2,"message":"m","line":1}]}`, ",", "]"),
		"open":      list("", "[{\"k%d\":", "", ""),
		"opens":     list("", "\n[{\"%d", "", ""),
		"marks":     list("", "{\"filePath\"", "", ""),
		"suites":    list("<testsuites>", `<testsuite name="s%d"><testcase name="t%d" file="f%d.py" line="1"><failure message="m">f%d.py:1</failure></testcase></testsuite>`, "", "</testsuites>"),
		"nested":    list("", "<testsuite name=\"s%d\">", "", ""),
		"frames":    list("--- FAIL: T\npanic: x\n", "\tat a.b(c%d.java:1)\n", "", ""),
		"failures":  list("", "--- FAIL: T%d (0.00s)\n    x_test.go:%d: m\n", "", ""),
		"packages":  list("", "# p%d\n./f.go:1:1: m\nFAIL\tp%d [build failed]\n", "", ""),
		"sarif":     list(`{"version":"2.1.0","runs":[{"results":[`, `{"ruleId":"r%d","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"f%d.c"},"region":{"startLine":1}}}]}`, ",", "]}]}"),
		"one line":  list("", "a%d:1:", "", ""),
		"escapes":   list("", "\x1b[%dm\x1b]8;;", "", ""),
		"blanks":    list("", " \n", "", ""),
	} {
		for _, parser := range Parsers() {
			if parser == "javac" || parser == "maven" {
				continue // the same as gradle
			}
			readers[parser+" of "+name] = growth.Of(read(parser), of)
		}
	}
	growth.Check(t, readers)
}
