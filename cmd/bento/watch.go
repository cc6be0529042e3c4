package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/watch"
	"github.com/bentobuild/bento/plugin/adapter"
)

func watchCommand(s *session) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use: "watch TASK… [TARGET] [-- ARGS…]", GroupID: "run",
		Short:   "Run tasks, and again after each change of their inputs",
		Long:    "Run tasks by name, and again after each change of their inputs. Only the tasks that\na change concerns run again. If the inputs of a running task change, bento ends it\nand starts it again; a persistent one restarts also if its dependencies change. The\nlast argument may be a target: a dish, a bento or a path. --no-cache and\n--force-install apply to the first run only. At a terminal Enter runs all again, f\nwhat failed, l shows the last log, and q ends.",
		Example: "  bento watch build test\n  bento watch test services/\n  bento watch web:dev api:serve",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			if len(args) == 0 {
				return usageError("bento watch requires the name of a task", "run for example bento watch build")
			}
			sel.Tasks = args
			return s.watch(cmd.Context(), sel)
		},
	}
	addSelection(cmd, &sel)
	addForce(cmd, &sel)
	return cmd
}

// watching is the state of `bento watch` between two evaluations of the workspace.
type watching struct {
	s       *session
	sel     selection
	people  terminal.Reporter
	teller  *serial
	telling *telling

	changes *watch.Watcher
	concern atomic.Pointer[func(path string) bool] // the changes that matter

	again   bool                 // a run has ended before
	failed  bool                 // the last evaluation found an error
	paths   []string             // some of the paths that changed since the last round
	moved   []string             // the dishes that appeared or vanished since the last round
	ran     bool                 // tasks ran since moved was printed
	said    string               // the last printed problems
	last    map[string]cache.Key // by task: the key of its last run
	loops   map[string]int       // by task: its runs without a pause; a run that changed its own inputs counts more
	ended   map[string]int       // by task: how often bento ended it without a pause
	servers map[string]*server
	// serverBegan: a server that waited for its dependencies has started since the last round.
	serverBegan atomic.Bool
	bad         map[string]bool // tasks whose last run did not succeed
	watched     int             // the number of tasks in the last round

	keys  keys
	keyed bool // a user can press them
}

// watch runs the selected tasks until it is interrupted.
func (s *session) watch(ctx context.Context, sel selection) error {
	if s.flags.json {
		return usageError("bento watch does not end, so it has no --json document", "use --events FILE")
	}
	if len(s.flags.reportFiles) > 0 || s.flags.profile != "" {
		return usageError("bento watch does not end, so it writes no report and no trace", "use --events FILE")
	}
	switch takes := s.takesKeys(); {
	case takes && !s.keyed:
		return s.rerun(ctx)
	case !takes:
		s.columns = nil // plain lines
	}
	s.host().Keep = new(adapter.Keep)
	defer s.host().Keep.Close()
	t, err := s.newTelling(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	defer t.endCompanions()
	w := &watching{
		s: s, sel: sel, people: t.people, telling: t, teller: &serial{Reporter: t},
		last: make(map[string]cache.Key), loops: make(map[string]int), ended: make(map[string]int), servers: make(map[string]*server),
		bad: make(map[string]bool), keys: keys{wake: make(chan struct{}, 1)},
	}
	ctx, w.keys.end = context.WithCancel(ctx)
	defer w.keys.end()
	if err := w.run(ctx); !w.keys.quit.Load() {
		return err
	}
	return nil
}

// serial passes the events of several runs to a reporter, one at a time.
type serial struct {
	mu sync.Mutex
	run.Reporter
}

func (s *serial) Report(ev run.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reporter.Report(ev)
}

// run evaluates the workspace, runs tasks and waits for changes, in a loop.
func (w *watching) run(ctx context.Context) error {
	root, _, err := w.s.root()
	if err != nil {
		return err
	}
	var why error
	w.changes, why = watch.Start(watch.Options{Root: root, Wake: w.keys.wake, Ignore: func(p string) bool {
		wanted := w.concern.Load()
		return wanted != nil && !(*wanted)(p)
	}})
	if why != nil {
		w.s.warn("watch_polls", "this system does not report changes: "+why.Error(), "bento checks the workspace every second")
	}
	defer w.changes.Close()
	defer w.openKeys()()
	defer w.stopServers()
	if live, ok := w.people.(*terminal.Live); ok {
		defer live.Rest(nil)
	}
	first := true
	own := false // the change of this round happened while tasks were running
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
			w.telling.hearOf(l.ws)
			l.ws.close()
		}
		if !w.s.pipes.unread() && (own || w.keys.pending() || w.serverBegan.Swap(false)) {
			continue
		}
		w.rest(ctx)
		if w.s.pipes.unread() {
			return nil // the reader of the output is gone
		}
		b, err := w.changes.Next(ctx)
		if err != nil {
			return err
		}
		w.changed(b)
	}
}

// mended prints that the errors of the last evaluation are corrected.
func (w *watching) mended() {
	if w.failed {
		fmt.Fprintln(w.s.err, w.s.style.Dim("bento: the errors are corrected"))
	}
	w.ran, w.failed = w.ran || w.failed, false
}

// forget drops the last keys of tasks whose dish vanished or appeared again: the outputs of these tasks may
// be missing.
func (w *watching) forget(l *look) {
	there := make(map[string]bool, len(l.plan.Tasks))
	for _, t := range l.plan.Tasks {
		there[t.ID()] = !slices.ContainsFunc(w.moved, func(p string) bool { return p != "." && key.Inside(t.Dish.Path, p) })
	}
	w.moved = nil
	maps.DeleteFunc(w.last, func(id string, _ cache.Key) bool { return !there[id] })
	maps.DeleteFunc(w.bad, func(id string, _ bool) bool { return !there[id] })
}

// look is one evaluation of the workspace.
type look struct {
	ws      *opened
	plan    *plan.Plan
	results []*key.Evaluation
}

// keys returns the known keys of the tasks.
func (l *look) keys() map[string]cache.Key {
	keys := make(map[string]cache.Key, len(l.results))
	for _, r := range l.results {
		if r.Known {
			keys[r.Task.ID()] = r.Key
		}
	}
	return keys
}

// look opens the workspace, watches its files and computes all keys. If a file changes
// meanwhile, the next look sees it.
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
	added = w.followDirs(ws.Tree.Dirs())
	l = &look{ws: ws}
	if l.plan, err = w.plan(ctx, ws); err != nil {
		return nil, false, err
	}
	added = w.followDirs(above(l.toolFiles())) || added
	ev, err := ws.env.Evaluator(l.plan, false)
	if err == nil {
		l.results, err = ev.All(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	for i, r := range l.results {
		if r.Task.Requested && r.Task.Persistent {
			l.results[i] = ev.Loaded(ctx, r) // to name changed inputs
		}
	}
	ev.Save()
	w.wanted(l)
	return l, added, nil
}

func (w *watching) followDirs(dirs []string) bool {
	added, err := w.changes.Follow(dirs)
	if err != nil {
		w.s.warn("watch_polls", "some directories cannot be watched: "+err.Error(), "bento checks the workspace every second; on Linux, raise fs.inotify.max_user_watches")
	}
	return added
}

// plan makes the plan of all watched tasks, and prints problems that are new since the last
// look.
func (w *watching) plan(ctx context.Context, ws *opened) (*plan.Plan, error) {
	sel := w.sel
	if n := len(sel.Tasks); n > 1 && len(sel.Targets) == 0 {
		if ws.isTarget(sel.Tasks[n-1]) {
			sel.Tasks, sel.Targets = sel.Tasks[:n-1], sel.Tasks[n-1:]
		}
	}
	sel.Targets = slices.Clone(sel.Targets) // build changes them to paths relative to the root
	sel.Exclude = slices.Clone(sel.Exclude)
	p, _, problems, err := w.s.build(ctx, ws, sel)
	if err != nil {
		return nil, err
	}
	problems = diagnostics.Sorted(append(ws.Problems, problems...))
	if err := diagnostics.AsError(problems); err != nil {
		return nil, err
	}
	for _, t := range p.Tasks {
		if t.Requested && t.Interactive {
			return nil, usageError(t.ID()+" is interactive, and bento watch runs no interactive task", "run it once with bento run "+t.ID())
		}
	}
	if text := fmt.Sprint(problems); text != w.said {
		w.said = text
		report.WriteProblems(w.s.err, w.s.style, problems)
	}
	return p, nil
}

// isTarget reports whether name, the last argument, names dishes and not a task.
func (w *opened) isTarget(name string) bool {
	if strings.ContainsRune(name, ':') {
		return false
	}
	_, problems := plan.Build(w.Workspace.Workspace, plan.Request{Tasks: []string{name}})
	if len(diagnostics.Errors(problems)) == 0 {
		return false
	}
	req := plan.Request{Targets: []string{name}}
	if w.locate(&req) != nil {
		return false
	}
	_, problems = plan.Build(w.Workspace.Workspace, req)
	return len(diagnostics.Errors(problems)) == 0
}

// wanted sets the paths that matter to the watcher: those that git does not ignore, and ignored paths that
// tasks name.
func (w *watching) wanted(l *look) {
	named := make(map[string]bool)
	for _, r := range l.results {
		for _, e := range r.Entries {
			named[e.Path] = true
		}
	}
	files := l.toolFiles()
	for _, p := range slices.Concat(files, above(files)) {
		named[p] = true
	}
	tree := l.ws.Tree
	wanted := func(p string) bool { return named[p] || !tree.Ignored(p, false) && !tree.Ignored(p, true) }
	w.concern.Store(&wanted)
}

// round runs the tasks whose key has changed since their last run. again reports whether files changed
// meanwhile.
func (w *watching) round(ctx context.Context, l *look, own bool) (again bool) {
	keys, paths := l.keys(), w.paths
	w.paths = nil
	w.forget(l)
	if !own {
		clear(w.loops)
		clear(w.ended)
	}
	asked := w.keys.take()
	w.askedFor(asked)
	var due, serve []string
	w.watched = 0
	for _, t := range l.plan.Tasks {
		id := t.ID()
		if t.Requested {
			w.watched++
		}
		switch key, known := keys[id]; {
		case !t.Requested:
		case t.Persistent:
			if w.isDue(l, id, paths) {
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
		w.restartServer(l.result(id), paths)
	}
	w.ran = w.ran || len(due)+len(serve) > 0
	if len(due) > 0 {
		again = w.runDue(ctx, l, due, asked == askAll)
	}
	for _, id := range serve {
		if ctx.Err() == nil {
			w.startServer(ctx, l.result(id))
		}
	}
	return again
}

// runDue runs the due tasks, and ends tasks whose keys change while they run. With force, it takes no result
// from the cache. again reports whether files changed meanwhile.
func (w *watching) runDue(ctx context.Context, l *look, due []string, force bool) (again bool) {
	keys := l.keys()
	p, _ := l.plan.Narrow(func(t *plan.Task) bool { return slices.Contains(due, t.ID()) })
	cancel := make(chan string)
	running, ended := context.WithCancel(ctx)
	done := make(chan struct{})
	var r *run.Report
	var err error
	w.people.Open(l.ws.env.Store)
	go func() {
		defer ended()
		defer close(done)
		r, err = run.Run(ctx, l.ws.env, p, run.Options{
			Workers: w.s.workers(l.ws.Config), KeepGoing: true, Cancel: cancel, Busy: w.s.busy(), Memory: machineMemory, Output: w.telling.output,
			Force: force || (w.s.flags.noCache || w.sel.force) && !w.again, SkipInstall: w.s.flags.skipInstall, ForceInstall: w.s.flags.forceInstall && !w.again,
		})
	}()
	again = w.follow(running, done, cancel, keys)
	w.again = true
	if err != nil {
		report.WriteError(w.s.err, w.s.style, err)
		for _, id := range due {
			w.last[id] = keys[id] // the task does not run again before a change
		}
		return again
	}
	if w.s.pipes.unread() {
		w.s.outcome = exitOf(r)
	}
	w.keys.noteLast(r.Results)
	w.noteResults(r.Results, keys)
	return again
}

// noteResults stores the parts of the results of a run that the next rounds need.
func (w *watching) noteResults(results []*run.Result, keys map[string]cache.Key) {
	executed := 0
	for _, res := range results {
		if res.Outcome.Executed() {
			executed++
		}
	}
	for _, res := range results {
		id := res.Task.ID()
		if res.Outcome.Executed() {
			w.count(res, executed == 1)
		}
		if !res.Task.Requested {
			continue
		}
		ended := res.Reason == run.ReasonChanged || res.Reason == run.ReasonInterrupted
		delete(w.bad, id)
		if res.Outcome == run.Failed || res.Outcome == run.Skipped && !ended {
			w.bad[id] = true
		}
		switch {
		case ended:
			// Its outputs are missing, so it runs again even if the change is undone.
			delete(w.last, id)
			w.ended[id]++
		case res.Key != (cache.Key{}):
			w.last[id] = res.Key
		default:
			w.last[id] = keys[id]
		}
	}
}

// follow receives changes until a run ends, and ends the tasks whose keys they change. The end of the run
// also ends ctx.
func (w *watching) follow(ctx context.Context, done <-chan struct{}, cancel chan<- string, keys map[string]cache.Key) (changed bool) {
	for {
		b, err := w.changes.Next(ctx)
		w.changed(b)
		if err != nil { // ctx has ended; b has the changes until then
			<-done
			return changed || len(b.Paths) > 0 || b.Rescan
		}
		if len(b.Paths) == 0 && !b.Rescan {
			continue // a key was pressed: it is for the next round
		}
		changed = true
		now, err := w.look(ctx)
		if err != nil {
			continue // the next round reports it
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
