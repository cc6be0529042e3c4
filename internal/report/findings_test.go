package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

// shelf is Places of a few texts. It fails the test if a file outside of the workspace is read.
type shelf struct {
	t     *testing.T
	files map[string]string
}

func (s shelf) Shown(file string) string { return file }

func (s shelf) Line(file string, line int) (string, bool) {
	if strings.HasPrefix(file, "/") || strings.Contains(file, "..") {
		s.t.Errorf("%q is read", file)
	}
	lines := strings.Split(s.files[file], "\n")
	if line > len(lines) {
		return "", false
	}
	return lines[line-1], true
}

// TestFindingsAreHostile: places and messages of a tool cannot steer the terminal, read a file outside of the
// workspace, or fill the screen.
func TestFindingsAreHostile(t *testing.T) {
	style := Style{Places: shelf{t, map[string]string{"a": "one\x1b[2J two\n" + strings.Repeat("wide ", 1000), "b": "\n\n"}}}
	found := func(file string, line, col int, message string) diagnostics.Diagnostic {
		return diagnostics.Diagnostic{File: file, Line: line, Col: col, Message: message, Severity: diagnostics.Error, Rule: "r\x1b"}
	}
	list := []diagnostics.Diagnostic{
		found("/etc/passwd", 1, 1, "outside"), found("../up", 1, 1, "above"), found("a\x1b[31m", 1, 1, "escape\x1b[31m"),
		found("a", 1, 5, "control"), found("a", 2, 3000, "far"), found("a", 3, 1, "behind the end"), found("b", 1, 1, "empty"),
		found("a", 1, 900, "column behind the end"), found("a", 1, 0, strings.Repeat("line\n", 50)), found("b", 2, 1, strings.Repeat("x", 5000)),
	}
	list = append(list, list...)
	var out bytes.Buffer
	WriteFindings(&out, style, list, "> ", "")
	if strings.ContainsFunc(out.String(), unprintable) {
		t.Errorf("controls are left: %q", &out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines:\n%s", len(lines), &out)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "> ") || len([]rune(line)) > 400 {
			t.Errorf("a line is %q", line)
		}
	}
	if n := strings.Count(out.String(), "outside"); n != 1 {
		t.Errorf("a finding is shown %d times", n)
	}
	for _, want := range []string{"1 | one�[2J two\n>       |     ^\n", "… 42 lines more"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

// TestFindingsWorstFirst: of many findings, the errors are shown, sorted by place.
func TestFindingsWorstFirst(t *testing.T) {
	var list []diagnostics.Diagnostic
	for i := range 60 {
		severity := []diagnostics.Severity{diagnostics.Hint, diagnostics.Warning, diagnostics.Error}[i%3]
		list = append(list, diagnostics.Diagnostic{File: "f", Line: i + 1, Message: "m", Severity: severity})
	}
	var out bytes.Buffer
	WriteFindings(&out, Style{}, list, "", "; see there")
	want := "f\n"
	for i := 2; i < 60; i += 3 {
		want += fmt.Sprintf("  %d error: m\n", i+1)
	}
	if diff := cmp.Diff(want+"and 40 more; see there\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFindingsOnce: equal findings of two tools or rules at one place are shown once. A blank line is not shown,
// and a column beyond the end of a line gets no caret.
func TestFindingsOnce(t *testing.T) {
	style := Style{Places: shelf{t, map[string]string{"a": "one\n  \ntwo"}}}
	found := func(line, col int, rule, source string) diagnostics.Diagnostic {
		return diagnostics.Diagnostic{File: "a", Line: line, Col: col, Message: "m", Severity: diagnostics.Error, Rule: rule, Source: source}
	}
	var out bytes.Buffer
	WriteFindings(&out, style, []diagnostics.Diagnostic{found(1, 2, "x", "tsc"), found(1, 2, "y", "eslint"), found(2, 1, "", ""), found(3, 9, "", "")}, "", "")
	want := "a\n  1:2 error: m [x]\n    1 | one\n      |  ^\n  2:1 error: m\n  3:9 error: m\n    3 | two\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFindingsOfNoFile: a finding without a file or a line is shown without a place.
func TestFindingsOfNoFile(t *testing.T) {
	list := []diagnostics.Diagnostic{
		{File: "a", Message: "whole", Severity: diagnostics.Warning}, {File: "a", Line: 2, Message: "line", Severity: diagnostics.Error},
		{Message: "somewhere", Severity: diagnostics.Error, Hint: "look"},
	}
	var out bytes.Buffer
	WriteFindings(&out, Style{}, list, "> ", "")
	want := "> error: somewhere\n>   hint: look\n> a\n>   warning: whole\n>   2 error: line\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
