package run

import (
	"context"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// Pulled is what Pull has found of the tasks of a plan.
type Pulled struct {
	RemoteUse
	Here    int // tasks whose results the store had
	Missing int // tasks whose results it lacks still
	Pending int // of them, those whose keys need the outputs of one that is missing
	// Tasks are those of the plan, in its order.
	Tasks []PulledTask
}

// PulledTask is what Pull has found of a task.
type PulledTask struct {
	ID      string
	Key     cache.Key // of the result that the store has now, zero for none
	Pending bool      // the key needs the outputs of another task
}

// Pull gets the results of a plan from the remote cache into the store, and executes and restores nothing. observe is
// which executions the workspace observes: their results are asked for first.
func Pull(ctx context.Context, env *Env, p *plan.Plan, observe dish.Observe) (Pulled, error) {
	e, err := newEngine(env, p, Options{Observe: observe}, overlaps{})
	if err != nil {
		return Pulled{}, err
	}
	defer e.unstage()
	defer e.restorer.Close()
	e.pulls = true
	if err := e.keys.Each(ctx, e.keep); err != nil {
		return Pulled{}, err
	}
	had := make([]bool, len(e.nodes))
	for i, n := range e.nodes {
		had[i] = n.ev.Status == key.Hit
	}
	e.ask(ctx, e.nodes)
	e.settle(ctx)
	r := &Report{}
	e.finishRemote(ctx, r)
	e.keys.Save(nil)
	pulled := Pulled{RemoteUse: r.Remote, Tasks: make([]PulledTask, len(e.nodes))}
	for i, n := range e.nodes {
		t := &pulled.Tasks[i]
		t.ID = n.task.ID()
		if n.ev.Status == key.Hit {
			t.Key = n.ev.Key
		}
		switch {
		case had[i]:
			pulled.Here++
		case n.ev.Status == key.Hit:
			pulled.Hits++
		default:
			if pulled.Missing++; n.ev.Reason == key.MissPending {
				pulled.Pending++
				t.Pending = true
			}
		}
	}
	return pulled, ctx.Err()
}
