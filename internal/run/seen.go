package run

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// Seen is what is known of an execution that has ended.
type Seen struct {
	Task *plan.Task
	// Used is what the command used; nil if it was not observed.
	Used *action.Used
	// Reach is what it declares, nil if that is unknown.
	Reach   *record.Reach
	Outputs []cache.Output // nil after a failure
	// Advice returns a sentence about a file that the task does not declare, and what to declare.
	Advice func(path string, change bool) (what, hint string)
}

// tellSeen calls Options.Seen.
func (e *engine) tellSeen(x *execution) {
	if e.opts.Seen == nil || x.result.Attempts == 0 {
		return
	}
	s := &Seen{Task: x.ev.Task, Used: x.kept.Used, Reach: x.reach, Outputs: x.kept.Outputs, Advice: x.kept.Denied}
	if s.Reach == nil {
		s.Reach, _ = x.kept.Reach() // its globs were compiled before
	}
	if s.Reach == nil {
		s.Used = nil
	}
	e.opts.Seen(s)
}
