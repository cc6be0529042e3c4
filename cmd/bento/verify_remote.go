package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/verify"
)

// defaultSample is the number of results that bento verify --remote compares.
const defaultSample = 20

// remoteCheck compares results of the remote cache with those of executions. The results are in a cache of its own: a
// result of the local one may be another.
type remoteCheck struct {
	*verification
	remote *kit.Remote
	sample int // the number of results, 0 for all
	doc    report.VerifiedRemote
	keys   map[string]cache.Key // of the results, by task
}

// farDir is the directory of that cache, in that of a round.
const farDir = "far"

// verifyRemote executes a sample of the tasks whose results the remote cache has, and compares.
func (v *verification) verifyRemote(ctx context.Context, sample int) error {
	mode := v.w.Mode
	mode.Local.Read, mode.Remote.Read = true, true
	r, problems := kit.FindRemote(v.s.host(), v.w.Config, mode)
	v.s.writeProblems(problems)
	if r == nil {
		return errNoRemote()
	}
	if !r.Read {
		return notFound("remote_unused", "no result of the remote cache is used, so there is nothing to verify: "+r.Why.Read, "bento cache status shows what the remote cache is used for")
	}
	c := &remoteCheck{verification: v, remote: r, sample: sample, keys: make(map[string]cache.Key)}
	if v.tasks = slices.DeleteFunc(v.tasks, func(t *plan.Task) bool { return t.AtHome }); len(v.tasks) == 0 {
		return notFound("no_tasks", "all selected tasks have remote_cache = false, so there is nothing to verify", "bento tasks lists the tasks")
	}
	if err := v.prepare(ctx, &v.rounds[0]); err != nil {
		return err
	}
	if err := c.find(ctx); err != nil {
		return err
	}
	list, err := c.compare(ctx)
	if err != nil {
		return err
	}
	doc := v.document(list)
	c.doc.URL, c.doc.Compared = r.String(), len(v.tasks)
	for i, t := range v.tasks {
		if row := &doc.Tasks[i]; !c.has(t) && row.Status == "verified" {
			row.Status = "no_result"
			c.doc.Compared--
		}
	}
	doc.Remote = &c.doc
	return v.publish(ctx, doc, list)
}

// find gets the results of the tasks, and chooses the sample. A task that reads outputs of others may belong to it
// without a result: its key is known later.
func (c *remoteCheck) find(ctx context.Context) error {
	pending, err := c.pull(ctx)
	if err != nil {
		return err
	}
	var may []*plan.Task
	for _, t := range c.tasks {
		if c.has(t) || pending[t.ID()] {
			may = append(may, t)
		}
	}
	if len(may) == 0 {
		return notFound("no_results", fmt.Sprintf("the remote cache %s has no result of %s, so there is nothing to verify", c.remote, report.Count(len(c.tasks), "task")),
			"bento cache status shows whose results are used; they are of the same inputs and the same class of machine")
	}
	if c.sample > 0 && len(may) > c.sample {
		rand.Shuffle(len(may), func(i, j int) { may[i], may[j] = may[j], may[i] })
		may = may[:c.sample]
	}
	c.tasks = slices.DeleteFunc(c.tasks, func(t *plan.Task) bool { return !slices.Contains(may, t) })
	return nil
}

// has reports whether the remote cache has a result of a task.
func (c *remoteCheck) has(t *plan.Task) bool { return c.keys[t.ID()] != (cache.Key{}) }

// pull gets the results of the tasks that have none yet, and returns those whose keys need the outputs of others, which the
// remote cache has. The copy is without state, as a new clone.
func (c *remoteCheck) pull(ctx context.Context) (pending map[string]bool, err error) {
	r := &c.rounds[0]
	removeTree(filepath.Join(r.root, state.Name))
	lines := c.s.lines()
	lines.Brief = true
	s, w, p, err := c.open(ctx, r, farDir, lines)
	if err != nil {
		return nil, err
	}
	defer s.end()
	defer w.close()
	w.remote = c.remote.Tier(w.Workspace)
	w.env.Remote = w.remote
	pulled, err := run.Pull(ctx, w.env, p, cmp.Or(w.Config.Defaults.Observe, dish.ObserveNever))
	switch {
	case err != nil:
		return nil, err
	case pulled.Off != "":
		return nil, fmt.Errorf("the remote cache %s: %s", c.remote, pulled.Off)
	}
	for _, t := range pulled.Tasks {
		if of := c.requested(t.ID); of != nil && !c.has(of) && t.Key != (cache.Key{}) {
			c.keys[t.ID] = t.Key
			c.doc.Found++
		}
	}
	removeTree(filepath.Join(r.root, state.Name))
	return pendingOf(p, pulled), nil
}

// pendingOf returns the tasks that may have results once those that they depend on are restored, which have results.
func pendingOf(p *plan.Plan, pulled run.Pulled) map[string]bool {
	known, pending := make(map[int]bool), make(map[string]bool)
	var visit func(i int) bool
	visit = func(i int) bool {
		if yes, visited := known[i]; visited {
			return yes
		}
		at, t := pulled.Tasks[i], p.Tasks[i]
		pending[at.ID] = at.Pending && !slices.ContainsFunc(t.Deps, func(d plan.Dep) bool { return !visit(d.Task.Index) })
		known[i] = at.Key != (cache.Key{}) || pending[at.ID] || t.Uncached != ""
		return known[i]
	}
	for i := range p.Tasks {
		visit(i)
	}
	return pending
}

// compare executes the tasks and compares. Where an output differs it executes those tasks once more, elsewhere: one that
// differs again is not reproducible, and one that does not shows that the result in the remote cache is wrong.
func (c *remoteCheck) compare(ctx context.Context) ([]verify.Finding, error) {
	a, b := &c.rounds[0], &c.rounds[1]
	c.say(1, c.tasks)
	if err := c.execute(ctx, a); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(c.tasks, func(t *plan.Task) bool { return !c.has(t) }) {
		if _, err := c.pull(ctx); err != nil {
			return nil, err
		}
	}
	disk, err := cache.Open(filepath.Join(a.dir, farDir), nil)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	differs := make(map[string][]verify.Finding)
	var again []*plan.Task
	for _, t := range c.tasks {
		seen := a.seen[t.ID()]
		record, err := disk.Lookup(c.keys[t.ID()])
		if err != nil || seen == nil || slices.ContainsFunc(a.failed, func(f verify.Finding) bool { return f.Task.ID() == t.ID() }) {
			continue
		}
		if list := verify.CompareStored(t, c.execution(a, seen), stored(record, disk)); len(list) > 0 {
			differs[t.ID()], again = list, append(again, t)
		}
	}
	list := a.failed
	if len(again) == 0 {
		return c.own(list), nil
	}
	all := c.tasks
	defer func() { c.tasks = all }()
	c.tasks = again
	c.say(2, again)
	if err := c.prepare(ctx, b); err != nil {
		return nil, err
	}
	if err := c.execute(ctx, b); err != nil {
		return nil, err
	}
	for _, t := range again {
		list = append(list, c.causes(t, differs[t.ID()])...)
	}
	c.tasks = all
	return c.own(append(list, b.failed...)), nil
}

// causes returns the findings of a task whose outputs differ from those of the result: what two executions differ in, the
// other differences from the result, and what the task does not declare.
func (c *remoteCheck) causes(t *plan.Task, differs []verify.Finding) (list []verify.Finding) {
	a, b := &c.rounds[0], &c.rounds[1]
	if x, y := a.seen[t.ID()], b.seen[t.ID()]; x != nil && y != nil {
		list = verify.Compare(t, c.execution(a, x), c.execution(b, y))
	}
	for _, f := range differs {
		if !slices.ContainsFunc(list, func(o verify.Finding) bool { return o.Path == f.Path }) {
			list = append(list, f)
		}
	}
	for _, f := range a.found {
		if f.Task.ID() == t.ID() {
			list = append(list, f)
		}
	}
	return list
}

// own returns sorted findings whose tasks are those of the workspace.
func (c *remoteCheck) own(list []verify.Finding) []verify.Finding {
	for i := range list {
		list[i].Task = c.requested(list[i].Task.ID())
	}
	return verify.Sort(list)
}

func (c *remoteCheck) say(n int, tasks []*plan.Task) {
	fmt.Fprintf(c.s.err, "bento: verify: execution %d of %s\n", n, report.Count(len(tasks), "task"))
}

// stored returns a result as an execution.
func stored(r *cache.Record, disk *cache.Disk) verify.Execution {
	return verify.Execution{Outputs: r.Outputs, Open: func(o *cache.Output) (io.ReadCloser, error) { return r.With(disk).Open(o.Digest) }}
}
