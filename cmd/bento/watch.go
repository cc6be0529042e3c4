package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/feed"
	"github.com/bentobuild/bento/internal/panes"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/watch"
	"github.com/bentobuild/bento/plugin/adapter"
)

func watchCommand(s *session) *cobra.Command {
	var sel selection
	var ui bool
	cmd := &cobra.Command{
		Use: "watch TASK… [TARGET] [-- ARGS…]", GroupID: "run",
		Annotations: traits{Flags: ofWatch, Refuses: true}.annotations(),
		Short:       "Run tasks, and again after each change of their inputs",
		Long:        "Run tasks by name, and again after each change of their inputs. Only the tasks that\na change concerns run again. If the inputs of a running task change, bento ends it\nand starts it again; a persistent one restarts also if its dependencies change. The\nlast argument may be a target: a dish, a bento or a path. --no-cache and\n--force-install apply to the first run only. At a terminal Enter runs all again, f\nwhat failed, l shows the last log, and q ends. With --ui the terminal shows the list of\nthe tasks beside the log of one of them; ? lists the keys.",
		Example:     "  bento watch build test\n  bento watch test services/\n  bento watch web:dev api:serve\n  bento watch build test web:dev --ui",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			if len(args) == 0 {
				return usageError("bento watch requires the name of a task", "run for example bento watch build")
			}
			sel.Tasks = args
			return s.watch(cmd.Context(), sel, ui)
		},
	}
	cmd.Flags().BoolVar(&ui, "ui", false, "show the tasks, and the log of one of them, on the whole terminal")
	addSelection(cmd, &sel)
	addForce(cmd, &sel)
	return cmd
}

// watching is one bento watch: what it runs, and how it shows the loop.
type watching struct {
	s         *session
	sel       selection
	reporting *reporting
	loop      *watch.Loop
	panes     *panes.Panes // nil without --ui
	shown     string       // the last printed problems
	again     bool         // a run has ended before
	keyed     bool         // a user can press keys
	quit      atomic.Bool  // the user has pressed q
	end       context.CancelFunc
}

// watch runs the selected tasks until it is interrupted.
func (s *session) watch(ctx context.Context, sel selection, ui bool) error {
	if s.flags.json {
		return usageError("bento watch does not end, so it has no --json document", "use --events FILE")
	}
	if len(s.flags.reportFiles) > 0 || s.flags.profile != "" {
		return usageError("bento watch does not end, so it writes no report and no trace", "use --events FILE")
	}
	switch takes := s.takesKeys(); {
	case ui && !s.keyed:
		return s.rerunPanes(ctx)
	case ui:
	case takes && !s.keyed:
		return s.rerun(ctx)
	case !takes:
		s.columns = nil // plain lines
	}
	root, _, err := s.root()
	if err != nil {
		return err
	}
	w := &watching{s: s, sel: sel}
	ctx, w.end = context.WithCancel(ctx)
	defer w.end()
	w.loop = watch.New(watch.Options{
		Root: root, Open: w.open, Serve: w.serve, Unread: s.pipes.unread, Rest: w.rest, Changed: func(paths []string) { w.reporting.companions.WatchChanged(paths) },
		Restarting: func(id, why string) { w.restarter().Restart(id, why) },
		Corrected:  func() { fmt.Fprintln(s.err, s.style.Dim("bento: the errors are corrected")) },
		NoneFailed: func() { fmt.Fprintln(s.err, "bento: no task has failed") },
		Failed:     func(err error) { report.WriteError(s.err, s.style, err) }, Warn: s.warn,
	})
	if ui {
		closePanes, err := w.openPanes(ctx, root)
		if err != nil {
			return err
		}
		defer closePanes()
	}
	s.host().Keep = new(adapter.Keep)
	defer s.host().Keep.Close()
	t, err := s.newReporting(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	defer t.endCompanions()
	if w.reporting = t; ui {
		t.people, t.output = w.panes, t.events != nil
	}
	defer w.openKeys()()
	if t.live != nil {
		defer t.live.Rest(nil)
	}
	if err := w.loop.Run(ctx); !w.quit.Load() {
		return err
	}
	return nil
}

// open opens the workspace for the loop.
func (w *watching) open(ctx context.Context) (*watch.Workspace, error) {
	ws, err := w.s.openRun(ctx, w.reporting, false)
	if err != nil {
		return nil, err
	}
	return &watch.Workspace{
		Env:  ws.env,
		Plan: func(ctx context.Context) (*plan.Plan, error) { return w.plan(ctx, ws) },
		Run: func(ctx context.Context, p *plan.Plan, cancel <-chan string, again func(*plan.Task) bool) (*run.Report, error) {
			return w.run(ctx, ws, p, run.Options{Cancel: cancel, Again: again})
		},
		Close: func() {
			w.reporting.hearOf(ws)
			ws.close()
		},
	}, nil
}

// run runs tasks of the loop; o has what the loop wants.
func (w *watching) run(ctx context.Context, ws *opened, p *plan.Plan, o run.Options) (*run.Report, error) {
	s := w.s
	w.reporting.logsFrom(ws)
	o.Workers, o.KeepGoing, o.Busy, o.Memory, o.Output = s.workers(ws.Config), true, s.busy(), machineMemory, w.reporting.output
	o.Force = (s.flags.noCache || w.sel.force) && !w.again
	o.Sandbox = s.sandboxOf(ws.Config)
	o.SkipInstall, o.ForceInstall = s.flags.skipInstall, s.flags.forceInstall && !w.again
	w.again = true
	r, err := run.Run(ctx, ws.env, p, o)
	if err == nil && s.pipes.unread() {
		s.outcome = exitOf(r)
	}
	return r, err
}

// plan makes the plan of all watched tasks, and prints problems that are new since the last one.
func (w *watching) plan(ctx context.Context, ws *opened) (*plan.Plan, error) {
	sel := w.sel
	if n := len(sel.Tasks); n > 1 && len(sel.Targets) == 0 {
		if ws.IsTarget(sel.Tasks[n-1], ws.dir) {
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
		if t.Question() != "" {
			return nil, usageError(t.ID()+" asks before it runs, and bento watch repeats tasks", "run it once with bento run "+t.ID()+", or leave it out with --exclude")
		}
		if t.Requested && t.Interactive {
			return nil, usageError(t.ID()+" is interactive, and bento watch runs no interactive task", "run it once with bento run "+t.ID())
		}
	}
	if text := fmt.Sprint(problems); text != w.shown {
		w.shown = text
		report.WriteProblems(w.s.err, w.s.style, problems)
	}
	if w.panes != nil {
		w.panes.SetPlan(p)
	}
	return p, nil
}

// seen passes events to a feed, and to a function before it reports them, or not.
type seen struct {
	run.Reporter
	feed *feed.Writer
	see  func(run.Event) (shown bool)
}

func (l seen) Report(ev run.Event) {
	l.feed.Report(ev)
	if l.see(ev) {
		l.Reporter.Report(ev)
	}
}

// serve runs one persistent task until it ends, and prints its output as it comes.
func (w *watching) serve(ctx context.Context, id string, see func(run.Event) bool) error {
	lines := w.s.lines()
	lines.Brief = true
	live := new(feed.Writer)
	defer live.Close()
	var people run.Reporter = lines
	if w.panes != nil {
		people = w.panes
	}
	ws, err := w.s.open(ctx, seen{people, live, see})
	if err != nil {
		return err
	}
	defer ws.close()
	live.In(ws.env.State, w.s.line)
	lines.Store = ws.env.Store
	p, _, problems, err := w.s.build(ctx, ws, selection{Request: plan.Request{Tasks: []string{id}, IDs: true, Args: w.sel.Args}})
	if err == nil {
		err = diagnostics.AsError(problems)
	}
	if err != nil {
		return err
	}
	_, err = run.Run(ctx, ws.env, p, run.Options{Workers: w.s.workers(ws.Config), Memory: machineMemory, Output: w.panes == nil && lines.Live()})
	return err
}
