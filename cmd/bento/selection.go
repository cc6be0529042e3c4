package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/workspace"
)

// selection selects the dishes and tasks of a command.
type selection struct {
	plan.Request
	names     []string // of targets and tasks; divide sorts them once the dishes are known
	only      bool     // without dependencies
	force     bool     // no result is taken from the cache
	dry       bool     // nothing runs; the plan is printed
	yes       bool     // tasks run without their questions
	filters   []string // targets, as other tools write them; filter sorts them
	since     string   // a ref of git
	affected  bool     // since is the default branch
	shard     string   // "I/N"
	durations string   // a report of an earlier run
}

// all reports whether every dish is selected.
func (sel *selection) all() bool {
	return len(sel.names)+len(sel.Targets)+len(sel.Dishes)+len(sel.Bentos)+len(sel.filters) == 0 && sel.since == "" && !sel.affected && sel.shard == "" &&
		!slices.ContainsFunc(sel.Tasks, func(task string) bool { return strings.Contains(task, ":") })
}

// few returns the number of requested tasks up to which a run shows what they print as it comes: a user who names a task
// wants to see it. A name without a dish stands for a task of every dish, so it has to be the only one.
func (sel *selection) few() int {
	names := slices.Concat(sel.Tasks, sel.Targets, sel.Dishes)
	many := func(name string) bool { return strings.ContainsAny(name, "*?[{") || strings.HasPrefix(name, "tag:") }
	whole := func(task string) bool { return strings.Contains(task, ":") }
	switch {
	case len(sel.Tasks) == 0 || sel.since+sel.shard != "" || sel.affected || len(sel.filters)+len(sel.Bentos)+len(sel.Exclude) > 0 || slices.ContainsFunc(names, many):
		return 0
	case len(sel.Targets)+len(sel.Dishes) > 0 || !slices.ContainsFunc(sel.Tasks, func(task string) bool { return !whole(task) }):
		return mostShown
	}
	return 1
}

// mostShown is the number of tasks whose output a reader can follow side by side.
const mostShown = 3

// addSelection adds the flags of a selection to a command.
func addSelection(cmd *cobra.Command, sel *selection) {
	set := cmd.Flags()
	set.Var(repeated{&sel.Dishes}, "dish", "only the dish `NAME`, or tag:TAG (repeatable)")
	set.Var(repeated{&sel.filters}, "filter", "only the dishes of `TARGET`; api... adds dependencies, ...api dependents, !api leaves out (repeatable)")
	set.Var(repeated{&sel.Bentos}, "bento", "only the dishes of the bento `NAME` (repeatable)")
	set.Var(repeated{&sel.Exclude}, "exclude", "leave out `TARGET`, or one dish:task, unless another task depends on it (repeatable)")
	set.BoolVar(&sel.only, "only", false, "run the named tasks without their dependencies, up to date or not")
	set.StringVar(&sel.since, "since", "", "only tasks that changes since the merge base of HEAD and `REF` concern, committed or not")
	set.BoolVar(&sel.affected, "affected", false, "as --since with the default branch: that of origin, else main or master")
	set.StringVar(&sel.shard, "shard", "", "run only part `I` of N disjoint parts, as in 2/5")
	set.StringVar(&sel.durations, "shard-durations", "", "balance the parts by the durations in `FILE`, a JSON report; use one file for every part")
}

// addForce adds the flag by which every selected task runs.
func addForce(cmd *cobra.Command, sel *selection) {
	cmd.Flags().BoolVar(&sel.force, "force", false, "take no result from the cache, as --no-cache does; results are still stored")
}

// addRun adds the flags of a command that runs tasks once.
func addRun(cmd *cobra.Command, sel *selection) {
	addSelection(cmd, sel)
	addForce(cmd, sel)
	cmd.Flags().BoolVar(&sel.dry, "dry-run", false, "run nothing; print the plan of this selection, as bento plan does")
	cmd.Flags().BoolVar(&sel.yes, "yes", false, "run tasks with confirm without a question")
	cmd.Flags().BoolVar(&sel.AllowEmpty, "allow-empty", false, "succeed if no dish is selected")
}

// divide sorts the names of a selection into targets and tasks.
func (sel *selection) divide(w *opened) error {
	if sel.names == nil {
		return nil
	}
	targets, tasks, err := w.Divide(sel.names, w.dir)
	if err != nil {
		return err
	}
	sel.Targets, sel.Tasks, sel.names = append(sel.Targets, targets...), append(sel.Tasks, tasks...), nil
	if len(sel.Tasks) == 0 && len(sel.Args) > 0 {
		return usageError("arguments after -- are for tasks, and no task is named", "name a task, as in bento plan test -- -v")
	}
	return nil
}

// apply narrows a plan of w to the selected tasks. It returns the tasks that no change since
// sel.since concerns.
func (sel *selection) apply(ctx context.Context, w *opened, p *plan.Plan) (narrowed *plan.Plan, clean []*plan.Task, err error) {
	if sel.since != "" || sel.affected {
		changed, err := sel.changed(ctx, p.Workspace.Root)
		if err != nil {
			return nil, nil, err
		}
		concerned, err := key.Affected(p, w.Tree, w.History, changed)
		if err != nil {
			return nil, nil, err
		}
		p, clean = p.Narrow(func(t *plan.Task) bool { return concerned[t] })
		p.KeepLost(changed)
	}
	p, err = sel.applyShard(ctx, p)
	return p, clean, err
}

// applyShard narrows a plan to one part of it.
func (sel *selection) applyShard(ctx context.Context, p *plan.Plan) (*plan.Plan, error) {
	if sel.shard == "" {
		if sel.durations != "" {
			return nil, usageError("--shard-durations requires --shard", "add --shard I/N, or leave out --shard-durations")
		}
		return p, nil
	}
	index, count, err := parseShard(sel.shard)
	if err != nil {
		return nil, err
	}
	weight, err := weights(ctx, sel.durations)
	if err != nil {
		return nil, err
	}
	p, _ = p.Narrow(p.Shard(index, count, weight))
	return p, nil
}

// maxShards is the maximal number of parts.
const maxShards = 10_000

func parseShard(text string) (index, count int, err error) {
	i, n, ok := strings.Cut(text, "/")
	index, ierr := strconv.Atoi(i)
	count, nerr := strconv.Atoi(n)
	if !ok || ierr != nil || nerr != nil || count < 1 || count > maxShards || index < 1 || index > count {
		return 0, 0, usageError(fmt.Sprintf("--shard %q is not a part I/N", text), "expected I/N with I from 1 to N, as in --shard 2/5")
	}
	return index, count, nil
}

// weights returns the weight of tasks: their durations in the run of a report, equal
// weights without a report.
func weights(ctx context.Context, name string) (func(*plan.Task) int64, error) {
	if name == "" {
		return func(*plan.Task) int64 { return 1 }, nil
	}
	data, err := readNamed(ctx, name)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, usageError(fmt.Sprintf("--shard-durations %q cannot be read: %v", name, err), "expected the file of an earlier --report-file")
	}
	var doc report.Run
	if err := json.Unmarshal(data, &doc); err != nil || !strings.HasPrefix(doc.Schema, "bento.") {
		return nil, usageError(fmt.Sprintf("--shard-durations %q is no report of a run", name), "expected the file of an earlier --report-file")
	}
	took := doc.Durations()
	return func(t *plan.Task) int64 { return took[t.ID()].Milliseconds() }, nil
}

// plan makes a plan. It prints warnings, and returns the errors of the workspace and of the request.
func (s *session) plan(ctx context.Context, w *opened, sel selection) (*plan.Plan, error) {
	if s.strict {
		refuseLost(w.Problems)
	}
	if broken := s.stopping(w); slices.ContainsFunc(broken, func(p diagnostics.Diagnostic) bool { return p.Severity == diagnostics.Error && !w.isLost(p) }) {
		// A broken file may be why the selection has no such dish or task.
		return nil, diagnostics.AsError(append(slices.Clone(broken), planProblems(w)...))
	}
	p, _, problems, err := s.build(ctx, w, sel)
	if err != nil {
		return nil, err
	}
	// A plugin that failed may be why the selection has no such dish: the cause comes first.
	causes := w.Problems
	w.Problems = diagnostics.Sorted(append(slices.Clone(causes), problems...))
	if len(diagnostics.Errors(s.stopping(w))) > 0 {
		w.Problems = append(slices.Clone(causes), problems...)
		return nil, diagnostics.Problems(s.stopping(w))
	}
	report.WriteProblems(s.err, s.style, w.Problems)
	if s.flags.verbose {
		report.WriteProblems(s.err, s.style, w.WholeLocks())
	}
	return p, nil
}

// refuseLost turns the warning about a dish that only a failed plugin could build into an error: CI must
// not succeed without that dish.
func refuseLost(problems []diagnostics.Diagnostic) {
	for i := range problems {
		if problems[i].Rule == workspace.RulePluginLost {
			problems[i].Severity = diagnostics.Error
		}
	}
}

// planProblems returns the problems in the user's files that only a plan of all tasks finds.
func planProblems(w *opened) []diagnostics.Diagnostic {
	_, problems := wholePlan(w)
	return problems
}

// wholePlan returns the plan of all tasks, nil if it cannot be made, and the problems of that plan in the
// user's files.
func wholePlan(w *opened) (*plan.Plan, []diagnostics.Diagnostic) {
	req := plan.Request{Reads: w.History.Reads()}
	p, problems := plan.Build(w.Workspace.Workspace, req)
	if p == nil {
		p = plan.Sound(w.Workspace.Workspace, req)
	}
	problems = append(problems, run.FindConflicts(p)...)
	return p, slices.DeleteFunc(problems, func(d diagnostics.Diagnostic) bool { return d.File == "" })
}

// concerns reports whether a problem is one of the request: a warning about tests or
// a script that no task runs is one if the request selects the dish and, for tests, may select the task test. p is nil if
// there is no plan.
func (sel *selection) concerns(p *plan.Plan, d diagnostics.Diagnostic) bool {
	if d.Rule != snapshot.RuleUntested && d.Rule != snapshot.RuleUnmapped {
		return true
	}
	if d.Rule == snapshot.RuleUntested && len(sel.Tasks) > 0 && !slices.Contains(sel.Tasks, "test") {
		return false
	}
	return p == nil || slices.ContainsFunc(p.Dishes, func(of *dish.Dish) bool { return of.Name == d.Dish })
}

// build makes a plan, nil if problems prevent it. clean are the tasks that it leaves out
// because no change concerns them.
func (s *session) build(ctx context.Context, w *opened, sel selection) (p *plan.Plan, clean []*plan.Task, problems []diagnostics.Diagnostic, err error) {
	if err := sel.divide(w); err != nil {
		return nil, nil, nil, err
	}
	if err := sel.filter(); err != nil {
		return nil, nil, nil, err
	}
	sel.Dir = w.dir
	if err := w.Locate(&sel.Request); err != nil {
		return nil, nil, nil, err
	}
	if _, _, err := parseShard(sel.shard); sel.shard != "" && err != nil {
		return nil, nil, nil, err // even without tasks to divide
	}
	sel.Reads = w.History.Reads()
	p, problems = plan.Build(w.Workspace.Workspace, sel.Request)
	if p == nil && !sel.AllTasks {
		problems = append(problems, run.FindConflicts(plan.Sound(w.Workspace.Workspace, sel.Request))...)
	}
	problems = append(problems, w.absentSubmodules(problems)...)
	w.Problems = slices.DeleteFunc(w.Problems, func(d diagnostics.Diagnostic) bool { return !sel.concerns(p, d) })
	if p == nil || len(p.Tasks)+len(p.Lost) == 0 {
		w.settleLost(p)
		return p, nil, problems, nil
	}
	p, clean, err = sel.apply(ctx, w, p)
	if err == nil {
		w.settleLost(p)
	}
	if err == nil && sel.only {
		p = p.Hold()
	}
	if err == nil && !sel.AllTasks { // AllTasks is not a run: no user runs all tasks
		problems = append(problems, run.FindConflicts(p)...)
	}
	return p, clean, problems, err
}
