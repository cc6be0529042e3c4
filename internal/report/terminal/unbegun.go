package terminal

import (
	"fmt"

	"github.com/bentobuild/bento/internal/run"
)

// unbegun counts the tasks that an interrupt has kept from beginning: one line stands for all of them.
type unbegun struct {
	count int
	first string // the id of the first one
}

// unbegunToo reports whether r is such a task, which it then counts. With Verbose each has its line.
func (l *Lines) unbegunToo(r *run.Result) bool {
	if l.Verbose || r.Outcome != run.Skipped || r.Reason != run.ReasonInterrupted || !r.Started.IsZero() {
		return false
	}
	if l.unbegun.count++; l.unbegun.count == 1 {
		l.unbegun.first = r.Task.ID()
	}
	return true
}

// writeUnbegun writes the line for these tasks.
func (l *Lines) writeUnbegun() {
	switch n := l.unbegun.count; {
	case n == 0 || l.Mode == Quiet:
	case n == 1:
		l.status("skipped", l.Style.Yellow, l.unbegun.first, run.ReasonInterrupted)
	default:
		l.status("skipped", l.Style.Yellow, fmt.Sprintf("%d tasks", n), "interrupted before they began; -v lists them")
	}
	l.unbegun = unbegun{}
}
