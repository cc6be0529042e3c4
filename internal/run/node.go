package run

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// node is the state of one task in a run.
type node struct {
	task   *plan.Task
	phase  phase           // only the method to changes it
	waits  int             // the number of other tasks that it still waits for
	ev     *key.Evaluation // the last one; nil before the first
	result *Result         // of a task that is done

	asked   *questions         // what was asked of the remote cache for it, nil for nothing
	inPlace bool               // the outputs of ev, a hit, were in place before anything ran
	cancel  context.CancelFunc // while it is executed
	unsure  string             // why its outputs may not match its key, "" if they do
	storing *record.Execution  // while its result waits to be stored
	here    bool               // it could not be executed elsewhere
	judged  bool               // unfit is known
	unfit   string             // see Elsewhere.Unfit

	visited  int                 // engine.visits of the last call of upstream that visited it
	upstream [2]*record.Upstream // as its dependents see it: by outputs, by key
}

// phase is how far a task has come.
type phase int

const (
	pending   phase = iota // waits for other tasks
	ready                  // waits for a worker
	begun                  // it has a worker, and nothing has been started for it yet
	inInstall              // waits for the install of its dish
	restoring
	executing
	serving // a persistent task that is ready: its dependents run, too
	done
)

// leadsTo reports whether a task may go from one phase to another. These are all transitions:
//
//	pending   → ready      its last dependency has ended, or serves
//	ready     → begun      it has got a worker
//	begun     → inInstall  its dish must be installed, or is being installed
//	begun     → restoring  it is a hit
//	begun     → executing  it is a miss
//	inInstall → begun      the install that it started has ended
//	inInstall → ready      the install that another task started has ended
//	restoring → begun      it could not be restored, and will be executed
//	executing → serving    it is persistent, and ready
//	executing → begun      its result has arrived from elsewhere before it ended
//	executing → ready      it could not be executed elsewhere, and waits for a worker of this machine
//	any       → done       it has its result; from pending and ready: skipped, canceled, or in place
func (p phase) leadsTo(next phase) bool {
	switch p {
	case pending:
		return next == ready || next == done
	case ready, restoring:
		return next == begun || next == done
	case begun:
		return next == inInstall || next == restoring || next == executing || next == done
	case inInstall:
		return next == begun || next == ready || next == done
	case executing:
		return next == serving || next == begun || next == ready || next == done
	case serving:
		return next == done
	}
	return false
}

// to changes the phase of a task.
func (n *node) to(next phase) {
	if !n.phase.leadsTo(next) {
		panic(fmt.Sprintf("%s goes from phase %d to %d", n.task.ID(), n.phase, next))
	}
	n.phase = next
}

// isMiss reports whether a task is to be executed, as far as that is known.
func (n *node) isMiss() bool {
	return !n.task.Held && n.ev != nil && n.ev.Err == nil && n.ev.Status == key.Miss
}

// willExecute reports whether it is certain that a task is executed, unless something fails before.
func (n *node) willExecute() bool { return n.isMiss() && n.ev.Reason != key.MissPending }

// invalidate notes that a result was made while something changed that it may depend on.
func (n *node) invalidate() {
	if n.unsure == "" {
		n.unsure = n.task.ID() + " was made while something that it depends on changed"
	}
}

// made returns the outputs of a task with the result r, nil if it did not succeed. Tasks that made the
// same files have succeeded before they failed for that.
func (n *node) made(r *Result) []cache.Output {
	if r == nil || r.Outcome != Built && r.Outcome != CacheHit && r.Reason != reasonMadeTwice {
		return nil
	}
	return n.ev.Outputs
}
