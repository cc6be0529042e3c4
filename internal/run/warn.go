package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
)

// maxLike is how many warnings of a kind are said; the others are counted, and are in
// the report.
const maxLike = 5

// maxWarnings bounds how many warnings a report has.
const maxWarnings = 10_000

// ruleCacheDamaged is the rule of an entry of the cache that was damaged.
const ruleCacheDamaged = "cache_damaged"

// kindOf gives what kind of warning a rule is of. Of one that is about the machine,
// and not about one of many things, once is enough, however the words differ.
func kindOf(rule string) (kind string, once bool) {
	switch rule {
	case "cache_unwritable", "cache_unreadable":
		return "cache", true
	case "state_unwritable", "log_unwritable":
		return "state", true
	}
	return rule, false
}

// warn says something once that does not stop anything.
func (e *Env) warn(code, message, hint string) {
	e.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	})
}

// WarnDamage says that an entry of the cache was damaged. It is safe for concurrent
// use.
func (e *Env) WarnDamage(err error) { e.warn(ruleCacheDamaged, err.Error(), "") }

// Warn says something once that does not stop anything. It is safe for concurrent
// use.
func (e *Env) Warn(d diagnostics.Diagnostic) {
	if e.noteWarning(d) {
		e.report(Warned{Diagnostic: d})
	}
}

// noteWarning tells whether a warning is to be said.
func (e *Env) noteWarning(d diagnostics.Diagnostic) bool {
	id := d.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said == nil {
		e.said, e.like = make(map[string]bool), make(map[string]int)
	}
	kind, once := kindOf(d.Rule)
	if e.said[id] || once && e.like[kind] > 0 || len(e.warnings) >= maxWarnings {
		return false
	}
	e.said[id] = true
	e.like[kind]++
	e.warnings = append(e.warnings, d)
	return e.like[kind] <= maxLike
}

// SumUp says how many warnings were not said because there were so many like them.
func (e *Env) SumUp() {
	e.mu.Lock()
	more := make(map[string]int)
	for kind, n := range e.like {
		if n > maxLike {
			more[kind] = n - maxLike
			e.like[kind] = maxLike
		}
	}
	e.mu.Unlock()
	for _, rule := range slices.Sorted(maps.Keys(more)) {
		d := diagnostics.Diagnostic{
			Severity: diagnostics.Warning, Rule: rule, Source: diagnostics.Source,
			Message: fmt.Sprintf("and %d more warnings like these (%s)", more[rule], rule), Hint: "--json and --report-file list them all",
		}
		if rule == ruleCacheDamaged {
			d.Message, d.Hint = fmt.Sprintf("and %d more entries of the cache were damaged, and dropped", more[rule]), "bento cache fsck finds all that is damaged"
		}
		e.report(Warned{Diagnostic: d})
	}
}
