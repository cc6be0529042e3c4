package key

import (
	"slices"
	"sync"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// ahead is the number of tasks whose files are read together: enough to keep all cores busy, but few,
// because reading starts only when the files of the first tasks are listed.
const ahead = 16

// collect returns the inputs of the next tasks, which begin at an index of the plan, if the index of
// digests is empty. The files of one task are too few to keep all cores busy. The list is valid until
// the second next call.
func (a *aheadOf) collect(from int) []tree.Entry {
	tasks := a.plan.Tasks
	if from >= len(tasks) || !a.tree.Index().Empty() {
		return nil
	}
	a.list, a.other = a.other[:0], a.list
	for _, t := range tasks[from:min(from+ahead, len(tasks))] {
		needsOutputs := func(d plan.Dep) bool { return a.needsOutputs(t, d) }
		if t.Fault() != nil || slices.ContainsFunc(t.Deps, needsOutputs) {
			continue
		}
		list, err := a.inputs(t)
		if err != nil {
			continue // evaluate finds the error again
		}
		a.facts(t).inputs = list
		a.add(list)
		for _, d := range t.Sources {
			a.addCircle(a.Evaluator.circles[d])
		}
	}
	return a.list
}

// read starts to read files in the background. wait waits until they are read.
func (a *aheadOf) read(list []tree.Entry) (wait func()) {
	if len(list) == 0 {
		return func() {}
	}
	var reading sync.WaitGroup
	reading.Go(func() { readFiles(a.tree.Index(), list) })
	return reading.Wait
}

// inputsOf returns the entries of the inputs of a task, sorted by path.
func (e *Evaluator) inputsOf(t *plan.Task) ([]tree.Entry, error) {
	if list := e.facts(t).inputs; list != nil {
		return list, nil
	}
	return e.inputs(t)
}

// aheadOf collects the files that are read together, each once for all tasks.
type aheadOf struct {
	*Evaluator
	list    []tree.Entry // the last collected list
	other   []tree.Entry // the list before that, whose memory is reused
	had     map[string]bool
	circles map[*plan.Circle]bool
}

func (e *Evaluator) newAhead() *aheadOf {
	return &aheadOf{Evaluator: e, had: make(map[string]bool), circles: make(map[*plan.Circle]bool)}
}

func (a *aheadOf) add(list []tree.Entry) {
	for i := range list {
		if !a.had[list[i].Path] {
			a.had[list[i].Path] = true
			a.list = append(a.list, list[i])
		}
	}
}

func (a *aheadOf) addCircle(c *plan.Circle) {
	if a.circles[c] || a.sources[c] != nil {
		return
	}
	a.circles[c] = true
	for _, d := range c.Dishes {
		a.add(a.ownerships[d].Load(a.tree))
	}
	for _, d := range c.Links {
		a.addCircle(a.Evaluator.circles[d])
	}
}
