package evaluate

import (
	"context"
	"sync"
	"time"
)

// Save writes what was learned for the next invocation. It does so also after an
// interrupt, hence the context of its own.
func (e *Evaluator) Save() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e.keep()
	var errs [4]error
	var files sync.WaitGroup // they are written beside each other
	files.Go(func() { errs[0] = e.memory.Save(ctx) })
	files.Go(func() { errs[1] = e.recall.memory.Save() })
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
