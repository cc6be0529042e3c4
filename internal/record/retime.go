package record

import (
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/tree"
)

// retimed are the files whose times bento itself has set in this run, by path, with what they were before and
// after. Tasks that ran at that time, and results that wait to be recorded, have not read something else.
type retimed struct {
	mu    sync.Mutex
	steps map[string][]retiming
}

type retiming struct{ from, to tree.Entry }

// Retime sets the times of sources as outputs.Touch does. It is no write for the tasks that read them.
func (r *Recorder) Retime(paths []string, at time.Time) (failed string, err error) {
	before := make([]tree.Entry, len(paths))
	for i, p := range paths {
		before[i], _ = r.Tree.Stat(p) // one that is gone has no step
	}
	failed, err = outputs.Touch(r.Root, paths, at)
	r.retimed.mu.Lock()
	defer r.retimed.mu.Unlock()
	if r.retimed.steps == nil {
		r.retimed.steps = make(map[string][]retiming)
	}
	for i, p := range paths {
		if after, err := r.Tree.Stat(p); err == nil && before[i].Path != "" {
			r.retimed.steps[p] = append(r.retimed.steps[p], retiming{from: before[i], to: after})
		}
	}
	return failed, err
}

// touched is the function touched, but for the times that bento itself has set since then.
func (r *Recorder) touched(then, now tree.Entry) bool {
	r.retimed.mu.Lock()
	steps := r.retimed.steps[then.Path]
	r.retimed.mu.Unlock()
	for _, s := range steps {
		if !touched(then, s.from) {
			then = s.to
		}
	}
	return touched(then, now)
}
