package key

import (
	"context"
	"sync"
)

// Save writes the state of the workspace for the next invocation. It calls SaveResults and SaveIndex
// in parallel.
func (e *Evaluator) Save() {
	var saving sync.WaitGroup
	saving.Go(e.SaveIndex)
	e.SaveResults()
	saving.Wait()
}

// SaveIndex writes the index of digests. It may run in parallel with methods that do not refresh the
// tree.
func (e *Evaluator) SaveIndex() { e.warnUnsaved(e.tree.Index().Save()) }

// SaveResults writes the history, the remembered digests and the toolchains. It has no context
// because it also runs after an interrupt; it waits for locks no longer than lockWait.
func (e *Evaluator) SaveResults() {
	e.rememberResults()
	var errs [3]error
	var files sync.WaitGroup // written in parallel
	files.Go(func() { errs[0] = e.history.Save(context.Background()) })
	files.Go(func() { errs[1] = e.memo.digests.Save() })
	errs[2] = e.o.Toolchains.Save()
	files.Wait()
	for _, err := range errs {
		e.warnUnsaved(err)
	}
}

// warnUnsaved warns of an error of Save.
func (e *Evaluator) warnUnsaved(err error) {
	if err != nil {
		e.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(),
			"the next run computes it again")
	}
}
