package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// maxTail is how many bytes of the end of a failed task's output are searched for paths.
const maxTail = 32 << 10

// maxPaths is the maximal number of paths in an output that are looked up.
const maxPaths = 200

// tellMaker says which task makes a file whose path a failed task has printed, and which is not there, if the failed task
// does not depend on that one: a task that lacks an input usually prints its path. It names the last such file.
func (e *engine) tellMaker(x *execution) {
	t := x.ev.Task
	if x.result.Reason != reasonExit || x.result.Signal != "" || t.SideEffects {
		return
	}
	for _, p := range e.notThere(t, tailOf(x.result)) {
		maker := e.makerOf(t, p)
		if maker == nil {
			continue
		}
		name := maker.ID()
		if maker.Dish == t.Dish {
			name = maker.Name
		}
		e.env.warn("lacks_output", fmt.Sprintf("%s printed %q, which is not there: %s makes it", t.ID(), p, maker.ID()),
			fmt.Sprintf("if %s needs it, add depends_on = [%q] to %s", t.ID(), name, t.Table()))
		return
	}
}

// tailOf returns the end of the output of a task.
func tailOf(r *Result) string {
	var tail []byte
	err := r.ReplayLog(nil, func(_ action.Stream, piece []byte) {
		if tail = append(tail, piece...); len(tail) > 2*maxTail {
			tail = append(tail[:0], tail[len(tail)-maxTail:]...)
		}
	})
	if err != nil {
		return "" // the summary, which shows the log, has the error
	}
	return string(tail[max(0, len(tail)-maxTail):])
}

// notThere returns the paths in an output of t, the last one first, that are in the workspace and do not exist.
func (e *engine) notThere(t *plan.Task, output string) (paths []string) {
	words := strings.FieldsFunc(output, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`()<>[]{},;:=|*?", c) })
	seen := make(map[string]bool)
	for i := len(words) - 1; i >= 0 && len(seen) < maxPaths; i-- {
		p, ok := strings.CutPrefix(words[i], strings.TrimSuffix(e.env.Root, "/")+"/")
		if !ok {
			p = path.Join(t.Dish.Path, t.Cwd, words[i])
		}
		p = path.Clean(strings.TrimRight(p, "."))
		if !strings.ContainsAny(words[i], "./") || !fs.ValidPath(p) || p == "." || seen[p] || !ok && path.IsAbs(words[i]) {
			continue
		}
		seen[p] = true
		if _, err := e.tree.Stat(p); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, p)
		}
	}
	return paths
}

// makerOf returns a task that has p, or files below it, as outputs, and that t neither depends on nor is needed by; nil if
// there is none.
func (e *engine) makerOf(t *plan.Task, p string) *plan.Task {
	for _, d := range e.plan.Workspace.Dishes {
		for _, other := range e.plan.TasksOf(d) {
			if other.Place() == t.Place() || !other.MayBeRead() || t.Needs(other) || other.Needs(t) {
				continue
			}
			if set, err := record.OutputSet(other); err == nil && makes(set, p) {
				return other
			}
		}
	}
	return nil
}

// makes reports whether the files of an output are at p or below.
func makes(set *tree.Set, p string) bool { return set.Match(p) || set.Enters(p) }
