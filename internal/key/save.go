package key

import (
	"context"
	"sync"
)

// Save writes what was learned for the next invocation. It does so also after an
// interrupt, hence no context: it waits no longer than lockWait.
func (e *Evaluator) Save() {
	e.keep()
	var errs [4]error
	var files sync.WaitGroup // they are written beside each other
	files.Go(func() { errs[0] = e.memory.Save(context.Background()) })
	files.Go(func() { errs[1] = e.remembered.memory.Save() })
	files.Go(func() { errs[2] = e.o.Toolchains.Save() })
	errs[3] = e.tree.Index().Save()
	files.Wait()
	for _, err := range errs {
		if err != nil {
			e.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(),
				"the next run will work out again what this one knew")
		}
	}
}
