package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/state"
)

// reserveIfNeeded keeps other runs out of the workspace while this one changes it: a process that
// reads what a task made must not find it half made by another. A run with nothing
// to do reserves nothing. After waiting for another everything is looked at again:
// what that one made may be all that is needed.
func (e *engine) reserveIfNeeded(ctx context.Context) {
	e.release = func() {}
	if e.ending == 0 {
		return // nothing but servers
	}
	if record.JournalLeft(e.env.State) {
		e.forgetPlaced()
	}
	if !slices.ContainsFunc(e.nodes, func(n *node) bool { return n.placed == nil }) || e.env.Environ.Get(action.Inside) == e.env.Root {
		return
	}
	if slices.ContainsFunc(e.plan.Tasks, e.replaces) {
		e.tree.TrackedAhead() // before outputs are removed it is asked for
	}
	release, waited := e.env.lockWorkspace(ctx)
	e.release = release
	e.env.State.Sweep()
	e.recorder.Recover(ctx, e.env.State)
	if (waited || e.keys.History().Outdated()) && ctx.Err() == nil {
		e.forgetPlaced()
		e.keys.Reload(ctx)
		_, _ = e.keys.All(ctx) // the error is that of ctx, which everything else asks too
	}
	e.prepareToExecute()
}

// startGuard announces an execution, where one is certain, beside the looks that come first.
// prepareToExecute announces it again, with the lock for the guard.
func (e *engine) startGuard() {
	if e.env.Executing != nil && slices.ContainsFunc(e.plan.Tasks, e.isMiss) {
		e.workers.Go(func() { e.env.Executing(nil) })
	}
}

// prepareToExecute does beside the first steps of the run what the first execution waits for, and
// what the first stored result waits for.
func (e *engine) prepareToExecute() {
	if !slices.ContainsFunc(e.plan.Tasks, e.isMiss) {
		return
	}
	e.workers.Go(e.env.executing)
	if disk := cache.DiskOf(e.env.Store); disk != nil {
		e.workers.Go(disk.WriteUses)
	}
}

// isMiss reports whether it is known that a task is executed unless something fails before.
func (e *engine) isMiss(t *plan.Task) bool {
	ev := e.keys.Of(t)
	return !t.Held && ev != nil && ev.Err == nil && ev.Status == key.Miss && ev.Reason != key.MissPending
}

// lockWorkspace locks the workspace, and reports whether it had to wait for another run. An
// unwritable state locks nothing: saving it reports that. If this process is killed, its guard
// holds the lock until its children have ended.
func (e *Env) lockWorkspace(ctx context.Context) (release func(), waited bool) {
	held, err := e.State.Hold(ctx, state.RunLock, func(holder string) {
		waited = true
		e.warn("waiting", "another bento runs in this workspace; waiting for it", holder)
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

// placedAtOnce is the number of evaluations whose outputs one goroutine looks at: of fewer it would end
// before the next are made.
const placedAtOnce = 32

// evaluate evaluates all tasks. Beside that it notes the hits that are settled, which is one look at the disk
// for each output.
func (e *engine) evaluate(ctx context.Context) error {
	var looking sync.WaitGroup
	defer looking.Wait()
	made := make([]*key.Evaluation, 0, len(e.plan.Tasks))
	seen := 0
	look := func() {
		list := made[seen:]
		looking.Go(func() { e.findPlaced(list) })
		seen = len(made)
	}
	_, err := e.keys.Each(ctx, func(ev *key.Evaluation) {
		if ev.Status != key.Hit || e.ending == 0 { // a server is looked at when its turn has come
			return
		}
		if made = append(made, ev); len(made)-seen == placedAtOnce {
			look()
		}
	})
	look()
	return err
}

// findPlaced notes those of some hits that are settled.
func (e *engine) findPlaced(hits []*key.Evaluation) {
	for _, ev := range hits {
		if e.inPlace(ev) {
			e.node(ev.Task).placed = ev
		}
	}
}

// forgetPlaced forgets which hits are settled: something may have changed that.
func (e *engine) forgetPlaced() {
	for _, n := range e.nodes {
		n.placed = nil
	}
}

// isPlaced is settled for a hit whose turn has come. What was found before anything ran
// counts until something does.
func (e *engine) isPlaced(ev *key.Evaluation) bool {
	return !e.touched && e.node(ev.Task).placed == ev || e.inPlace(ev)
}

// replaces reports whether t is a miss that has made something before.
func (e *engine) replaces(t *plan.Task) bool {
	ev := e.keys.Of(t)
	return ev != nil && ev.Status == key.Miss && len(e.keys.History().Of(t).Outputs) > 0
}

// inPlace reports whether nothing has to be done for a hit.
func (e *engine) inPlace(ev *key.Evaluation) bool {
	last := e.keys.History().Of(ev.Task)
	return last.Key == ev.Key && len(last.Left) == 0 && e.keys.InPlace(ev.Outputs)
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
		e.keys.Save() // before another bento saves something newer
		e.unstage()
		e.recorder.Journal.Close()
		e.release()
		e.release = func() {}
		e.serversUnneeded = true
		for _, n := range e.nodes {
			if n.cancel != nil && !n.task.Requested {
				n.cancel()
			}
		}
	}
}
