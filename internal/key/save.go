package key

import (
	"context"
	"sync"
)

// Save writes the history, the remembered digests, the toolchains and the index for the next
// invocation. It has no context because it also runs after an interrupt; it waits for locks no
// longer than lockWait.
func (e *Evaluator) Save() {
	e.rememberResults()
	var errs [4]error
	var files sync.WaitGroup // they are written beside each other
	files.Go(func() { errs[0] = e.history.Save(context.Background()) })
	files.Go(func() { errs[1] = e.memo.digests.Save() })
	files.Go(func() { errs[2] = e.o.Toolchains.Save() })
	errs[3] = e.tree.Index().Save()
	files.Wait()
	for _, err := range errs {
		if err != nil {
			e.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(),
				"the next run computes it again")
		}
	}
}
