package run

import (
	"context"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
)

// Evaluations look up results in the store, one by one, because that is quick. Results that may be in a slower place
// are fetched here, those of many tasks at once. A fetched result is in the store before anything reads it, so a hit
// from elsewhere is like any other.

// fetchAll asks for the results of all misses. Where results arrive, the keys of dependents may be known now,
// so it asks again until no more arrive.
func (e *engine) fetchAll(ctx context.Context) {
	for e.fetch(ctx, e.nodes) {
		for _, n := range e.nodes {
			if e.keys.Outdated(n.ev) {
				e.keep(e.keys.Evaluate(ctx, n.task))
			}
		}
	}
}

// fetchFree asks for the results of the misses among the free tasks, whose keys may be known only now.
func (e *engine) fetchFree(ctx context.Context) {
	if e.env.Fetch == nil || len(e.free) == 0 || e.stopped(ctx) != "" {
		return
	}
	for _, n := range e.free {
		if n.phase == ready && e.keys.Outdated(n.ev) {
			e.keep(e.keys.Renew(ctx, n.task))
		}
	}
	e.fetch(ctx, e.free)
}

// fetch asks for the results of the misses among nodes, each key once, and evaluates again the tasks whose
// results have arrived. It reports whether one has.
func (e *engine) fetch(ctx context.Context, nodes []*node) (arrived bool) {
	if e.env.Fetch == nil {
		return false
	}
	missing := make(map[cache.Key]*node)
	var keys []cache.Key
	for _, n := range nodes {
		if n.phase <= ready && n.ev != nil && n.ev.IsMissing() && n.fetched != n.ev.Key {
			n.fetched, missing[n.ev.Key] = n.ev.Key, n
			keys = append(keys, n.ev.Key)
		}
	}
	if len(keys) == 0 {
		return false
	}
	for _, k := range e.env.Fetch(ctx, keys) {
		if n := missing[k]; n != nil {
			e.keep(e.keys.Evaluate(ctx, n.task))
			arrived = arrived || n.ev.Status == key.Hit
		}
	}
	return arrived
}
