package jvm

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
)

// ProblemAt returns a diagnostic about a place in the user's files.
func ProblemAt(s diagnostics.Severity, rule, path string, line int, hint, format string, args ...any) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: path, Line: line, Severity: s, Rule: rule, Source: diagnostics.Source,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}
