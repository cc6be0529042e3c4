package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/state"
)

// reserveIfNeeded locks the workspace while this run changes it: a process that reads the outputs of
// a task must not find them half written by another run. A run with nothing to do does not lock.
// After it has waited for another run, it evaluates all tasks again: the other run may have made all
// outputs.
func (e *engine) reserveIfNeeded(ctx context.Context) {
	e.release = func() {}
	if e.ending == 0 {
		return // no task but servers
	}
	if record.JournalLeft(e.env.State) {
		e.forgetInPlace()
	}
	if !slices.ContainsFunc(e.nodes, func(n *node) bool { return !n.inPlace }) || e.env.chain().In(e.env.Root) {
		return
	}
	replaces := func(n *node) bool { return n.isMiss() && len(e.keys.History().Of(n.task).Outputs) > 0 }
	if slices.ContainsFunc(e.nodes, replaces) {
		e.tree.TrackedAhead() // git's list is needed before outputs are removed
	}
	unlock, waited := e.env.lockWorkspace(ctx)
	e.release = unlock
	e.env.State.Sweep()
	if e.env.Containers.Sweep != nil {
		e.env.Containers.Sweep()
	}
	e.recorder.Recover(ctx, e.env.State)
	if (waited || e.keys.History().Outdated()) && ctx.Err() == nil {
		e.keys.NoteWritten(ctx, key.Written{Everywhere: true})
		e.forgetInPlace()
		_ = e.keys.Each(ctx, e.keep) // the error is that of ctx, which all later steps check
	}
	e.prepareToExecute()
}

// startGuard calls Executing early, in the background, if an execution is certain. prepareToExecute
// calls it again, with the file of the lock.
func (e *engine) startGuard() {
	if e.env.Executing != nil && slices.ContainsFunc(e.nodes, (*node).willExecute) {
		e.workers.Go(func() { e.env.Executing(nil) })
	}
}

// prepareToExecute prepares, in the background, the first execution and the storing of the first
// result.
func (e *engine) prepareToExecute() {
	if !slices.ContainsFunc(e.nodes, (*node).willExecute) {
		return
	}
	e.workers.Go(e.env.executing)
	if disk := cache.DiskOf(e.env.Store); disk != nil {
		e.workers.Go(disk.WriteUses)
	}
}

// lockWorkspace locks the workspace, and reports whether it had to wait for another run. If the state
// is unwritable, nothing is locked: saving it reports the error. If this process is killed, its guard
// keeps the lock until its children have ended. A run that was started by a process of another one in
// this workspace locks nothing: the other run has the lock, and waits for that process.
func (e *Env) lockWorkspace(ctx context.Context) (release func(), waited bool) {
	if e.chain().In(e.Root) {
		return func() {}, false
	}
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

// checkedAtOnce is the number of hits that one goroutine of evaluate checks: with fewer it would end
// before the next evaluations are made.
const checkedAtOnce = 32

// evaluate evaluates all tasks. In parallel it notes the hits that are in place, which takes a stat
// of each output.
func (e *engine) evaluate(ctx context.Context) error {
	var looking sync.WaitGroup
	defer looking.Wait()
	made := make([]*key.Evaluation, 0, len(e.plan.Tasks))
	seen := 0
	look := func() {
		list := made[seen:]
		looking.Go(func() { e.findInPlace(list) })
		seen = len(made)
	}
	early := earlyQuestions{e: e}
	err := e.keys.Each(ctx, func(ev *key.Evaluation) {
		e.keep(ev)
		early.add(ctx, ev)
		if ev.Status != key.Hit || e.ending == 0 { // a server is checked when it is its turn
			return
		}
		if made = append(made, ev); len(made)-seen == checkedAtOnce {
			look()
		}
	})
	look()
	if err == nil {
		early.end(ctx)
	}
	return err
}

// findInPlace notes the hits that are in place.
func (e *engine) findInPlace(hits []*key.Evaluation) {
	for _, ev := range hits {
		e.node(ev.Task).inPlace = e.inPlace(ev)
	}
}

// forgetInPlace forgets which hits are in place: files may have changed.
func (e *engine) forgetInPlace() {
	for _, n := range e.nodes {
		n.inPlace = false
	}
}

// isInPlace reports whether a hit whose turn has come is in place. The result of findInPlace is valid
// until something is executed or restored.
func (e *engine) isInPlace(n *node) bool { return !e.touched && n.inPlace || e.inPlace(n.ev) }

// inPlace reports whether nothing has to be done for a hit.
func (e *engine) inPlace(ev *key.Evaluation) bool {
	last := e.keys.History().Of(ev.Task)
	return last.Key == ev.Key && len(last.Left) == 0 && key.InPlace(e.tree, ev.Outputs)
}

// countEnding returns the number of tasks that are not persistent. It returns one more if no task is
// persistent: then unreserve never counts down to zero, and the workspace stays locked until the
// state is saved.
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

// unreserve unlocks the workspace once only persistent tasks are left.
func (e *engine) unreserve() {
	if e.ending--; e.ending == 0 {
		e.storePostponed()
		e.store()
		e.keys.Save(nil) // before another bento saves something newer
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
