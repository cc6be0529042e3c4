package evaluate

import (
	"context"
	"time"
)

// Save writes what was learned for the next invocation. It does so also after an
// interrupt, hence the context of its own.
func (e *Evaluator) Save() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e.keep()
	for _, err := range []error{e.memory.Save(ctx), e.recall.memory.Save(), e.o.Toolchains.Save(), e.tree.Index().Save()} {
		if err != nil {
			e.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(),
				"the next run will work out again what this one knew")
		}
	}
}
