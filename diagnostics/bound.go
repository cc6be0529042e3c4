package diagnostics

import "fmt"

// RuleTooMany is the rule of the diagnostic of Bounded.
const RuleTooMany = "too_many_entries"

// Bounded returns nil if n is at most most. Otherwise it returns a Problems with the place (a file and the
// line, 0 for none), the count, and what, the counted items.
func Bounded(file string, line int, what string, n, most int) error {
	if n <= most {
		return nil
	}
	return Problems{{
		File: file, Line: line, Severity: Error, Source: Source, Rule: RuleTooMany,
		Message: fmt.Sprintf("%d %s, expected at most %d", n, what, most),
		Hint:    "name many directories by one glob, or divide the project",
	}}
}
