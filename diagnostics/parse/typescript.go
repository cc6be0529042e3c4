package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

var (
	tscPlain  = pattern.New(`^(\S.*?)\((\d+),(\d+)\): (error|warning|message) (TS\d+): (.*)$`)
	tscPretty = pattern.New(`^(\S.*?):(\d+):(\d+) - (error|warning|message) (TS\d+): (.*)$`)
	denoHead  = pattern.New(`^(?:error: )?(TS\d+) \[(ERROR|WARN)\]: (.*)$`)
	denoPlace = pattern.New(`^\s+at (\S.*):(\d+):(\d+)$`)
)

// tsc reads lines one after the other.
type tsc struct {
	finder *finder
	last   diagnostics.Diagnostic // may continue; no Rule: none
}

// parseTSC reads tsc with --pretty or without, and "deno check".
func parseTSC(f *finder) {
	f.tool = "tsc"
	t := &tsc{finder: f}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		t.line(line)
	}
	t.flush()
}

func (t *tsc) line(line string) {
	m := tscPlain.FindStringSubmatch(line)
	if m == nil {
		m = tscPretty.FindStringSubmatch(line)
	}
	if m != nil {
		t.flush()
		t.last = diagnostics.Diagnostic{File: withoutLabel(m[1]), Line: number(m[2]), Col: number(m[3]),
			Severity: severityOf(m[4], diagnostics.Info), Rule: m[5], Message: m[6]}
		return
	}
	if m := denoHead.FindStringSubmatch(line); m != nil {
		t.flush()
		t.last = diagnostics.Diagnostic{Severity: severityOf(m[2], diagnostics.Error), Rule: m[1], Message: m[3], Source: "deno"}
		return
	}
	t.more(line)
}

// more reads a line after a message: tsc writes the reasons below it, two spaces in; deno
// writes the code and then its place.
func (t *tsc) more(line string) {
	at := denoPlace.FindStringSubmatch(line)
	switch {
	case t.last.Rule == "":
	case t.last.File == "" && at != nil:
		t.last.File, t.last.Line, t.last.Col = at[1], number(at[2]), number(at[3])
		t.flush()
	case t.last.File == "":
	case strings.HasPrefix(line, "  ") && len(t.last.Message) < maxMessage:
		t.last.Message += "\n" + line
	default:
		t.flush()
	}
}

func (t *tsc) flush() {
	t.finder.add(t.last) // dropped if it has no file
	t.last = diagnostics.Diagnostic{}
}

// withoutLabel removes the label that package managers put before each line of a script
// that they run in several packages: "@scope/lib build: src/a.ts".
func withoutLabel(name string) string {
	if i := strings.LastIndex(name, ": "); i >= 0 {
		return name[i+2:]
	}
	return name
}
