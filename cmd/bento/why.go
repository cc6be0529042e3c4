package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

func whyCommand(s *session) *cobra.Command {
	var diff string
	var all, remote bool
	cmd := &cobra.Command{
		Use: "why DISH:TASK|KEY", GroupID: "ask",
		Annotations: traits{Reads: true, Flags: []string{"no-cache"}}.annotations(),
		Short:       "List the ingredients of a key, and what changed since the last run",
		Example:     "  bento why api:build\n  bento why api:build --all\n  bento why 1f0c… --diff 9a2b…",
		Args:        exactly(1, "bento why requires one DISH:TASK or KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := s.why(cmd.Context(), args[0], diff, remote)
			if err != nil {
				return err
			}
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteWhy(s.out, s.style, doc, all)
			return nil
		},
	}
	cmd.Flags().StringVar(&diff, "diff", "", "compare with `KEY` instead of the last successful run")
	cmd.Flags().BoolVar(&all, "all", false, "print every ingredient and every input file")
	cmd.Flags().BoolVar(&remote, "remote", false, "say whether a worker of remote.exec can execute the task, and why not")
	return cmd
}

// why explains a task of the workspace, or a key of the cache.
func (s *session) why(ctx context.Context, target, diff string, remote bool) (report.Why, error) {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return report.Why{}, err
	}
	defer w.close()
	var other cache.Key
	if diff != "" {
		if other, err = findKey(ctx, w.env.Store, diff); err != nil {
			return report.Why{}, err
		}
	}
	if _, _, ok := splitTask(target); !ok {
		if i := slices.IndexFunc(w.Dishes, func(d *dish.Dish) bool { return d.Name == target }); i >= 0 {
			return report.Why{}, notFound("why_invalid_target", fmt.Sprintf("%q is a dish", target),
				"name one of its tasks, as in bento why "+target+":TASK; they are "+strings.Join(w.Dishes[i].TaskNames(), ", "))
		}
		recorded, err := findKey(ctx, w.env.Store, target)
		if err != nil {
			return report.Why{}, err
		}
		x, err := key.Explain(w.env.Store, recorded, other)
		if errors.Is(err, cache.ErrMiss) {
			err = noEntry(target)
		}
		return report.NewWhy(nil, x), err
	}
	p, err := s.plan(ctx, w, selection{Request: plan.Request{Tasks: []string{target}, IDs: true}})
	if err != nil {
		return report.Why{}, err
	}
	task, err := onlyRequested(p, target)
	if err != nil {
		return report.Why{}, err
	}
	ev, err := w.env.Evaluator(p, s.flags.noCache, nil)
	if err != nil {
		return report.Why{}, err
	}
	results, err := ev.All(ctx)
	if err != nil {
		return report.Why{}, err
	}
	ev.Save(nil)
	t := results[task.Index]
	if ev.Load(ctx, t, true); t.Err != nil {
		return report.Why{}, t.Err
	}
	doc := report.NewWhy(t, ev.Why(t, other))
	if remote {
		s.openElsewhere(w)
		doc.AddRemote(task.Where != dish.PlaceHere, w.unfit(task))
	}
	return doc, nil
}

// onlyRequested returns the requested task of a plan. A name with a colon may be the whole name
// of tasks in several dishes, which is an error.
func onlyRequested(p *plan.Plan, name string) (*plan.Task, error) {
	var ids []string
	var task *plan.Task
	for _, t := range p.Tasks {
		if t.Requested {
			task, ids = t, append(ids, t.ID())
		}
	}
	if task == nil {
		return nil, fmt.Errorf("%s is not in its own plan", name)
	}
	if len(ids) > 1 {
		slices.Sort(ids)
		return nil, notFound("target_ambiguous", fmt.Sprintf("%q is the name of %d tasks", name, len(ids)), "write "+strings.Join(ids, " or "))
	}
	return task, nil
}

func notFound(code, message, hint string) error { return diagnostics.Refuse(code, hint, "%s", message) }

// exactly takes n arguments.
func exactly(n int, message string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError(message, "see "+cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// minPrefix is the least number of digits that name a key.
const minPrefix = 4

// findKey returns the key with these hexadecimal digits, all or only the first ones.
func findKey(ctx context.Context, store cache.Store, text string) (cache.Key, error) {
	if key, err := cache.ParseKey(text); err == nil {
		return key, nil
	}
	if len(text) < minPrefix || strings.Trim(text, "0123456789abcdef") != "" {
		return cache.Key{}, notFound("why_invalid_target", fmt.Sprintf("%q is neither DISH:TASK nor a key", text), "use a task that bento plan lists, or at least the first 4 digits of a key")
	}
	disk := cache.DiskOf(store)
	if disk == nil {
		return cache.Key{}, noEntry(text)
	}
	keys, err := disk.Keys(ctx, text)
	switch {
	case err != nil:
		return cache.Key{}, err
	case len(keys) == 0:
		return cache.Key{}, noEntry(text)
	case len(keys) > 1:
		return cache.Key{}, notFound("why_ambiguous", fmt.Sprintf("%d keys start with %s", len(keys), text), "write more digits")
	}
	return keys[0], nil
}

func noEntry(key string) error {
	return notFound("why_no_cache_entry", fmt.Sprintf("the cache has no entry for key %s", key), "bento why DISH:TASK shows the key of a task")
}
