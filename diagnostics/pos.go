package diagnostics

import "fmt"

// RuleInvalid is the rule of a value in a file that is not valid.
const RuleInvalid = "invalid_value"

// Pos is a position in a file. The zero value is none.
type Pos struct {
	File string
	Line int // 1-based
	Col  int // 1-based, in bytes
}

// String returns "file:line:col" without the unknown parts.
func (p Pos) String() string {
	return Diagnostic{File: p.File, Line: p.Line, Col: p.Col}.Where()
}

// Error returns the diagnostic of an error at p.
func (p Pos) Error(rule, format string, args ...any) Diagnostic {
	return Diagnostic{
		File: p.File, Line: p.Line, Col: p.Col,
		Severity: Error,
		Message:  fmt.Sprintf(format, args...),
		Rule:     rule,
		Source:   Source,
	}
}

// Warning returns the diagnostic of a warning at p.
func (p Pos) Warning(rule, format string, args ...any) Diagnostic {
	d := p.Error(rule, format, args...)
	d.Severity = Warning
	return d
}

// WithHint returns d with a hint.
func (d Diagnostic) WithHint(hint string) Diagnostic {
	d.Hint = hint
	return d
}
