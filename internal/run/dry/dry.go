// Package dry says of a plan what a run would do, without running it.
package dry

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/tree/crew"
)

// Evaluate evaluates every task, and looks whether the results of hits can be had: each
// output has to be in the workspace or in the cache. What cannot is a miss, as it is in
// a run. evaluator gives one that works with a store.
func Evaluate(ctx context.Context, store cache.Store, evaluator func(cache.Store) (*evaluate.Evaluator, error)) (*evaluate.Evaluator, []*evaluate.Result, error) {
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

// lost gives the keys of hits that cannot be had.
func lost(e *evaluate.Evaluator, store cache.Store, results []*evaluate.Result) map[cache.Key]bool {
	gone := crew.Map(results, func() *evaluate.Evaluator { return e }, func(e *evaluate.Evaluator, ev *evaluate.Result) bool {
		return ev.Status == evaluate.Hit && !e.InPlace(ev.Outputs) && !obtainable(e, store, ev)
	})
	keys := make(map[cache.Key]bool)
	for i, ev := range results {
		if gone[i] {
			keys[ev.Key] = true
		}
	}
	return keys
}

// obtainable tells whether the cache has what of a hit is not in the workspace.
func obtainable(e *evaluate.Evaluator, store cache.Store, ev *evaluate.Result) bool {
	record := ev.Record
	if record == nil { // only its key was remembered
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
