package run

import (
	"github.com/bentobuild/bento/diagnostics"
)

// warn reports a warning once.
func (e *Env) warn(code, message, hint string) {
	e.Warn(diagnostics.Pos{}.Warning(code, "%s", message).WithHint(hint))
}

// WarnDamage warns that an entry of the cache was damaged. It is safe for concurrent use.
func (e *Env) WarnDamage(err error) { e.warn(ruleDamaged, err.Error(), "") }

// Warn reports, once, a problem that does not stop the run. It is safe for concurrent use.
func (e *Env) Warn(d diagnostics.Diagnostic) { e.warnAll([]diagnostics.Diagnostic{d}) }

// warnAll is Warn for a list, which is reported in one event.
func (e *Env) warnAll(list []diagnostics.Diagnostic) {
	var news []diagnostics.Diagnostic
	for _, d := range list {
		if e.warnings.Note(d) {
			news = append(news, d)
		}
	}
	if len(news) > 0 {
		e.report(Warned{Diagnostics: news})
	}
}

// SumUp reports the number of warnings of each kind that were left out because there were so many.
func (e *Env) SumUp() {
	if sums := e.warnings.SumUp(); len(sums) > 0 {
		e.report(Warned{Diagnostics: sums})
	}
}
