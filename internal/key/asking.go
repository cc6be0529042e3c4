package key

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
)

// AskAhead starts to ask for the toolchains of tasks in parallel, if this workspace has no answers
// yet: the tools of a repository of many languages take seconds if they start one after another. wait
// waits for the answers. Until it returns, the basis of a dish is computed once for all its tasks.
func (t *Toolchains) AskAhead(ctx context.Context, tasks []*plan.Task) (wait func()) {
	t.mu.Lock()
	isKnown := len(t.known) > 0
	t.ahead = make(map[toolchainOf]string)
	t.mu.Unlock()
	if isKnown {
		return t.forget
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		places := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
		for d := range t.toolchainsOf(ctx, tasks) {
			places <- struct{}{}
			asking.Go(func() {
				defer func() { <-places }()
				_, _ = t.Fingerprint(ctx, d.adapter, d.dir) // the evaluation of a task reports the error
			})
		}
	})
	return func() {
		asking.Wait()
		t.forget()
	}
}

// forget drops the bases: from now on tasks may change them.
func (t *Toolchains) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ahead = nil
}

type toolchainOf struct {
	adapter adapters.Adapter
	dir     string
}

// toolchainsOf yields one dish of tasks for each different basis.
func (t *Toolchains) toolchainsOf(ctx context.Context, tasks []*plan.Task) iter.Seq[toolchainOf] {
	return func(yield func(toolchainOf) bool) {
		dishes, bases := make(map[toolchainOf]bool), make(map[string]bool)
		for _, task := range tasks {
			d := toolchainOf{task.Dish.Adapter, task.Dish.Dir}
			if d.adapter == nil || task.Tool != nil || task.Container != nil || dishes[d] || ctx.Err() != nil {
				continue
			}
			dishes[d] = true
			id, ok, err := t.basis(ctx, d)
			if !ok || err != nil {
				continue
			}
			if !bases[id] {
				bases[id] = true
				if !yield(d) {
					return
				}
			}
		}
	}
}

// basis returns the digest of the basis of a toolchain; ok is false if the adapter has none.
func (t *Toolchains) basis(ctx context.Context, d toolchainOf) (id string, ok bool, err error) {
	t.mu.Lock()
	id, ok = t.ahead[d]
	t.mu.Unlock()
	if ok {
		return id, true, nil
	}
	basis, ok, err := adapters.ToolchainBasis(ctx, d.adapter, d.dir)
	if !ok || err != nil {
		return "", ok, err
	}
	id = basisID(d.adapter.Manifest(), basis)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ahead != nil {
		t.ahead[d] = id
	}
	return id, true, nil
}
