// Package diagnostics has the one record for a problem in a user's file, regardless of its source: bento
// itself (configuration, selection), a tool whose output was parsed, or a plugin.
//
// The JSON form of Diagnostic is the wire payload of the bento adapter protocol v1 (method
// parseDiagnostics) and of bento's reports.
package diagnostics

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Severity is the severity of a Diagnostic. The values are those of the wire.
type Severity string

// The four severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
	Hint    Severity = "hint"
)

// Source is the Diagnostic.Source of bento's own diagnostics.
const Source = "bento"

// Diagnostic is one problem. Only Message, Severity and Source are always set; a problem
// without a file has an empty File and a zero Line.
type Diagnostic struct {
	File     string   `json:"file"`               // relative to the workspace, forward slashes
	Line     int      `json:"line"`               // 1-based
	Col      int      `json:"col,omitempty"`      // 1-based, in bytes
	EndLine  int      `json:"end_line,omitempty"` // inclusive, only together with EndCol
	EndCol   int      `json:"end_col,omitempty"`  // exclusive
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Rule     string   `json:"rule,omitempty"` // the tool's rule; bento's own stable code
	Source   string   `json:"source"`         // the tool that reports it
	Hint     string   `json:"hint,omitempty"` // what to do next

	// Dish and Alike are set on a problem that several dishes may share, so that people read it once. They
	// have the name of the dish and the common part of the message, such as "need uv, which is not
	// installed". Documents have one problem for each dish.
	Dish  string `json:"-"`
	Alike string `json:"-"`
}

// String returns "file:line:col: message" without the unknown parts.
func (d Diagnostic) String() string {
	if d.File == "" {
		return d.Message
	}
	return d.Where() + ": " + d.Message
}

// Where returns "file:line:col" without the unknown parts.
func (d Diagnostic) Where() string {
	if d.File == "" || d.Line == 0 {
		return d.File
	}
	at := d.File + ":" + strconv.Itoa(d.Line)
	if d.Col > 0 {
		at += ":" + strconv.Itoa(d.Col)
	}
	return at
}

// Compare orders by file, line, column, severity, message and the rest, so that the order
// does not depend on parallel work.
func Compare(a, b Diagnostic) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Col, b.Col),
		strings.Compare(string(a.Severity), string(b.Severity)),
		strings.Compare(a.Message, b.Message),
		strings.Compare(a.Rule, b.Rule),
		strings.Compare(a.Source, b.Source),
		cmp.Compare(a.EndLine, b.EndLine),
		cmp.Compare(a.EndCol, b.EndCol),
		strings.Compare(a.Hint, b.Hint),
	)
}

// Sorted returns list in the order of Compare, without duplicates. It may reuse the list's
// memory.
func Sorted(list []Diagnostic) []Diagnostic {
	slices.SortFunc(list, Compare)
	return slices.Compact(list)
}

// Errors returns the elements of list with the severity Error.
func Errors(list []Diagnostic) []Diagnostic {
	var errs []Diagnostic
	for _, d := range list {
		if d.Severity == Error {
			errs = append(errs, d)
		}
	}
	return errs
}

// Problems is the error of an operation that failed because of the user's input. It has all problems, at
// least one of severity Error, so that one run shows them all.
type Problems []Diagnostic

// Error returns the problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, d := range p {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Refuse returns the error of something that the user has named, such as a flag or a package, and that bento refuses.
func Refuse(rule, hint, format string, args ...any) error {
	return Problems{Pos{}.Error(rule, format, args...).WithHint(hint)}
}

// AsError returns list as Problems if it has an error, else nil.
func AsError(list []Diagnostic) error {
	if len(Errors(list)) == 0 {
		return nil
	}
	return Problems(Sorted(list))
}
