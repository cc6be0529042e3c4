package run

import (
	"github.com/bentobuild/bento/diagnostics"
)

// warn says something once that does not stop anything.
func (e *Env) warn(code, message, hint string) {
	e.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	})
}

// WarnDamage says that an entry of the cache was damaged. It is safe for concurrent
// use.
func (e *Env) WarnDamage(err error) { e.warn(ruleDamaged, err.Error(), "") }

// Warn says something once that does not stop anything. It is safe for concurrent
// use.
func (e *Env) Warn(d diagnostics.Diagnostic) {
	if e.warnings.Note(d) {
		e.report(Warned{Diagnostic: d})
	}
}

// SumUp says how many warnings were not said because there were so many like them.
func (e *Env) SumUp() {
	for _, d := range e.warnings.SumUp() {
		e.report(Warned{Diagnostic: d})
	}
}
