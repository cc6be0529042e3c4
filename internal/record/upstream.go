package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// A key includes the outputs of other tasks as these have made them. So a result is stored only if
// exactly these outputs were in place from before the command until the result is stored.

// Upstream is a dependency of an execution, with the outputs of its result by path.
type Upstream struct {
	Task    *plan.Task
	Outputs []cache.Output
	// Found are further inputs of Task, if its key is an ingredient of the execution's key.
	Found []string

	looked sync.Once // guards exact
	exact  bool
}

// isExact reports whether the task names its outputs without wildcards, and has made a file or link
// at each. Then it has no strays, unless a directory replaces an output, which is a changed output.
func (u *Upstream) isExact() bool {
	u.looked.Do(func() {
		set, err := OutputSet(u.Task)
		if err != nil {
			return
		}
		for i := range u.Task.Outputs {
			p, plain := set.Plain(i)
			if at, named := u.find(p); !plain || !named || u.Outputs[at].Kind == cache.Dir {
				return
			}
		}
		u.exact = true
	})
	return u.exact
}

// names reports whether p is one of Outputs.
func (u *Upstream) names(p string) bool {
	_, found := u.find(p)
	return found
}

func (u *Upstream) find(p string) (at int, found bool) {
	return slices.BinarySearchFunc(u.Outputs, p, func(o cache.Output, p string) int { return strings.Compare(o.Path, p) })
}

// laid is the state of the outputs of a task when its first dependent began to execute.
type laid struct {
	entries []tree.Entry // by Upstream.Outputs
	wrong   map[int]bool // by index of Upstream.Outputs: it differs from the output that the task has made
}

// upstreams remembers the state of the outputs of tasks.
type upstreams struct {
	mu sync.Mutex
	of map[*plan.Task]*laid
}

// Replaced forgets the state of the outputs of t, because they were restored.
func (r *Recorder) Replaced(t *plan.Task) {
	r.upstreams.mu.Lock()
	defer r.upstreams.mu.Unlock()
	delete(r.upstreams.of, t)
}

// laidAt returns the state of the outputs of u at the first call.
func (r *Recorder) laidAt(u *Upstream) *laid {
	r.upstreams.mu.Lock()
	l := r.upstreams.of[u.Task]
	r.upstreams.mu.Unlock()
	if l != nil && len(l.entries) == len(u.Outputs) {
		return l
	}
	l = &laid{entries: make([]tree.Entry, len(u.Outputs)), wrong: make(map[int]bool)}
	for i := range u.Outputs {
		var err error
		if l.entries[i], err = r.Tree.Stat(u.Outputs[i].Path); err != nil || !r.isMade(&u.Outputs[i], l.entries[i]) {
			l.wrong[i] = true
		}
	}
	r.upstreams.mu.Lock()
	defer r.upstreams.mu.Unlock()
	if r.upstreams.of == nil {
		r.upstreams.of = make(map[*plan.Task]*laid)
	}
	r.upstreams.of[u.Task] = l
	return l
}

// isMade reports whether the entry now is the output o.
func (r *Recorder) isMade(o *cache.Output, now tree.Entry) bool {
	switch o.Kind {
	case cache.Dir:
		return now.Kind == tree.Dir
	case cache.Link:
		target, err := r.Tree.Readlink(now)
		return now.Kind == tree.Link && err == nil && target == o.Target
	}
	if now.Kind != tree.File || now.Mode != o.Mode {
		return false
	}
	sum, err := r.Tree.Index().Sum(now)
	return err == nil && cache.Digest(sum) == o.Digest
}

// noteChangedOutput notes the first output of another task that differs from the one that the task
// has made.
func (x *Execution) noteChangedOutput() {
	list := parallel.Map(x.Upstream, func() *Recorder { return x.Recorder }, (*Recorder).laidAt)
	for i, u := range x.Upstream {
		wrong := list[i].wrong
		for j := range u.Outputs {
			if wrong[j] && !x.owned(u, u.Outputs[j].Path) && x.Unsure == "" {
				x.Unsure = fmt.Sprintf("%q is not what %s has made", u.Outputs[j].Path, u.Task.ID())
			}
		}
	}
}

// owned reports whether a path, an output of u, is also an output of a later task or of this one.
func (x *Execution) owned(u *Upstream, p string) bool {
	return x.mayRewrite(p) || slices.ContainsFunc(x.Upstream, func(o *Upstream) bool { return o.Task.Index > u.Task.Index && o.names(p) })
}

// outputChanged returns the first output of another task that was touched since the command began.
// seen caches the findings on these tasks within one Check.
func (x *Execution) outputChanged(seen map[*plan.Task][]difference) (found difference) {
	var fresh []*Upstream
	for _, u := range x.Upstream {
		if _, known := seen[u.Task]; !known {
			fresh = append(fresh, u)
		}
	}
	for i, list := range parallel.Map(fresh, func() *Recorder { return x.Recorder }, (*Recorder).touchedOutputs) {
		seen[fresh[i].Task] = list
	}
	for _, u := range x.Upstream {
		for _, d := range seen[u.Task] {
			// Tools with the same mutex make the outputs of each other again, in place.
			again := d.equal && u.Task.Mutex != ""
			// In the dish of the task, where tasks run one after another, the task itself has removed
			// it.
			removed := d.gone && u.Task.Dish == x.Ev.Task.Dish
			if !again && !removed && !x.owned(u, d.path) {
				found = cmp.Or(found, d)
			}
		}
	}
	return found
}

// touchedOutputs returns the outputs of u that were touched since the first call of laidAt.
func (r *Recorder) touchedOutputs(u *Upstream) (list []difference) {
	l := r.laidAt(u)
	for i := range u.Outputs {
		o := &u.Outputs[i]
		now, err := r.Tree.Stat(o.Path)
		switch {
		case l.wrong[i]: // noteChangedOutput has reported it
		case err != nil || !r.isMade(o, now):
			list = append(list, difference{path: o.Path, gone: errors.Is(err, fs.ErrNotExist)})
		case o.Kind != cache.Dir && touched(l.entries[i], now):
			list = append(list, difference{path: o.Path, equal: true})
		}
	}
	return list
}
