package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// gnuStyle is how tools that write "file:line:col: message" differ.
type gnuStyle struct {
	severity diagnostics.Severity                            // of lines that have none
	grade    func(rule, message string) diagnostics.Severity // instead, if set
	linter   bool                                            // the message ends in the name of the rule in parentheses
	fold     bool                                            // lines that start with a tab continue the message
}

// parseGNU reads the form of the GNU coding standards, which compilers and
// linters of many languages share: gcc, clang, flake8, shellcheck, yamllint.
// https://www.gnu.org/prep/standards/html_node/Errors.html
func parseGNU(f *finder) { f.gnuLines(gnuStyle{severity: diagnostics.Error}) }

// parseMypy reads mypy's text and its --output=json, whose columns count from zero.
// https://mypy.readthedocs.io/en/stable/command_line.html#cmdoption-mypy-output
func parseMypy(f *finder) {
	type finding struct {
		File, Message, Hint, Code, Severity string
		Line, Column                        int
	}
	for doc := range documents(`{"file"`, f.out.Stdout, f.out.Stderr) {
		for _, m := range eachOf[finding](doc) {
			f.add(diagnostics.Diagnostic{File: m.File, Line: m.Line, Col: m.Column + 1, Severity: severityOf(m.Severity, diagnostics.Error),
				Message: m.Message, Rule: m.Code, Hint: m.Hint})
		}
	}
	f.gnuLines(gnuStyle{severity: diagnostics.Error})
}

func (f *finder) gnuLines(style gnuStyle) {
	g := &gnu{finder: f, style: style}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		g.line(line)
	}
	g.flush()
}

// gnu reads lines one after the other.
type gnu struct {
	finder *finder
	style  gnuStyle
	last   diagnostics.Diagnostic // may continue; no File: none
}

func (g *gnu) line(line string) {
	if g.style.fold && g.last.File != "" && strings.HasPrefix(line, "\t") && len(g.last.Message) < maxMessage {
		g.last.Message += "\n" + line
		return
	}
	g.flush()
	g.last, _ = gnuFinding(line, g.style)
}

func (g *gnu) flush() {
	if g.last.File != "" {
		g.finder.add(g.last)
	}
	g.last = diagnostics.Diagnostic{}
}

var (
	gnuLine = pattern.New(`^([^\s:].*?):(\d+)(?::(\d+))?(?::(\d+):(\d+))?: ?` +
		`(?:(?i:(fatal error|error|warning|note|info|remark|hint)|([CWEFRI]))(?:\[([\w:.-]+)\])?(?::| -) ?)?(.*)$`)
	codeFirst  = pattern.New(`^([A-Z]{1,5}\d{1,5}|invalid-syntax|[A-Z]\w+/\w+):? (.+)$`)
	fixable    = pattern.New(`^\[(?:\*|Correctable)\] `)
	codeLast   = pattern.New(`^(.*\S)\s+(?:\[(-W[^\]]+|[a-z][\w-]*)\]|\(([A-Z]{1,3}\d{4})\))$`)
	linterLast = pattern.New(`^(.*\S)\s+\(([a-z][\w-]*)\)$`)
)

func gnuFinding(line string, style gnuStyle) (diagnostics.Diagnostic, bool) {
	m := gnuLine.FindStringSubmatch(line)
	if m == nil || m[9] == "" || !looksLikeFile(m[1], m[6] != "") {
		return diagnostics.Diagnostic{}, false
	}
	d := diagnostics.Diagnostic{File: m[1], Line: number(m[2]), Col: number(m[3]), Rule: m[8], Message: m[9]}
	if m[5] != "" { // mypy --show-error-end, inclusive
		d.EndLine, d.EndCol = number(m[4]), number(m[5])+1
	}
	takeRule(&d, style)
	d.Severity = severityOf(m[6]+m[7], style.severity)
	if style.grade != nil {
		d.Severity = style.grade(d.Rule, d.Message)
	}
	return d, true
}

// takeRule moves the name of the rule out of the message.
func takeRule(d *diagnostics.Diagnostic, style gnuStyle) {
	d.Message = fixable.ReplaceAllString(d.Message, "")
	if m := codeFirst.FindStringSubmatch(d.Message); m != nil && d.Rule == "" {
		d.Rule, d.Message = m[1], fixable.ReplaceAllString(m[2], "")
	}
	if m := codeLast.FindStringSubmatch(d.Message); m != nil && d.Rule == "" {
		d.Rule, d.Message = m[2]+m[3], m[1]
	}
	if m := linterLast.FindStringSubmatch(d.Message); m != nil && d.Rule == "" && style.linter {
		d.Rule, d.Message = m[2], m[1]
	}
}
