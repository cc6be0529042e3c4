package parse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/diagnostics"
)

func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 60_000 {
		severity := "warning"
		if i%100 == 0 {
			severity = "error"
		}
		fmt.Fprintf(&b, "dir/f%d.c:%d:1: %s: m\n", i%7, i+1, severity)
	}
	list := run(t, "gnu", lint(b.String()))
	if n := len(diagnostics.Errors(list)); len(list) != maxFindings || n != 600 {
		t.Errorf("%d findings, %d errors; want %d and all 600 errors", len(list), n, maxFindings)
	}
	inBounds(t, list)

	list = run(t, "gnu", lint("a.c:1: "+strings.Repeat("é", maxMessage)+"\n"))
	if len(list) != 1 || len(list[0].Message) > maxMessage || !strings.HasSuffix(list[0].Message, "é…") {
		t.Errorf("%d findings", len(list))
	}
}

// TestOnlyTheEndCounts: a long stream is cut between records, not inside one.
func TestOnlyTheEndCounts(t *testing.T) {
	pad := strings.Repeat("x", 4<<20-20)
	check(t, "gnu", lint("far/away/a.c:1: m\n"+pad+"\nb.c:2: m\n"), `svc/api/b.c:2: gnu error [] "m"`)

	element := `{"filePath":"/repo/%d.js","messages":[{"severity":2,"message":"m","line":1}],"source":"` + strings.Repeat("y", 1<<20) + `"}`
	var list []string
	for i := range 6 {
		list = append(list, fmt.Sprintf(element, i))
	}
	check(t, "eslint", lint("["+strings.Join(list, ",")+"]"),
		`3.js:1: eslint error [] "m"`, `4.js:1: eslint error [] "m"`, `5.js:1: eslint error [] "m"`)
}

// TestHostileSize: no input takes long to parse.
func TestHostileSize(t *testing.T) {
	size := 64 << 10
	if testing.Short() {
		size = 8 << 10
	}
	for name, unit := range map[string]string{
		"open": "[", "opens": "\n[{", "objects": "\n{\"", "marks": `{"filePath"`, "empty": "{}", "lines": "\n", "spaces": " ", "tags": "<testcase>",
		"colons": "a.b:1:", "panic": "panic: x\n", "fail": "--- FAIL: T\n", "frames": "\tat a.b(c.java:1)\n", "packages": "ok  \ta/b\n",
	} {
		o := lint("<testsuite " + strings.Repeat(unit, size/len(unit)))
		for _, parser := range Parsers() {
			start := time.Now()
			inBounds(t, run(t, parser, o))
			if d := time.Since(start); d > 2*time.Minute {
				t.Errorf("%s on %d KiB of %s takes %v", parser, size>>10, name, d)
			}
		}
	}
}

// Paths are resolved lexically, with "..", URLs and Windows notation (fault E9).
func TestPlace(t *testing.T) {
	f := &finder{out: diagnostics.Output{Root: "/repo"}}
	for _, c := range []struct{ base, name, want string }{
		{"/repo/a", "b.c", "a/b.c"},
		{"/repo/a", "./x/../b.c", "a/b.c"},
		{"/repo/a", "../b.c", "b.c"},
		{"/repo/a", "../../b.c", "/b.c"},
		{"/repo/a", "../../../../b.c", "/b.c"},
		{"/repo/a", "/repo/./c//d.c", "c/d.c"},
		{"/repo/a", "/repository/d.c", "/repository/d.c"},
		{"/repo/a", "/usr/include/x.h", "/usr/include/x.h"},
		{"a", "b.c", "a/b.c"},
		{"", "b.c", "b.c"},
		{"/repo/a", `d\e.c`, "a/d/e.c"},
		{"/repo/a", `C:\d\e.c`, "C:/d/e.c"},
		{"/repo/a", "file:///repo/x%20y.c", "x y.c"},
		{"/repo/a", "", ""},
		{"/\xff", "b.c", ""},
		{"/repo/a", "a\nb.c", ""},
		{"/repo/a", "a\xff.c", ""},
		{"/repo/a", strings.Repeat("a/", 3000), ""},
	} {
		if got := f.place(c.base, c.name); got != c.want {
			t.Errorf("place(%q, %q) = %q, want %q", c.base, c.name, got, c.want)
		}
	}
}
