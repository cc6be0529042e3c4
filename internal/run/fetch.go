package run

import (
	"context"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// Evaluations look up results in the store, one by one, because that is quick. Results that the store lacks are asked
// for in the remote cache, as soon as their keys are known, beside the run: answers are events of its loop. A result
// that arrives is in the store before anything reads it, so a hit from there is like any other. A task waits a
// little for its answer, then it is executed; if its result arrives before it ends, it is ended and restored.

// questions are what is asked of the remote cache for one task.
type questions struct {
	keys  []cache.Key // but those without a result
	open  int         // the number of keys without an answer
	since time.Time   // when the first was asked for
	until time.Time   // the task does not wait longer
	late  bool        // it has waited in vain
	here  bool        // a result has arrived since the task has begun
	// sets is the key of its path sets, which were had when they were asked for; held says that a result has arrived before
	// them.
	sets     cache.Key
	had      [][]key.Discovered
	setsOpen bool
	held     bool
}

// quick is the usual duration of tasks for which nothing is asked.
const quick = 50 * time.Millisecond

// asks reports whether the result of a task may be asked for.
func (e *engine) asks(n *node) bool {
	t := n.task
	if n.phase >= executing || n.ev == nil || !n.ev.IsMissing() || t.Held || t.AtHome || t.Persistent || t.Interactive {
		return false
	}
	usual := e.keys.History().Of(t).Duration
	return usual == 0 || usual >= quick || t.Unraced || e.pulls
}

// finds reports whether the remote cache is asked for results.
func (e *engine) finds() bool { return e.env.Remote != nil && e.env.Remote.Reads() }

// ask asks the remote cache for the results of the misses among nodes, each key once.
func (e *engine) ask(ctx context.Context, nodes []*node) {
	if !e.finds() {
		return
	}
	var keys []cache.Key
	for _, n := range nodes {
		if e.asks(n) {
			keys = append(keys, e.noteAsked(n, n.ev)...)
		}
	}
	if len(keys) > 0 {
		e.env.Remote.Ask(ctx, keys)
	}
}

// earlyQuestions are asked while all tasks are evaluated: the first at once, so that the way to the server is open soon,
// the others some at a time.
type earlyQuestions struct {
	e      *engine
	misses []*node
	asked  time.Time // when the last were asked
}

// The misses that are asked for together, and the longest that one waits for others.
const (
	missesAtOnce = 32
	missesWait   = 10 * time.Millisecond
)

// add asks for the result of an evaluated task, soon.
func (q *earlyQuestions) add(ctx context.Context, ev *key.Evaluation) {
	if ev.Status == key.Hit || !q.e.finds() {
		return
	}
	if q.misses = append(q.misses, q.e.node(ev.Task)); len(q.misses) < missesAtOnce && time.Since(q.asked) < missesWait {
		return
	}
	q.e.ask(ctx, q.misses)
	q.misses, q.asked = q.misses[:0], time.Now()
}

// end asks for the rest. The tasks could not have started yet: they wait from now on.
func (q *earlyQuestions) end(ctx context.Context) {
	q.e.ask(ctx, q.misses)
	now := time.Now()
	for _, n := range q.e.nodes {
		if n.asked != nil {
			n.asked.since = now
		}
	}
}

// noteAsked notes that the results for an evaluation of a task are asked for, and returns their keys.
func (e *engine) noteAsked(n *node, ev *key.Evaluation) (keys []cache.Key) {
	if e.asked == nil {
		e.asked = make(map[cache.Key]*node)
	}
	if n.asked == nil {
		n.asked = &questions{since: time.Now()}
	}
	if e.mayDiscover(n) && n.asked.sets != n.ev.PathSetsKey() { // a task that was evaluated again may have others
		keys = append(keys, e.pathSets(n))
	}
	return e.noteKeys(n, append(append(keys, ev.Key), ev.Others()...))
}

// pathSets notes that the path sets of a task are asked for, and returns their key.
func (e *engine) pathSets(n *node) cache.Key {
	q := n.asked
	q.sets, q.had, q.setsOpen = n.ev.PathSetsKey(), e.files.PathSets(n.ev), true
	return q.sets
}

// absent notes that there is no result for a key, and returns what is asked for then: the path sets of a task that this
// run would not observe, since others may have observed it.
func (e *engine) absent(n *node, k cache.Key) []cache.Key {
	n.asked.absent(k)
	if n.phase > executing || n.task.Tool != nil || n.ev == nil || n.ev.Key != k || n.asked.sets == n.ev.PathSetsKey() {
		return nil
	}
	return e.noteKeys(n, []cache.Key{e.pathSets(n)})
}

// noteKeys notes that keys are asked for, and returns those that were not asked for before.
func (e *engine) noteKeys(n *node, keys []cache.Key) []cache.Key {
	keys = slices.DeleteFunc(keys, func(k cache.Key) bool { return e.asked[k] != nil })
	image := e.keys.Image(n.task)
	for _, k := range keys {
		if e.asked[k] = n; image != [32]byte{} {
			e.env.Remote.Contain(k, image)
		}
	}
	e.unanswered += len(keys)
	n.asked.open += len(keys)
	n.asked.keys = append(n.asked.keys, keys...)
	return keys
}

// mayDiscover reports whether executions of a task are likely to have discovered inputs, here or on another machine.
func (e *engine) mayDiscover(n *node) bool {
	return e.observeMode(n.task) != dish.ObserveNever && n.task.Tool == nil
}

// heard handles the answers that have come.
func (e *engine) heard(ctx context.Context) {
	var hits []*node
	var more []cache.Key
	for _, a := range e.env.Remote.Answers() {
		n := e.asked[a.Key]
		if a.Found {
			e.foundFor(ctx, n, a.Took)
			continue
		}
		n.asked.open--
		e.unanswered--
		if !a.Here {
			more = append(more, e.absent(n, a.Key)...)
		}
		if e.arrived(ctx, n, a) {
			hits = append(hits, n)
			e.idle = 0 // waiting was worth it
		}
	}
	if len(more) > 0 {
		e.env.Remote.Ask(ctx, more)
	}
	e.warnRemote()
	e.spread(ctx, hits)
}

// foundFor lets a task wait on for a result that was found, which took a time to make.
func (e *engine) foundFor(ctx context.Context, n *node, took time.Duration) {
	more := min(took/waitShare, maxMore)
	if e.wouldInstall(ctx, n.task) {
		more = maxMore
	}
	n.asked.until = time.Now().Add(max(more, time.Until(e.patience(ctx, n))))
}

// arrived handles the last answer for a key, and reports whether a task is a hit by it that has not begun. Path sets
// decide which results count, so results wait for them.
func (e *engine) arrived(ctx context.Context, n *node, a Answer) bool {
	q := n.asked
	switch {
	case a.Key == q.sets && a.Here:
		q.setsOpen = false
		if err := e.files.AddPathSets(n.ev, q.had); err != nil {
			e.env.warn("cache_unwritable", "results cannot be stored: "+err.Error(), "")
		}
	case a.Key == q.sets:
		q.setsOpen = false
		if !q.held {
			return false
		}
	case !a.Here:
		return false
	case q.setsOpen:
		q.held = true
		return false
	}
	return e.use(ctx, n)
}

// use uses what has arrived for a task, and reports whether it is a hit that has not begun.
func (e *engine) use(ctx context.Context, n *node) bool {
	q := n.asked
	switch n.phase {
	case pending, ready:
		e.keep(e.keys.Evaluate(ctx, n.task))
		if n.ev.Status == key.Hit {
			return true
		}
		e.ask(ctx, []*node{n}) // the path sets have further keys
	case inInstall:
		if e.installs[n.task.Dish.ScopeID()].first != n.task {
			return e.leaveInstall(ctx, n)
		}
		q.here = true
	case begun:
		q.here = true
	case executing:
		ev := e.keys.Evaluate(ctx, n.task)
		switch {
		case q.here || n.cancel == nil:
		case ev.Status == key.Hit:
			q.here = true
			n.cancel() // see overtake
		case ev.Known:
			if keys := e.noteAsked(n, ev); len(keys) > 0 {
				e.env.Remote.Ask(ctx, keys)
			}
		}
	}
	return false
}

// leaveInstall puts a hit that waits for an install, which it does not need, into the queue, and reports whether it is
// one.
func (e *engine) leaveInstall(ctx context.Context, n *node) bool {
	e.keep(e.keys.Evaluate(ctx, n.task))
	if n.ev.Status != key.Hit {
		return false
	}
	n.to(ready)
	e.queue.Add(n.task)
	return true
}

// spread evaluates the tasks that wait for hits which have just arrived, and asks for their results.
func (e *engine) spread(ctx context.Context, hits []*node) {
	var misses []*node
	for len(hits) > 0 {
		n := hits[0]
		hits = hits[1:]
		for _, i := range e.plan.Graph.After(n.task.Index) {
			next := e.nodes[i]
			if next.phase > ready || !e.knowsOutputs(next) || !e.keys.Outdated(next.ev) {
				continue
			}
			e.keep(e.keys.Evaluate(ctx, next.task))
			if next.ev.Status == key.Hit {
				hits = append(hits, next)
			} else {
				misses = append(misses, next)
			}
		}
	}
	e.ask(ctx, misses)
}

// knowsOutputs reports whether the outputs of all dependencies of a task are known.
func (e *engine) knowsOutputs(n *node) bool {
	for _, d := range n.task.Deps {
		if on := e.node(d.Task); on.phase != done && (on.ev == nil || on.ev.Status != key.Hit) {
			return false
		}
	}
	return true
}

// askFree asks for the results of the misses among the free tasks, whose keys may be known only now.
func (e *engine) askFree(ctx context.Context) {
	if !e.finds() || len(e.free) == 0 || e.stopped(ctx) != "" {
		return
	}
	for _, n := range e.free {
		if n.phase == ready && e.keys.Outdated(n.ev) {
			e.keep(e.keys.Renew(ctx, n.task))
		}
	}
	e.ask(ctx, e.free)
}

// absent notes that there is no result for a key.
func (q *questions) absent(k cache.Key) {
	q.keys = slices.DeleteFunc(q.keys, func(other cache.Key) bool { return other == k })
}

// isRemote reports whether a hit comes from the remote cache. The store may have a result before its answer was heard.
func (n *node) isRemote(r *Result) bool {
	return r.Outcome == CacheHit && n.asked != nil && slices.Contains(n.asked.keys, r.Key)
}

// settle waits for all answers: they decide whether something is executed at all.
func (e *engine) settle(ctx context.Context) {
	for e.unanswered > 0 && ctx.Err() == nil {
		select {
		case <-e.env.Remote.Ready():
			e.heard(ctx)
		case <-ctx.Done():
		}
	}
}

// waits reports whether a task that could start waits for an answer.
func (e *engine) waits(ctx context.Context, n *node, now time.Time) bool {
	q := n.asked
	if q == nil || q.open == 0 || n.ev == nil || n.ev.Status == key.Hit || n.phase != ready {
		return false
	}
	if n.task.Unraced || len(n.task.Rewrites) > 0 {
		return true
	}
	if q.until.IsZero() {
		q.until = e.patience(ctx, n)
	}
	if now.Before(q.until) {
		if e.wake.IsZero() || q.until.Before(e.wake) {
			e.wake = q.until
		}
		return true
	}
	if !q.late {
		q.late = true
		e.env.Remote.Lost(e.idle)
		e.idle = 0
	}
	return false
}

// waitShare is the part of its usual duration that a task waits for an answer at most. Once its result was found, the
// duration where it was made counts, up to maxMore.
const (
	waitShare    = 4
	maxMore      = 2 * time.Second
	installShare = 4 // an install takes seconds, and leaves more than outputs
)

// wouldInstall reports whether a task would start an install in this run.
func (e *engine) wouldInstall(ctx context.Context, t *plan.Task) bool {
	if !t.AwaitsInstall() || e.opts.SkipInstall {
		return false
	}
	id := t.Dish.ScopeID()
	needed, known := e.stale[id]
	if !known {
		if e.stale == nil {
			e.stale = make(map[string]bool)
		}
		needed = !(&installer{Env: e.env, Tree: e.tree}).UpToDate(ctx, t.Dish)
		e.stale[id] = needed
	}
	return needed && e.installs[id] == nil
}

// patience returns until when a task waits for an answer. One that would start an install waits longer.
func (e *engine) patience(ctx context.Context, n *node) time.Time {
	wait := e.env.Remote.Patience()
	if e.wouldInstall(ctx, n.task) {
		return n.asked.since.Add(installShare * wait)
	}
	if usual := e.keys.History().Of(n.task).Duration; usual > 0 {
		wait = min(wait, usual/waitShare)
	}
	return n.asked.since.Add(wait)
}

// answers returns the channels by which the loop is woken because of answers, and for tasks that wait for one: at the
// end of their patience, and if nothing else runs by an interrupt.
func (e *engine) answers(ctx context.Context) (ready <-chan struct{}, wake <-chan time.Time, interrupt <-chan struct{}) {
	if e.unanswered > 0 {
		ready = e.env.Remote.Ready()
	}
	if !e.wake.IsZero() {
		wake = time.After(time.Until(e.wake))
	}
	if e.running == 0 {
		interrupt = ctx.Done()
	}
	if len(e.waiting) > 0 && e.running < max(1, e.opts.Workers) {
		e.idleSince = time.Now()
	}
	return ready, wake, interrupt
}

// awake notes the time in which the loop slept, and handles the answers that have come meanwhile: a task whose answer is
// there does not start because its time is up.
func (e *engine) awake(ctx context.Context) {
	if !e.idleSince.IsZero() {
		e.idle += time.Since(e.idleSince)
		e.idleSince = time.Time{}
	}
	if e.unanswered > 0 {
		e.heard(ctx)
	}
}

// overtake makes a hit of a task that was executed, if its result has arrived meanwhile, and reports
// whether it did. What the command has left is replaced by the outputs of that result.
func (e *engine) overtake(ctx context.Context, x *execution) bool {
	t := x.ev.Task
	n := e.node(t)
	q := n.asked
	if q == nil {
		return false
	}
	e.env.Remote.Drop(q.keys...)
	if !q.here || x.result.Outcome == Built || ctx.Err() != nil {
		return false
	}
	q.here = false
	e.keys.NoteWritten(context.WithoutCancel(ctx), key.Written{Executed: t})
	if left := x.kept.Left(); len(left) > 0 {
		e.keys.History().Leave(t.Place(), left)
	}
	n.to(begun)
	e.keep(e.keys.Evaluate(ctx, t))
	e.carryOut(ctx, n)
	return true
}

// overtaken restores a task that is about to be executed if its result has arrived since it has begun, and reports
// whether it did.
func (e *engine) overtaken(ctx context.Context, n *node) bool {
	if n.asked == nil || !n.asked.here {
		return false
	}
	n.asked.here = false
	e.keep(e.keys.Evaluate(ctx, n.task))
	if n.ev.Status != key.Hit {
		return false
	}
	e.carryOut(ctx, n)
	return true
}

// dropAll ends all questions, of a run that has not come to its end.
func (e *engine) dropAll() {
	if e.unanswered > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e.env.Remote.Finish(ctx, 0)
	}
}
