package key

import (
	"context"
	"runtime"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
)

// AskAhead begins to ask for the toolchains of tasks, several at a time, if this workspace has no
// answers yet: one after another, the tools of a repository of many languages take seconds to start.
// wait waits for the answers.
func (t *Toolchains) AskAhead(ctx context.Context, tasks []*plan.Task) (wait func()) {
	t.mu.Lock()
	isKnown := len(t.known) > 0
	t.mu.Unlock()
	if isKnown {
		return func() {}
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		places := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
		for _, d := range toolchainsOf(ctx, tasks) {
			places <- struct{}{}
			asking.Go(func() {
				defer func() { <-places }()
				_, _ = t.Fingerprint(ctx, d.adapter, d.dir) // the evaluation of a task reports the error
			})
		}
	})
	return asking.Wait
}

type toolchainOf struct {
	adapter adapters.Adapter
	dir     string
}

// toolchainsOf returns a dish for each basis among tasks.
func toolchainsOf(ctx context.Context, tasks []*plan.Task) []toolchainOf {
	var list []toolchainOf
	dishes, bases := make(map[toolchainOf]bool), make(map[string]bool)
	for _, t := range tasks {
		d := toolchainOf{t.Dish.Adapter, t.Dish.Dir}
		if d.adapter == nil || t.Tool != nil || dishes[d] || ctx.Err() != nil {
			continue
		}
		dishes[d] = true
		basis, ok, err := adapters.ToolchainBasis(ctx, d.adapter, d.dir)
		if id := basisID(d.adapter.Manifest(), basis); ok && err == nil && !bases[id] {
			bases[id] = true
			list = append(list, d)
		}
	}
	return list
}
