package watch

import (
	"fmt"
	"math"

	"github.com/bentobuild/bento/internal/run"
)

const (
	// maxLoops is the number of times that a task may finish in a row without a pause.
	maxLoops = 10
	// maxEnds is the number of times in a row, without a pause, that bento ends a task because its inputs
	// have changed. From then on bento lets it finish: the task itself may change them.
	maxEnds = 5
)

// circles reports whether a task triggers itself in a loop.
func (w *Loop) circles(id string, own bool) bool {
	if !own || w.loops[id] < maxLoops {
		return false
	}
	if w.loops[id] < math.MaxInt {
		w.loops[id] = math.MaxInt
		w.o.Warn("watch_loop", id+" changes its own inputs whenever it runs; it waits for another change now", "name the files that it writes in outputs, or exclude them from inputs")
	}
	return true
}

// count records that a task finished; alone says that no other task ran. An edit of its inputs by a user
// would have ended the task. So if its inputs changed and it ran alone, the task itself very likely
// changed them.
func (w *Loop) count(r *run.Result, alone bool) {
	id, n := r.Task.ID(), 1
	if alone && r.Outcome == run.Built && !r.Stored && r.Task.Uncached == "" {
		n = maxLoops / 2
	}
	if w.loops[id] < maxLoops {
		w.loops[id] += n
	}
}

// endless reports whether a task was ended so often that bento lets it finish.
func (w *Loop) endless(id string) bool {
	if w.ended[id] == maxEnds {
		w.ended[id]++
		w.o.Warn("watch_loop", fmt.Sprintf("the inputs of %s changed %d times while it ran; bento lets it finish now", id, maxEnds), "name the files that it writes in outputs, or exclude them from inputs")
	}
	return w.ended[id] > maxEnds
}
