package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/command"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/journal"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/crew"
)

// reserve keeps other runs out of the workspace while this one changes it: whoever
// reads what a task made must not find it half made by another. A run with nothing
// to do reserves nothing. After waiting for another everything is looked at again:
// what that one made may be all that is needed.
func (e *engine) reserve(ctx context.Context) {
	e.release = func() {}
	if e.ending == 0 {
		return // nothing but servers
	}
	if !journal.Left(e.env.State) {
		e.placed = e.look()
	}
	if e.placed != nil && !slices.Contains(e.placed, nil) || e.env.Environ.Get(command.Inside) == e.env.Root {
		return
	}
	if slices.ContainsFunc(e.plan.Tasks, e.replaces) {
		e.tree.TrackedAhead() // before outputs are removed it is asked for
	}
	release, waited := e.env.reserve(ctx)
	e.release = release
	e.env.State.Sweep()
	e.recorder.Recover(e.env.State)
	if (waited || e.Memory().Outdated()) && ctx.Err() == nil {
		e.placed = nil
		e.Reload(ctx)
		_, _ = e.All(ctx) // the error is that of ctx, which everything else asks too
	}
}

// reserve takes the workspace, and tells whether it had to wait for another run. A
// state that cannot be written reserves nothing: that is said when it is saved. When
// this process is killed, its guard lets nobody in before what it left has ended.
func (e *Env) reserve(ctx context.Context) (release func(), waited bool) {
	held, err := e.State.Hold(ctx, state.RunLock, func(owner string) {
		waited = true
		e.warn("waiting", fmt.Sprintf("another bento runs in this workspace (%s); waiting for it", owner), "")
	})
	var refused *state.RefusedError
	if errors.As(err, &refused) {
		e.warn("directory_refused", "other runs are not kept out of the workspace: "+err.Error(), refused.Hint)
	}
	if err != nil {
		return func() {}, waited
	}
	e.held = []*os.File{held.File}
	return held.Release, waited
}

// look gives, by plan.Task.Index, the hits that are settled, nil for other tasks. It is
// one look at the disk for each output, several at a time.
func (e *engine) look() []*evaluate.Result {
	return crew.Map(e.plan.Tasks, func() *engine { return e }, func(e *engine, t *plan.Task) *evaluate.Result {
		if ev := e.Of(t); ev != nil && ev.Status == evaluate.Hit && e.settled(ev) {
			return ev
		}
		return nil
	})
}

// isPlaced is settled for a hit whose turn has come. What was found before anything ran
// counts until something does.
func (e *engine) isPlaced(ev *evaluate.Result) bool {
	return !e.touched && e.placed != nil && e.placed[ev.Task.Index] == ev || e.settled(ev)
}

// replaces tells whether t is a miss that has made something before.
func (e *engine) replaces(t *plan.Task) bool {
	ev := e.Of(t)
	return ev != nil && ev.Status == evaluate.Miss && len(e.Memory().Of(t).Outputs) > 0
}

// settled tells whether nothing has to be done for a hit.
func (e *engine) settled(ev *evaluate.Result) bool {
	last := e.Memory().Of(ev.Task)
	return last.Key == ev.Key && len(last.Left) == 0 && e.InPlace(ev.Outputs)
}

// countEnding counts the tasks that end by themselves. A plan of no others keeps the
// workspace until everything is written down: it never counts down to zero.
func countEnding(p *plan.Plan) int {
	n := 0
	for _, t := range p.Tasks {
		if !t.Persistent {
			n++
		}
	}
	if n == len(p.Tasks) {
		n++
	}
	return n
}

// unreserve lets others in once nothing is left but tasks that do not end by
// themselves.
func (e *engine) unreserve() {
	if e.ending--; e.ending == 0 {
		e.storePostponed()
		e.store()
		e.Save() // before somebody else remembers something newer
		e.unstage()
		e.recorder.Journal.Close()
		e.release()
		e.release = func() {}
		e.needless = true
		for _, t := range e.plan.Tasks {
			if cancel := e.cancel[t.ID()]; cancel != nil && !t.Requested {
				cancel()
			}
		}
	}
}
