package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/watch"
	"github.com/bentobuild/bento/plugin/adapter"
)

func watchCommand(s *session) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use: "watch TASK… [TARGET] [-- ARGS…]", GroupID: "run",
		Short:   "Run tasks, and again whenever what they work on changes",
		Long:    "Run tasks by name, and again whenever what they work on changes. Only what changed\nruns again. A task that is running on something that changes is ended and started\nanew; a persistent one goes on until its inputs or dependencies change. The last\nargument may be a target: a dish, a bento or a path. --no-cache and\n--force-install count for the first run alone.",
		Example: "  bento watch build test\n  bento watch test services/\n  bento watch web:dev api:serve",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			if len(args) == 0 {
				return usageError("bento watch needs the name of a task", "say bento watch build")
			}
			sel.Tasks = args
			return s.watch(cmd.Context(), sel)
		},
	}
	addSelection(cmd, &sel)
	return cmd
}

const (
	// maxLoops is how often in a row, without a pause, a task may run to its end.
	maxLoops = 10
	// maxEnds is how often in a row, without a pause, a task is ended because its inputs
	// have changed. From then on it runs to its end: it may be what changes them.
	maxEnds = 5
)

// watching is what `bento watch` keeps from one look at the workspace to the next.
type watching struct {
	s      *session
	sel    selection
	people terminal.Reporter
	teller *serial
	output bool // what tasks print is told as it comes

	changes *watch.Watcher
	concern atomic.Pointer[func(path string) bool] // what changes of it are wanted

	again   bool                 // something was run before
	failed  bool                 // the last look found what is wrong
	moved   []string             // what came or went since the last round
	ran     bool                 // since that was told
	said    string               // the problems that were told last
	last    map[string]cache.Key // by task: what it ran on last
	loops   map[string]int       // by task: how often it has run without a pause, and more where it did that itself
	ended   map[string]int       // by task: how often it was ended without a pause
	servers map[string]*server
}

// watch runs what is selected until it is interrupted.
func (s *session) watch(ctx context.Context, sel selection) error {
	if s.flags.json {
		return usageError("bento watch has no end, so it has no --json document", "--events FILE tells what happens")
	}
	if len(s.flags.reportFiles) > 0 || s.flags.profile != "" {
		return usageError("bento watch has no end, so it writes no report or trace of it", "--events FILE tells what happens")
	}
	s.columns = nil // no block: servers print when they like
	s.keep = new(adapter.Keep)
	defer s.keep.Close()
	t, err := s.newTelling(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	w := &watching{
		s: s, sel: sel, people: t.people, teller: &serial{Reporter: t.Reporter}, output: t.output,
		last: make(map[string]cache.Key), loops: make(map[string]int), ended: make(map[string]int), servers: make(map[string]*server),
	}
	return w.run(ctx)
}

// serial tells a reporter of several runs, one event at a time.
type serial struct {
	mu sync.Mutex
	run.Reporter
}

func (s *serial) Report(ev run.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reporter.Report(ev)
}

// run looks, runs and waits, again and again.
func (w *watching) run(ctx context.Context) error {
	root, _, err := w.s.root()
	if err != nil {
		return err
	}
	var why error
	w.changes, why = watch.Start(watch.Options{Root: root, Ignore: func(p string) bool {
		wanted := w.concern.Load()
		return wanted != nil && !(*wanted)(p)
	}})
	if why != nil {
		w.s.warn("watch_polls", "this system does not tell of changes: "+why.Error(), "the workspace is looked at every second")
	}
	defer w.changes.Close()
	defer w.stopServers()
	first := true
	own := false // what set this round off happened while tasks were running
	for {
		l, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && first:
			return err
		case err != nil:
			report.WriteError(w.s.err, w.s.style, err)
			w.failed = true
		default:
			first = false
			w.mended()
			own = w.round(ctx, l, own)
			l.ws.close()
		}
		if w.s.pipes.unread() {
			return nil // nobody is there to see another round
		}
		if own {
			continue
		}
		if w.ran {
			fmt.Fprintln(w.s.err, w.s.style.Dim("bento: watching; Ctrl-C ends it"))
			w.ran = false
		}
		b, err := w.changes.Next(ctx)
		if err != nil {
			return err
		}
		w.moved = append(w.moved, b.Replaced...)
	}
}

// mended says that what was told as an error is so no more.
func (w *watching) mended() {
	if w.failed {
		fmt.Fprintln(w.s.err, w.s.style.Dim("bento: that is mended"))
	}
	w.ran, w.failed = w.ran || w.failed, false
}

// forget drops what is known of tasks whose dish went, or came anew: its outputs may be
// gone with it.
func (w *watching) forget(l *look) {
	there := make(map[string]bool, len(l.plan.Tasks))
	for _, t := range l.plan.Tasks {
		there[t.ID()] = !slices.ContainsFunc(w.moved, func(p string) bool { return p != "." && territory.Inside(t.Dish.Path, p) })
	}
	w.moved = nil
	maps.DeleteFunc(w.last, func(id string, _ cache.Key) bool { return !there[id] })
}

// look is the workspace as it was found at some time.
type look struct {
	ws      *workspace
	plan    *plan.Plan
	results []*evaluate.Result
}

// keys gives the keys of the tasks that are known.
func (l *look) keys() map[string]cache.Key {
	keys := make(map[string]cache.Key, len(l.results))
	for _, r := range l.results {
		if r.Known {
			keys[r.Task.ID()] = r.Key
		}
	}
	return keys
}

// look opens the workspace, watches what is in it and works out all keys. What
// changes meanwhile is looked at again.
func (w *watching) look(ctx context.Context) (*look, error) {
	for {
		l, added, err := w.lookOnce(ctx)
		if err != nil || !added {
			return l, err
		}
		l.ws.close()
	}
}

func (w *watching) lookOnce(ctx context.Context) (l *look, added bool, err error) {
	ws, err := w.s.open(ctx, w.teller)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			ws.close()
		}
	}()
	if added, err = w.changes.Follow(ws.Tree.Dirs()); err != nil {
		w.s.warn("watch_polls", "not everything can be watched: "+err.Error(), "the workspace is looked at every second; on Linux, fs.inotify.max_user_watches is the limit")
		err = nil
	}
	l = &look{ws: ws}
	if l.plan, err = w.plan(ctx, ws); err != nil {
		return nil, false, err
	}
	ev, err := ws.env.Evaluator(l.plan, false)
	if err == nil {
		l.results, err = ev.All(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	ev.Save()
	w.wanted(l)
	return l, added, nil
}

// plan makes the plan of everything that is watched, and tells problems that were not
// there the last time.
func (w *watching) plan(ctx context.Context, ws *workspace) (*plan.Plan, error) {
	sel := w.sel
	if n := len(sel.Tasks); n > 1 && len(sel.Targets) == 0 {
		if ws.isTarget(sel.Tasks[n-1]) {
			sel.Tasks, sel.Targets = sel.Tasks[:n-1], sel.Tasks[n-1:]
		}
	}
	sel.Targets = slices.Clone(sel.Targets) // they are made relative to the root
	sel.Exclude = slices.Clone(sel.Exclude)
	p, _, problems, err := w.s.build(ctx, ws, sel)
	if err != nil {
		return nil, err
	}
	problems = diagnostics.Sorted(append(ws.problems, problems...))
	if err := diagnostics.AsError(problems); err != nil {
		return nil, err
	}
	for _, t := range p.Tasks {
		if t.Requested && t.Interactive {
			return nil, usageError(t.ID()+" is interactive: nobody could tell when it runs again", "bento run "+t.ID()+" runs it once")
		}
	}
	if text := fmt.Sprint(problems); text != w.said {
		w.said = text
		report.WriteProblems(w.s.err, w.s.style, problems)
	}
	return p, nil
}

// isTarget tells whether the last of the arguments means dishes, and no task.
func (w *workspace) isTarget(name string) bool {
	if strings.ContainsRune(name, ':') {
		return false
	}
	_, problems := plan.Build(w.Workspace, plan.Request{Tasks: []string{name}})
	if len(diagnostics.Errors(problems)) == 0 {
		return false
	}
	req := plan.Request{Targets: []string{name}}
	if w.locate(&req) != nil {
		return false
	}
	_, problems = plan.Build(w.Workspace, req)
	return len(diagnostics.Errors(problems)) == 0
}

// wanted tells the watcher what counts: what git does not ignore, and what tasks name
// all the same.
func (w *watching) wanted(l *look) {
	named := make(map[string]bool)
	for _, r := range l.results {
		for _, e := range r.Entries {
			named[e.Path] = true
		}
	}
	tree := l.ws.Tree
	wanted := func(p string) bool { return named[p] || !tree.Ignored(p, false) && !tree.Ignored(p, true) }
	w.concern.Store(&wanted)
}

// round runs what has changed since it last ran. again tells that something changed
// meanwhile.
func (w *watching) round(ctx context.Context, l *look, own bool) (again bool) {
	keys := l.keys()
	w.forget(l)
	if !own {
		clear(w.loops)
		clear(w.ended)
	}
	var due, serve []string
	for _, t := range l.plan.Tasks {
		id := t.ID()
		switch key, known := keys[id]; {
		case !t.Requested:
		case t.Persistent:
			if s := w.servers[id]; s == nil || !known || s.key != key {
				serve = append(serve, id)
			}
		case known && w.last[id] == key:
		case w.circles(id, own):
			w.last[id] = key
		default:
			due = append(due, id)
		}
	}
	for _, id := range serve {
		w.stopServer(id)
	}
	w.ran = w.ran || len(due)+len(serve) > 0
	if len(due) > 0 {
		again = w.runDue(ctx, l, keys, due)
	}
	for _, id := range serve {
		if ctx.Err() == nil {
			w.startServer(ctx, id, keys[id])
		}
	}
	return again
}

// circles tells whether a task sets itself off again and again.
func (w *watching) circles(id string, own bool) bool {
	if !own || w.loops[id] < maxLoops {
		return false
	}
	if w.loops[id] < math.MaxInt {
		w.loops[id] = math.MaxInt
		w.s.warn("watch_loop", id+" changes its own inputs whenever it runs; it waits for another change now", "name what it writes in outputs, or take it out of inputs")
	}
	return true
}

// count takes in that a task was executed to its end, alone or with others. Somebody
// may have edited its inputs meanwhile, but that would have ended it: where they have
// changed while it ran, so that nothing is stored, it is nearly sure who did it, if no
// other task was there to do it.
func (w *watching) count(r *run.Result, alone bool) {
	id, n := r.Task.ID(), 1
	if alone && r.Outcome == run.Built && !r.Stored && r.Task.Uncached == "" {
		n = maxLoops / 2
	}
	if w.loops[id] < maxLoops {
		w.loops[id] += n
	}
}

// runDue runs tasks. Those whose keys change while they run are ended; again tells
// that there were changes.
func (w *watching) runDue(ctx context.Context, l *look, keys map[string]cache.Key, due []string) (again bool) {
	p, _ := l.plan.Narrow(func(t *plan.Task) bool { return slices.Contains(due, t.ID()) })
	cancel := make(chan string)
	done := make(chan struct{})
	var r *run.Report
	var err error
	w.people.Open(l.ws.env.Store)
	go func() {
		defer close(done)
		r, err = run.Run(ctx, l.ws.env, p, run.Options{
			Workers: w.s.workers(l.ws.Config), KeepGoing: true, Cancel: cancel, Busy: w.s.busy(), Output: w.output,
			Force: w.s.flags.noCache && !w.again, SkipInstall: w.s.flags.skipInstall, ForceInstall: w.s.flags.forceInstall && !w.again,
		})
	}()
	again = w.follow(ctx, done, cancel, keys)
	w.again = true
	if err != nil {
		report.WriteError(w.s.err, w.s.style, err)
		for _, id := range due {
			w.last[id] = keys[id] // not again before something changes
		}
		return again
	}
	if w.s.pipes.unread() {
		w.s.outcome = exitOf(r)
	}
	executed := 0
	for _, res := range r.Results {
		if res.Outcome.Executed() {
			executed++
		}
	}
	for _, res := range r.Results {
		if res.Outcome.Executed() {
			w.count(res, executed == 1)
		}
		switch {
		case !res.Task.Requested:
		case res.Reason == run.ReasonChanged || res.Reason == run.ReasonInterrupted:
			// Its outputs are gone: it runs again also where the change was taken back.
			delete(w.last, res.Task.ID())
			w.ended[res.Task.ID()]++
		case res.Key != (cache.Key{}):
			w.last[res.Task.ID()] = res.Key
		default:
			w.last[res.Task.ID()] = keys[res.Task.ID()]
		}
	}
	return again
}

// endless reports whether a task was ended so often that it is left to run to its end.
func (w *watching) endless(id string) bool {
	if w.ended[id] == maxEnds {
		w.ended[id]++
		w.s.warn("watch_loop", fmt.Sprintf("the inputs of %s changed %d times while it ran; it runs to its end now", id, maxEnds), "name what it writes in outputs, or take it out of inputs")
	}
	return w.ended[id] > maxEnds
}

// follow takes in changes until a run is done, and ends those of its tasks that they
// concern.
func (w *watching) follow(ctx context.Context, done <-chan struct{}, cancel chan<- string, keys map[string]cache.Key) (changed bool) {
	for {
		running, stop := context.WithCancel(ctx)
		go func() {
			select {
			case <-done:
			case <-running.Done():
			}
			stop()
		}()
		b, err := w.changes.Next(running)
		w.moved = append(w.moved, b.Replaced...)
		stop()
		if err != nil { // what was told by then has not been looked at
			<-done
			return changed || len(b.Paths) > 0 || b.Rescan
		}
		changed = true
		now, err := w.look(ctx)
		if err != nil {
			continue // the next round tells
		}
		for id, key := range now.keys() {
			if old, known := keys[id]; known && old != key && !w.endless(id) {
				keys[id] = key
				select {
				case cancel <- id:
				case <-done:
				}
			}
		}
		now.ws.close()
	}
}
