package key

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/parallel"
)

// DryRun is like Evaluator.All, and checks that the results of hits are available: each output is in the
// workspace or in the cache. A hit without its outputs is a miss, as in a run.
func DryRun(ctx context.Context, e *Evaluator) ([]*Evaluation, error) {
	results, err := e.All(ctx)
	if err != nil {
		return nil, err
	}
	gone := parallel.Map(results, func() *Evaluator { return e }, func(e *Evaluator, ev *Evaluation) bool {
		return ev.Status == Hit && !InPlace(e.tree, ev.Outputs) && !e.isObtainable(ev)
	})
	for i, ev := range results {
		if gone[i] {
			e.lost = append(e.lost, ev.Key)
		}
	}
	if len(e.lost) == 0 {
		return results, nil
	}
	return e.All(ctx)
}

// isObtainable reports whether the cache has those outputs of a hit that the workspace lacks.
func (e *Evaluator) isObtainable(ev *Evaluation) bool {
	record := ev.Record
	if record == nil { // its outputs are remembered
		var err error
		if record, err = e.o.Store.Lookup(ev.Key); err != nil {
			return false
		}
	}
	has, ok := e.o.Store.(interface{ HasBlob(cache.Digest) bool })
	return !ok || !slices.ContainsFunc(record.Outputs, func(o cache.Output) bool {
		_, own := record.Small[o.Digest]
		return o.Kind == cache.File && !own && !has.HasBlob(o.Digest) && !isInPlace(e.tree, &o)
	})
}
