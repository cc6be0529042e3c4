package run

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
)

// maxLike is the largest number of warnings of a kind that are reported. Further ones are counted,
// and are in the list.
const maxLike = 5

// maxWarnings is the largest number of warnings that are kept.
const maxWarnings = 10_000

// ruleDamaged is the rule of an entry of the cache that was damaged.
const ruleDamaged = "cache_damaged"

// warningList holds the warnings of a run. Its zero value is empty. It is safe for concurrent use.
type warningList struct {
	mu     sync.Mutex
	all    []diagnostics.Diagnostic
	warned map[string]bool
	like   map[string]int // by kind: the number of warnings
}

// kindOf returns the kind of the warnings of a rule. once is true for a kind that is about the
// machine: one such warning is enough, even if the messages differ.
func kindOf(rule string) (kind string, once bool) {
	switch rule {
	case "cache_unwritable", "cache_unreadable":
		return "cache", true
	case "state_unwritable", "log_unwritable":
		return "state", true
	}
	return rule, false
}

// Note adds a warning to the list, and reports whether it is to be reported.
func (l *warningList) Note(d diagnostics.Diagnostic) bool {
	id := d.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.warned == nil {
		l.warned, l.like = make(map[string]bool), make(map[string]int)
	}
	kind, once := kindOf(d.Rule)
	if d.Alike != "" { // people read it once for all dishes
		kind = ""
	}
	if l.warned[id] || once && l.like[kind] > 0 || len(l.all) >= maxWarnings {
		return false
	}
	l.warned[id] = true
	l.like[kind]++
	l.all = append(l.all, d)
	return kind == "" || l.like[kind] <= maxLike
}

// All returns every warning, in order.
func (l *warningList) All() []diagnostics.Diagnostic {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// SumUp returns a warning for each kind with the number of its warnings that were left out because
// there were so many.
func (l *warningList) SumUp() (sums []diagnostics.Diagnostic) {
	l.mu.Lock()
	more := make(map[string]int)
	for kind, n := range l.like {
		if kind != "" && n > maxLike {
			more[kind] = n - maxLike
			l.like[kind] = maxLike
		}
	}
	l.mu.Unlock()
	for _, rule := range slices.Sorted(maps.Keys(more)) {
		d := diagnostics.Pos{}.Warning(rule, "and %d more warnings like these (%s)", more[rule], rule).WithHint("--json and --report-file list them all")
		if rule == ruleDamaged {
			d.Message, d.Hint = fmt.Sprintf("and %d more entries of the cache were damaged, and dropped", more[rule]), "bento cache fsck finds all that is damaged"
		}
		sums = append(sums, d)
	}
	return sums
}
