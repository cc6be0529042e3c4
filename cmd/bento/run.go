package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
)

func runCommand(s *session) *cobra.Command {
	var sel selection
	cmd := &cobra.Command{
		Use: "run TASK… [-- ARGS…]", GroupID: "run",
		Annotations: traits{Unless: "dry-run", Flags: ofRuns}.annotations(),
		Short:       "Run tasks by name, dependencies first",
		Long:        "Run tasks by name, dependencies first. A TASK is dish:task, or a name, which stands\nfor the task in every selected dish. ARGS are appended to the command of the named\ntasks.",
		Example:     "  bento run build test\n  bento run web:dev -- --port 8080\n  bento run test --dish api --dish web",
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			if len(args) == 0 {
				return usageError("bento run requires the name of a task", "run bento run build, or bento ci for everything")
			}
			sel.Tasks = args
			return s.run(cmd.Context(), sel)
		},
	}
	addRun(cmd, &sel)
	return cmd
}

func lifecycleCommand(s *session, task string) *cobra.Command {
	sel := selection{Request: plan.Request{Tasks: []string{task}}}
	cmd := &cobra.Command{
		Use: task + " [TARGET…] [-- ARGS…]", GroupID: "run",
		Annotations: traits{Unless: "dry-run", Flags: ofRuns}.annotations(),
		Short:       "Run " + task + " in every dish, or in those of TARGET",
		Long:        "Run " + task + " in every dish, or in those of TARGET: the name of a dish or a bento,\ntag:NAME for the dishes with this tag, or a path. Their dependencies run first.",
		Example:     "  bento " + task + "\n  bento " + task + " api\n  bento " + task + " services/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, sel.Args = args[:at], args[at:]
			}
			sel.Targets = args
			return s.run(cmd.Context(), sel)
		},
	}
	addRun(cmd, &sel)
	return cmd
}

func ciCommand(s *session) *cobra.Command {
	var sel selection
	matrix := 0
	cmd := &cobra.Command{
		Use: "ci", GroupID: "run",
		Annotations: traits{Unless: "dry-run", Flags: ofRuns, Warns: true, Strict: true}.annotations(),
		Short:       "Run build, check, lint, test, and tasks with ci = true",
		Example:     "  bento ci\n  bento ci --since origin/main\n  bento ci --shard 1/4\n  bento ci --matrix 4",
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("matrix") {
				return s.printMatrix(cmd.Context(), sel, matrix)
			}
			return s.run(cmd.Context(), sel)
		},
	}
	addRun(cmd, &sel)
	cmd.Flags().IntVar(&matrix, "matrix", 0, "run nothing; print the parts of at most `N` jobs as the matrix of a GitHub workflow")
	return cmd
}

// run plans and runs a request.
func (s *session) run(ctx context.Context, sel selection) error {
	if sel.dry {
		return s.dryRun(ctx, sel)
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	if !s.flags.set.Changed("output") {
		s.few = sel.few()
	}
	t, err := s.newReporting(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	defer t.endCompanions()
	w, err := s.openRun(ctx, t, sel.all())
	if err != nil {
		return err
	}
	defer w.close()
	t.hearOf(w)
	t.logsFrom(w)
	end := s.span("plan")
	p, err := s.planRun(ctx, w, sel)
	if err != nil {
		return err
	}
	end()
	s.warnNoTasks(w, p)
	var doc *report.Run
	r, err := run.Run(ctx, w.env, p, run.Options{
		Workers: s.workers(w.Config), KeepGoing: s.flags.keepGoing || !w.Config.Defaults.FailFast,
		Force: s.flags.noCache || sel.force, SkipInstall: s.flags.skipInstall, ForceInstall: s.flags.forceInstall, Output: t.output, Busy: s.busy(), Memory: machineMemory,
		Yes: sel.yes, Confirm: s.confirmTasks(),
		Sandbox: s.sandboxOf(w.Config),
		Observe: cmp.Or(dish.Observe(s.flags.observe), w.Config.Defaults.Observe), Stdio: s.stdio(), Saving: func(r *run.Report) { doc = draft(w, r) },
	})
	if err != nil {
		return err
	}
	t.hearOf(w)
	t.companions.Leave()
	w.Problems = append(w.Problems, t.companions.Problems()...)
	return s.summarize(ctx, w, r, doc)
}

// dryRun prints the plan of a run. It returns an error if a flag requests a report of a run.
func (s *session) dryRun(ctx context.Context, sel selection) error {
	if len(s.flags.reportFiles) > 0 || s.flags.events+s.flags.profile != "" {
		return usageError("--dry-run runs nothing, so it writes no report, events or profile", "leave out these flags; --json prints the plan as a document")
	}
	return s.printPlan(ctx, sel)
}

// stdio returns the files of interactive tasks. If bento runs in the background of a terminal, the tasks
// have no stdin.
func (s *session) stdio() *run.Stdio {
	in, out := s.files[0], s.files[1]
	if s.flags.json || s.flags.events == "-" { // stdout is for a program
		out = s.files[2]
	}
	owned := in != nil && proc.OwnsTerminal(in)
	if in == nil || !owned && term.IsTerminal(int(in.Fd())) {
		return nil
	}
	return &run.Stdio{In: in, Out: out, Err: s.files[2], Terminal: owned}
}

// reporter returns the reporter of a run for people. On a terminal it is live, which draws a block of the
// running tasks; else live is nil.
func (s *session) reporter() (r terminal.Reporter, live *terminal.Live) {
	if !s.live() {
		return s.lines(), nil
	}
	screen := &terminal.Screen{Terminal: s.err, Columns: s.columns}
	s.out, s.err = screen.Writer(s.out), screen.Writer(s.err)
	live = &terminal.Live{Lines: s.lines(), Screen: screen}
	return live, live
}

// live reports whether the terminal can show a block, and a user may see it.
func (s *session) live() bool {
	_, ci := s.environ.Lookup("CI")
	return s.columns != nil && !ci && s.environ.Get("TERM") != "dumb" && s.flags.output != string(terminal.Stream)
}

// lines returns the reporter of plain lines. With --json stdout is for the document.
func (s *session) lines() *terminal.Lines {
	var out io.Writer = s.out
	if s.flags.json {
		out = s.err
	}
	return &terminal.Lines{
		Out: out, Err: s.err, Mode: terminal.Mode(s.flags.output), Style: s.style, Verbose: s.flags.verbose, Few: s.few,
		GitHub: s.github(), News: s.host().Keep != nil, OutTerminal: s.terminal && !s.flags.json, ErrTerminal: s.columns != nil,
	}
}

func installCommand(s *session) *cobra.Command {
	var force, empty bool
	cmd := &cobra.Command{
		Use: "install [TARGET…]", GroupID: "run",
		Annotations: traits{Flags: []string{"output", "force-install"}}.annotations(),
		Short:       "Install the dependencies of dishes that are out of date",
		Example:     "  bento install\n  bento install api --force",
		RunE: func(cmd *cobra.Command, args []string) error {
			sel := selection{Request: plan.Request{Targets: args, AllowEmpty: empty}}
			return s.install(cmd.Context(), sel, force || s.flags.forceInstall)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "install dependencies even if they are up to date")
	cmd.Flags().BoolVar(&empty, "allow-empty", false, "succeed if no dish is selected")
	return cmd
}

func (s *session) install(ctx context.Context, sel selection, force bool) error {
	lines := s.lines()
	lines.Tools = true
	w, err := s.open(ctx, lines)
	if err != nil {
		return err
	}
	defer w.close()
	p, err := s.planRun(ctx, w, sel)
	if err != nil {
		return err
	}
	installs, err := run.InstallAll(ctx, w.env, w.Tree, p.Dishes, force)
	if err != nil {
		return err
	}
	for _, i := range installs {
		if i.Err != nil {
			s.installFailed(i)
			s.outcome = max(s.outcome, exitOfInstall(i.Err))
		}
	}
	if s.flags.json {
		return report.Write(s.out, report.NewInstall(installs))
	}
	if len(installs) == 0 {
		_, err = io.WriteString(s.out, "everything is installed\n")
	}
	return err
}

// installFailed reports a failed install. It leaves out the output of the tool of a built-in adapter, which
// bento has already printed.
func (s *session) installFailed(i *run.Install) {
	err := i.Err
	if failed := (*adapters.InstallError)(nil); errors.As(err, &failed) && failed.Plugin == "" && failed.Command != "" {
		short := *failed
		short.Detail, err = "", &short
	}
	report.WriteError(s.err, s.style, fmt.Errorf("cannot install the dependencies of %s: %w", i.Dish, err))
	if i.LogPath != "" {
		fmt.Fprintf(s.err, "bento:   log: %s\n", report.Printable(i.LogPath))
	}
}

// splitTask splits "dish:task".
func splitTask(id string) (dish, task string, ok bool) {
	dish, task, ok = strings.Cut(id, ":")
	return dish, task, ok && dish != "" && task != ""
}
