package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

var (
	// jest, vitest, "node --test" as a list and as TAP; mocha numbers its failures.
	jsTitle = pattern.New(`^\s*(?:● (\S.* › .*)| FAIL  ?(\S+ > .*)|✖ (\S.*?)(?: \([\d.]+ms\))?|not ok \d+ - (\S.*))$`)
	jsMocha = pattern.New(`^\s+\d+\) (\S.*)$`)
	jsError = pattern.New(`^\s*((?:error|[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?): ?)(\S.*)$`)
	jsBun   = pattern.New(`^\((fail|pass)\) (\S.*?)(?: \[[\d.]+ms\])?$`)
	jsAt    = pattern.New(`^\s*(?:at|❯) (?:.*[ (])?([^\s()]+):(\d+):(\d+)\)?$`)
	jsTAP   = pattern.New(`^\s+(?:.*\()?((?:file://|/)[^()]+):(\d+):(\d+)\)?$`)
)

// jsTests reads the failures of a runner one after the other: a title, a message, and the frames of a stack, of
// which the first in the workspace is the place.
type jsTests struct {
	finder  *finder
	title   string
	message string
	mocha   bool                   // the title may go on
	tap     bool                   // frames have no "at"
	block   bool                   // of TAP: the next text is the message
	waiting diagnostics.Diagnostic // of bun, which names the test after its failure
}

// parseJSTest reads the text of jest, vitest, mocha, "bun test" and "node --test", and the errors of a
// compiler that runs before them. A stack that belongs to no failed test is no finding.
func parseJSTest(f *finder) {
	parseTSC(f)
	f.tool = "test"
	t := &jsTests{finder: f}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		t.line(line)
	}
}

func (t *jsTests) line(line string) {
	if m := jsTitle.FindStringSubmatch(line); m != nil {
		*t = jsTests{finder: t.finder, title: m[1] + m[2] + m[3] + m[4], tap: m[4] != ""}
		return
	}
	if m := jsMocha.FindStringSubmatch(line); m != nil {
		*t = jsTests{finder: t.finder, title: m[1], mocha: true}
		return
	}
	if m := jsBun.FindStringSubmatch(line); m != nil {
		if m[1] == "fail" && t.waiting.File != "" {
			t.waiting.Message = m[2] + ": " + t.waiting.Message
			t.finder.add(t.waiting)
		}
		*t = jsTests{finder: t.finder}
		return
	}
	if !t.frame(line) {
		t.text(line)
	}
}

// frame takes a line of a stack, and reports whether it is one.
func (t *jsTests) frame(line string) bool {
	m := jsAt.FindStringSubmatch(line)
	if m == nil && t.tap {
		m = jsTAP.FindStringSubmatch(line)
	}
	if m == nil {
		return false
	}
	if t.message == "" || strings.HasPrefix(m[1], "node:") || !t.finder.ours(m[1]) {
		return true
	}
	d := diagnostics.Diagnostic{File: m[1], Line: number(m[2]), Col: number(m[3]), Severity: diagnostics.Error, Message: t.message}
	if t.title == "" {
		t.waiting = d
	} else {
		d.Message = t.title + ": " + d.Message
		t.finder.add(d)
	}
	t.title, t.message, t.mocha = "", "", false
	return true
}

// text takes the message: the line of an error, else the first after the title.
func (t *jsTests) text(line string) {
	text := strings.TrimSpace(line)
	m := jsError.FindStringSubmatch(line)
	switch {
	case text == "":
	case t.mocha && strings.HasSuffix(text, ":") && t.message == "":
		t.title, t.mocha = t.title+" "+strings.TrimSuffix(text, ":"), false
	case t.mocha && t.message == "" && m == nil && len(t.title) < maxName:
		t.title += " " + text // a suite in a suite
	case t.message != "" || t.title == "" && m == nil:
	case t.tap && m == nil:
		if t.block {
			t.message, t.block = text, false
		}
	case t.tap && strings.HasPrefix(m[2], "|"):
		t.block = true
	case m != nil:
		t.message = strings.Trim(strings.TrimPrefix(m[1], "error: ")+m[2], "'")
	default:
		t.message = text
	}
}
