package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

// selection is what a command is to be about.
type selection struct {
	plan.Request
	shard     string // "I/N"
	durations string // a report of an earlier run
}

// addSelection gives a command the flags of a selection.
func addSelection(cmd *cobra.Command, sel *selection) {
	set := cmd.Flags()
	set.StringArrayVar(&sel.Dishes, "dish", nil, "only the dish `NAME` (repeatable)")
	set.StringArrayVar(&sel.Bentos, "bento", nil, "only the dishes of the bento `NAME` (repeatable)")
	set.StringArrayVar(&sel.Exclude, "exclude", nil, "leave out `TARGET`, or one dish:task, unless something else needs it (repeatable)")
	set.StringVar(&sel.shard, "shard", "", "only part `I/N` of it: the parts are disjoint and together everything")
	set.StringVar(&sel.durations, "shard-durations", "", "make parts even by the durations in `FILE`, a JSON report that is the same for every part")
}

// apply narrows a plan to what is selected of it.
func (sel *selection) apply(p *plan.Plan) (*plan.Plan, error) {
	if sel.shard == "" {
		if sel.durations != "" {
			return nil, usageError("--shard-durations says nothing without --shard", "")
		}
		return p, nil
	}
	index, count, err := parseShard(sel.shard)
	if err != nil {
		return nil, err
	}
	weight, err := weights(sel.durations)
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
		return 0, 0, usageError(fmt.Sprintf("--shard %q is no part of a whole", text), "expected I/N with I from 1 to N, as in --shard 2/5")
	}
	return index, count, nil
}

// weights gives what tasks weigh: what they took in the run that a report tells of,
// all the same without one.
func weights(name string) (func(*plan.Task) int64, error) {
	if name == "" {
		return func(*plan.Task) int64 { return 1 }, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError(fmt.Sprintf("--shard-durations: %v", err), "expected the file of an earlier --report-file")
	}
	var doc report.Run
	if err := json.Unmarshal(data, &doc); err != nil || !strings.HasPrefix(doc.Schema, "bento.") {
		return nil, usageError(fmt.Sprintf("--shard-durations %q is no report of a run", name), "expected the file of an earlier --report-file")
	}
	took := doc.Durations()
	return func(t *plan.Task) int64 { return took[t.ID()].Milliseconds() }, nil
}

// plan makes a plan; problems of the workspace or the request that are errors end
// the command, warnings are said.
func (s *session) plan(w *workspace, sel selection) (*plan.Plan, error) {
	if err := diagnostics.AsError(w.problems); err != nil {
		return nil, err
	}
	p, problems, err := s.build(w, sel)
	if err != nil {
		return nil, err
	}
	w.problems = diagnostics.Sorted(append(w.problems, problems...))
	if err := diagnostics.AsError(w.problems); err != nil {
		return nil, err
	}
	report.WriteProblems(s.err, s.style, w.problems)
	return p, nil
}

// build makes a plan, nil when there are problems that leave none.
func (s *session) build(w *workspace, sel selection) (*plan.Plan, []diagnostics.Diagnostic, error) {
	if err := w.locate(&sel.Request); err != nil {
		return nil, nil, err
	}
	p, problems := plan.Build(w.Workspace, sel.Request)
	if p == nil {
		return nil, problems, nil
	}
	p, err := sel.apply(p)
	return p, problems, err
}
