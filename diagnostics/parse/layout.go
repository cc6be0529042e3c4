package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse/raw"
	"github.com/bentobuild/bento/internal/pattern"
)

// The layouts for people that more than one tool writes.

var (
	arrowLine = pattern.New(`^\s*--> (.+?):(\d+):(\d+)$`)
	headline  = pattern.New(`^(?:(error|warning|note|help)(?:\[([^\]]+)\])?: |([A-Z]{1,5}\d{1,5}|invalid-syntax|SyntaxError):? (?:\[\*\] )?)(.+)$`)
)

// arrows reads a headline followed by "  --> file:line:col", as rustc, ruff and
// deno write it. Notes and help belong to the finding before them and are left out.
func (f *finder) arrows(grade func(level, rule, message string) diagnostics.Severity) {
	head := ""
	for line := range raw.Lines(f.out.Stdout, f.out.Stderr) {
		at := arrowLine.FindStringSubmatch(line)
		if at == nil {
			if line != "" && line[0] != ' ' {
				head = line
			}
			continue
		}
		m := headline.FindStringSubmatch(head)
		head = ""
		if m == nil || m[1] == "note" || m[1] == "help" {
			continue
		}
		rule := m[2] + m[3]
		f.addAt(f.rustBase("", "", at[1]), diagnostics.Diagnostic{File: at[1], Line: raw.Number(at[2]), Col: raw.Number(at[3]),
			Severity: grade(m[1], rule, m[4]), Message: m[4], Rule: rule})
	}
}

var stylishLine = pattern.New(`^\s+(\d+):(\d+)\s+(error|warning)\s+(.+?)(?:\s{2,}(\S+))?$`)

// stylish reads a file's name alone on a line and its findings below it, as
// eslint does without an option.
func (f *finder) stylish() {
	file := ""
	for line := range raw.Lines(f.out.Stdout, f.out.Stderr) {
		m := stylishLine.FindStringSubmatch(line)
		switch {
		case m != nil && file != "":
			f.add(diagnostics.Diagnostic{File: file, Line: raw.Number(m[1]), Col: raw.Number(m[2]), Severity: diagnostics.Severity(m[3]), Message: m[4], Rule: m[5]})
		case m == nil:
			file = ""
			if strings.ContainsAny(line, `/\`) && raw.LooksLikeFile(line, true) {
				file = line
			}
		}
	}
}
