package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// selection selects the dishes and tasks of a command.
type selection struct {
	plan.Request
	only      bool   // without dependencies
	since     string // a ref of git
	shard     string // "I/N"
	durations string // a report of an earlier run
}

// all reports whether every dish is selected.
func (sel *selection) all() bool {
	return len(sel.Targets)+len(sel.Dishes)+len(sel.Bentos) == 0 && sel.since == "" && sel.shard == "" &&
		!slices.ContainsFunc(sel.Tasks, func(task string) bool { return strings.Contains(task, ":") })
}

// addSelection adds the flags of a selection to a command.
func addSelection(cmd *cobra.Command, sel *selection) {
	set := cmd.Flags()
	set.Var(repeated{&sel.Dishes}, "dish", "only the dish `NAME` (repeatable)")
	set.Var(repeated{&sel.Bentos}, "bento", "only the dishes of the bento `NAME` (repeatable)")
	set.Var(repeated{&sel.Exclude}, "exclude", "leave out `TARGET`, or one dish:task, unless another task depends on it (repeatable)")
	set.BoolVar(&sel.only, "only", false, "run the named tasks without their dependencies, up to date or not")
	set.StringVar(&sel.since, "since", "", "only tasks that changes since the merge base of HEAD and `REF` concern, committed or not")
	set.StringVar(&sel.shard, "shard", "", "run only part `I` of N disjoint parts, as in 2/5")
	set.StringVar(&sel.durations, "shard-durations", "", "balance the parts by the durations in `FILE`, a JSON report; use one file for every part")
}

// apply narrows a plan to the selected tasks. It returns the tasks that no change since
// sel.since concerns.
func (sel *selection) apply(ctx context.Context, p *plan.Plan) (narrowed *plan.Plan, clean []*plan.Task, err error) {
	if sel.since != "" {
		changed, err := changedSince(ctx, p.Workspace.Root, sel.since)
		if err != nil {
			return nil, nil, err
		}
		concerned, err := key.Affected(p, changed)
		if err != nil {
			return nil, nil, err
		}
		p, clean = p.Narrow(func(t *plan.Task) bool { return concerned[t] })
	}
	p, err = sel.applyShard(ctx, p)
	return p, clean, err
}

// changedSince lists what changed since a ref, relative to the workspace.
func changedSince(ctx context.Context, root, ref string) ([]string, error) {
	repo, err := git.Open(root)
	if errors.Is(err, git.ErrNoRepo) {
		return nil, notFound("no_repository", "--since "+ref+": "+err.Error(), "move the repository back to its named place, or leave out --since")
	}
	if err != nil {
		return nil, err
	}
	if repo == nil {
		return nil, notFound("no_repository", "--since "+ref+": "+root+" is in no git repository", "leave out --since, or run git init")
	}
	prefix, err := repo.Prefix(root)
	if err != nil {
		return nil, err
	}
	paths, _, err := repo.Changed(ctx, ref)
	switch {
	case errors.Is(err, git.ErrNoCommit), errors.Is(err, git.ErrNoBase):
		hint := "name a branch, a tag or a commit; git fetch gets those of a remote"
		if shallow, _ := repo.Shallow(ctx); shallow {
			hint = "this is a shallow clone, which lacks the commits in between: git fetch --unshallow (in CI: a checkout with its whole history)"
		}
		return nil, notFound("unknown_ref", "--since "+err.Error(), hint)
	case err != nil:
		return nil, gitFault(repo, ref, err)
	}
	var inside []string
	for _, p := range paths {
		if prefix == "" {
			inside = append(inside, p)
		} else if rel, ok := strings.CutPrefix(p, prefix+"/"); ok {
			inside = append(inside, rel)
		}
	}
	return inside, nil
}

// gitFault returns the problem for an error of git.
func gitFault(repo *git.Repo, ref string, err error) error {
	var failed *git.Error
	switch {
	case errors.Is(err, git.ErrMissing):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "install git, or leave out --since")
	case errors.Is(err, git.ErrOwner):
		return notFound("git_unreadable", fmt.Sprintf("--since %s: %v: %q", ref, git.ErrOwner, repo.TopLevel()),
			fmt.Sprintf("run git config --global --add safe.directory %q to have git trust it", repo.TopLevel()))
	case errors.Is(err, git.ErrStalls):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "remove it, or leave out --since")
	case errors.As(err, &failed) || errors.Is(err, git.ErrDamaged):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "run git status and git fsck, which report the cause")
	}
	return err
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

// maxShards bounds how many parts there can be.
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

// plan makes a plan. It prints warnings, and returns errors of the workspace or the
// request.
func (s *session) plan(ctx context.Context, w *opened, sel selection) (*plan.Plan, error) {
	if err := diagnostics.AsError(s.stopping(w)); err != nil {
		return nil, err
	}
	p, _, problems, err := s.build(ctx, w, sel)
	if err != nil {
		return nil, err
	}
	w.Problems = diagnostics.Sorted(append(w.Problems, problems...))
	if err := diagnostics.AsError(s.stopping(w)); err != nil {
		return nil, err
	}
	report.WriteProblems(s.err, s.style, w.Problems)
	if s.flags.verbose {
		report.WriteProblems(s.err, s.style, wholeLocks(w.Workspace.Workspace))
	}
	return p, nil
}

// build makes a plan, nil if problems prevent it. clean are the tasks that it leaves out
// because no change concerns them.
func (s *session) build(ctx context.Context, w *opened, sel selection) (p *plan.Plan, clean []*plan.Task, problems []diagnostics.Diagnostic, err error) {
	if err := w.locate(&sel.Request); err != nil {
		return nil, nil, nil, err
	}
	if _, _, err := parseShard(sel.shard); sel.shard != "" && err != nil {
		return nil, nil, nil, err // even without tasks to divide
	}
	p, problems = plan.Build(w.Workspace.Workspace, sel.Request)
	if p == nil || len(p.Tasks) == 0 {
		return p, nil, problems, nil
	}
	p, clean, err = sel.apply(ctx, p)
	if err == nil && sel.only {
		p.Hold()
	}
	if err == nil && !sel.AllTasks { // of which nobody runs all
		problems = append(problems, run.FindOverlaps(p).Problems...)
	}
	return p, clean, problems, err
}
