package key

import (
	"context"
	"sync"
)

// Save writes the state of the workspace for the next invocation: the index of digests, while it calls results,
// which may be nil, then the history, the remembered digests and the toolchains. It has no context because it also
// runs after an interrupt; it waits for locks no longer than lockWait.
func (e *Evaluator) Save(results func()) {
	var errs [4]error
	var files sync.WaitGroup // written in parallel
	files.Go(func() { errs[0] = e.tree.Index().Save() })
	if results != nil {
		results()
	}
	e.rememberResults()
	files.Go(func() { errs[1] = e.history.Save(context.Background()) })
	files.Go(func() { errs[2] = e.memo.digests.Save() })
	errs[3] = e.o.Toolchains.Save()
	files.Wait()
	for _, err := range errs {
		if err != nil {
			e.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(), "the next run computes it again")
		}
	}
}
