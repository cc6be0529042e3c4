package key

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/parallel"
)

// DryRun evaluates every task, and checks that the results of hits are available: each output is
// in the workspace or in the cache. A hit without its outputs is a miss, as in a run. evaluator
// returns an Evaluator that uses a store.
func DryRun(ctx context.Context, store cache.Store, evaluator func(cache.Store) (*Evaluator, error)) (*Evaluator, []*Evaluation, error) {
	e, err := evaluator(store)
	if err != nil {
		return nil, nil, err
	}
	results, err := e.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	lost := without{Store: store, lost: lost(e, store, results)}
	if len(lost.lost) == 0 {
		return e, results, nil
	}
	if e, err = evaluator(lost); err != nil {
		return nil, nil, err
	}
	results, err = e.All(ctx)
	return e, results, err
}

// without is a store that lacks some records.
type without struct {
	cache.Store
	lost map[cache.Key]bool
}

func (w without) Lookup(key cache.Key) (*cache.Record, error) {
	if w.lost[key] {
		return nil, cache.ErrMiss
	}
	return w.Store.Lookup(key)
}

// lost returns the keys of hits without an available result.
func lost(e *Evaluator, store cache.Store, results []*Evaluation) map[cache.Key]bool {
	gone := parallel.Map(results, func() *Evaluator { return e }, func(e *Evaluator, ev *Evaluation) bool {
		return ev.Status == Hit && !e.InPlace(ev.Outputs) && !obtainable(e, store, ev)
	})
	keys := make(map[cache.Key]bool)
	for i, ev := range results {
		if gone[i] {
			keys[ev.Key] = true
		}
	}
	return keys
}

// obtainable reports whether the cache has those outputs of a hit that the workspace lacks.
func obtainable(e *Evaluator, store cache.Store, ev *Evaluation) bool {
	record := ev.Record
	if record == nil { // its outputs are remembered
		var err error
		if record, err = store.Lookup(ev.Key); err != nil {
			return false
		}
	}
	has, ok := store.(interface{ HasBlob(cache.Digest) bool })
	return !ok || !slices.ContainsFunc(record.Outputs, func(o cache.Output) bool {
		_, own := record.Small[o.Digest]
		return o.Kind == cache.File && !own && !has.HasBlob(o.Digest) && !e.InPlace([]cache.Output{o})
	})
}
