package terminal

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
)

// TestDivide: a finding is untold unless a reader finds its message, its line and its hint in the output.
func TestDivide(t *testing.T) {
	d := diagnostics.Diagnostic{File: "api/main.go", Line: 5, Col: 2, Message: "undefined: x"}
	tests := []struct {
		name, output string
		change       func(*diagnostics.Diagnostic)
		told, untold int
	}{
		{name: "go", output: "# x/api\n./main.go:5:2: undefined: x\n", told: 1},
		{name: "with bento's path", output: "api/main.go:5:2: undefined: x\n"},
		{name: "another line", output: "./main.go:55:1: undefined: x\n", untold: 1},
		{name: "a longer word", output: "./main.go:5:2: undefined: xy\n", untold: 1},
		{name: "once longer, then whole", output: "undefined: xy, undefined: x\n --> main.go:5\n", told: 1},
		{name: "rustc", output: "\x1b[1merror\x1b[0m: undefined: x\n --> src/main.rs:5:2\n", told: 1},
		{name: "far away", output: "undefined: x\n" + strings.Repeat("more\n", 20) + "main.rs:5\n", untold: 1},
		{name: "JSON", output: `{"line":5,"message":"undefined: x"}` + "\n", untold: 1},
		{name: "indented JSON", output: "  \"line\": 5,\n  \"message\": \"undefined: x\"\n", untold: 1},
		{name: "the name of a test", output: "  main_test.go:5: got 1\n", change: func(d *diagnostics.Diagnostic) { d.Message = "TestF: got 1" }, told: 1},
		{name: "an untold hint", output: "main.go:5:2: undefined: x\n", change: func(d *diagnostics.Diagnostic) { d.Hint = "declare it" }, untold: 1},
		{name: "no place", output: "undefined: x\n", change: func(d *diagnostics.Diagnostic) { d.File, d.Line = "", 0 }},
		{name: "no message", output: "5\n", change: func(d *diagnostics.Diagnostic) { d.Message = "" }, untold: 1},
		{name: "no output", untold: 1},
	}
	for _, test := range tests {
		d := d
		if test.change != nil {
			test.change(&d)
		}
		told, untold := divide([]diagnostics.Diagnostic{d}, test.output, report.Style{})
		if len(told) != test.told || len(untold) != test.untold {
			t.Errorf("%s: told %v, untold %v", test.name, told, untold)
		}
	}
}
