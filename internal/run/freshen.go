package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
)

// freshen sets the time of inputs of a task that have new content with an old time to now, so that tools
// that compare times see the change, and evaluates the task again.
func (e *engine) freshen(ctx context.Context, n *node) {
	paths := e.files.Aged(ctx, n.ev)
	if len(paths) == 0 {
		return
	}
	failed := ""
	if p, err := e.recorder.Retime(paths, time.Now()); err != nil {
		failed = fmt.Sprintf("%q has new content with an old time, which its tool may not see, and its time cannot be set: %v", p, err)
	}
	var dishes []*dish.Dish
	for _, p := range paths {
		if d := e.plan.Workspace.Owner(p); d != nil && !slices.Contains(dishes, d) {
			dishes = append(dishes, d)
		}
	}
	e.keys.NoteWritten(ctx, key.Written{Dishes: dishes, Paths: paths})
	e.keep(e.keys.Evaluate(ctx, n.task))
	e.keys.Load(ctx, n.ev, true)
	n.ev.Aged = failed
}

// ageCompiled sets an old time on compiled files that do not match the present sources, of the dish of ev's task and of
// the dishes that it is linked to. Their tool then compiles them again.
func (e *engine) ageCompiled(ev *key.Evaluation) {
	paths, err := e.files.OutdatedCompiled(ev)
	p, failed := "", error(nil)
	if len(paths) > 0 {
		p, failed = outputs.Touch(e.env.Root, paths, time.Unix(0, 0))
	}
	if err = cmp.Or(failed, err); err != nil {
		ev.Aged = fmt.Sprintf("%q was compiled from other sources, and its time cannot be set: %v", cmp.Or(p, ev.Task.Dish.Path), err)
	}
}
