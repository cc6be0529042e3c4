package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// The plain layouts that more than one tool writes.

var (
	arrowLine = pattern.New(`^\s*--> (.+?):(\d+):(\d+)$`)
	headline  = pattern.New(`^(?:(error|warning|note|help)(?:\[([^\]]+)\])?: |([A-Z]{1,5}\d{1,5}|invalid-syntax|SyntaxError):? (?:\[\*\] )?)(.+)$`)
)

// arrows reads a headline followed by " --> file:line:col", as rustc, ruff and deno write
// it. It leaves out notes and help, which belong to the diagnostic before them.
func (f *finder) arrows(grade func(level, rule, message string) diagnostics.Severity) {
	head := ""
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
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
		f.addAt(f.rustBase("", "", at[1]), diagnostics.Diagnostic{File: at[1], Line: number(at[2]), Col: number(at[3]),
			Severity: grade(m[1], rule, m[4]), Message: m[4], Rule: rule})
	}
}

var stylishLine = pattern.New(`^\s+(\d+):(\d+)\s+(error|warning)\s+(.+?)(?:\s{2,}(\S+))?$`)

// stylish reads a file's name alone on a line and its diagnostics below it, as eslint
// writes them by default.
func (f *finder) stylish() {
	file := ""
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		m := stylishLine.FindStringSubmatch(line)
		switch {
		case m != nil && file != "":
			f.add(diagnostics.Diagnostic{File: file, Line: number(m[1]), Col: number(m[2]), Severity: diagnostics.Severity(m[3]), Message: m[4], Rule: m[5]})
		case m == nil:
			file = ""
			if strings.ContainsAny(line, `/\`) && looksLikeFile(line, true) {
				file = line
			}
		}
	}
}
