package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

var (
	pytestSection = pattern.New(`^={3,} (.+?) ={3,}$`)
	pytestTitle   = pattern.New(`^_{3,} (?:ERROR (?:collecting|at setup of|at teardown of) )?(.+?) _{3,}$`)
	pytestPlace   = pattern.New(`^(\S.*?\.\w+):(\d+): ?(.*)$`)
	pytestError   = pattern.New(`^E( {2,}.*)?$`)
	pytestSummary = pattern.New(`^(?:FAILED|ERROR) (\S.*?\.py)(?:::(\S+))?(?: - (.+))?$`)
	pythonFrame   = pattern.New(`^(?:E?\s+)File "(.+)", line (\d+)`)
)

// pytest reads lines one after the other.
type pytest struct {
	finder  *finder
	inside  bool   // the sections with tracebacks
	title   string // test or file; "" outside of a block
	errors  []string
	size    int
	at      diagnostics.Diagnostic // the innermost place in the workspace so far
	located map[string]bool        // files with a diagnostic
}

// parsePytest reads pytest's text with any --tb: each part has a title, a traceback and the
// error. Without tracebacks it reads the summary.
// https://docs.pytest.org/en/stable/how-to/output.html
func parsePytest(f *finder) {
	f.tool = "pytest"
	p := &pytest{finder: f, located: make(map[string]bool)}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		p.line(line)
	}
	p.flush()
}

func (p *pytest) line(line string) {
	if m := pytestSection.FindStringSubmatch(line); m != nil {
		p.flush()
		p.inside = m[1] == "FAILURES" || m[1] == "ERRORS"
	} else if m := pytestTitle.FindStringSubmatch(line); m != nil && p.inside {
		p.flush()
		p.title = m[1]
	} else if m := pytestSummary.FindStringSubmatch(line); m != nil && !p.inside {
		p.summary(m[1], m[2], m[3])
	} else if p.inside {
		p.traceback(line)
	}
}

func (p *pytest) traceback(line string) {
	if m := pytestError.FindStringSubmatch(line); m != nil && p.size < maxMessage {
		p.errors = append(p.errors, m[1])
		p.size += len(line)
	}
	m := pytestPlace.FindStringSubmatch(line)
	if m == nil {
		m = pythonFrame.FindStringSubmatch(line)
	}
	if m == nil || !p.finder.ours(m[1]) {
		return
	}
	p.at = diagnostics.Diagnostic{File: m[1], Line: number(m[2]), Severity: diagnostics.Error}
	if p.title == "" && len(m) > 3 { // --tb=line
		p.at.Message = m[3]
		p.flush()
	}
}

// flush ends a block.
func (p *pytest) flush() {
	if p.at.File == "" && p.title != "" && strings.HasSuffix(p.title, ".py") {
		p.at = diagnostics.Diagnostic{File: p.title, Severity: diagnostics.Error}
	}
	if p.at.File != "" {
		if p.title != "" {
			p.at.Message = p.title + ": " + p.message()
		}
		p.located[p.finder.place(p.finder.base(), p.at.File)] = true
		p.finder.add(p.at)
	}
	p.title, p.errors, p.size, p.at = "", nil, 0, diagnostics.Diagnostic{}
}

func (p *pytest) message() string {
	if len(p.errors) == 0 {
		return "failed"
	}
	indent := maxMessage
	for _, line := range p.errors {
		if text := strings.TrimLeft(line, " "); text != "" {
			indent = min(indent, len(line)-len(text))
		}
	}
	var b strings.Builder
	for _, line := range p.errors {
		b.WriteString(line[min(indent, len(line)):] + "\n")
	}
	return strings.TrimSpace(b.String())
}

// summary reads the line about a test whose file has no diagnostic so far.
func (p *pytest) summary(file, test, message string) {
	if p.located[p.finder.place(p.finder.base(), file)] {
		return
	}
	if message == "" {
		message = "failed"
	}
	if test != "" {
		message = test + ": " + message
	}
	p.finder.add(diagnostics.Diagnostic{File: file, Severity: diagnostics.Error, Message: message})
}
