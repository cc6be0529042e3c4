package key

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
)

// blobs returns the blobs that the ingredients of ev refer to, before anything is stored.
func (e *Evaluator) blobs(ev *Evaluation, rest blobs) blobs {
	inputs := ev.keyed().Encode()
	own := map[cache.Digest][]byte{cache.Sum(inputs): inputs}
	if len(ev.held) > 0 {
		held := ev.held.Encode()
		own[cache.Sum(held)] = held
	}
	addSources := sync.OnceFunc(func() { // sources seldom differ
		e.readUnread()
		ev.eachSet(make(Seen), func(s *sourceSet) {
			s.made.Each(func(d cache.Digest, data []byte) { own[d] = data })
			s.named.Each(func(d cache.Digest, data []byte) { own[d] = data })
		})
	})
	return func(d cache.Digest) []byte {
		if own[d] == nil {
			addSources()
		}
		if blob := own[d]; blob != nil {
			return blob
		}
		return rest(d)
	}
}

// keyed returns the set of inputs that the key holds.
func (ev *Evaluation) keyed() fileSet {
	if ev.FindsInputs {
		return ev.names
	}
	return ev.Inputs
}

// maxSets is the largest number of dishes whose sources one pack holds. The far end of a long
// chain of dishes is left out.
const maxSets = 64

// Pack adds the provenance of the key to p: the ingredients, the inputs, and the sources of the
// linked dishes. It returns the digest of the ingredients.
func (ev *Evaluation) Pack(p *Pack) cache.Digest {
	p.Add(ev.keyed().Encode())
	if len(ev.held) > 0 {
		p.Add(ev.held.Encode())
	}
	sets := 0
	ev.eachSet(make(Seen), func(s *sourceSet) {
		if sets++; sets <= maxSets {
			p.putSet(s)
		}
	})
	return p.Add(encodeIngredients(written(ev.ingredients)))
}

// maxNotes is the largest number of changes in the notes of a miss.
const maxNotes = 10

// explainMiss sets the reason of a miss, and notes the differences from the last good run.
func (e *Evaluator) explainMiss(ctx context.Context, ev *Evaluation) {
	ev.Reason = MissNeverCached
	last := e.history.Of(ev.Task)
	ev.Failed, ev.undeclared = last.Failed, leavesUndeclared(ev.Task, last)
	if last.Key == (cache.Key{}) {
		return
	}
	if last.Key == ev.Key {
		if ev.Reason = MissEvicted; last.Unstored {
			ev.Reason = MissNotStored
		}
		return
	}
	if err := e.loadAll(ctx, ev); err != nil {
		return
	}
	changes, ok := e.changesSince(last.Key, ev)
	if !ok {
		return
	}
	ev.Reason = MissChanged
	changes = distinct(changes)
	for _, c := range changes[:min(len(changes), maxNotes)] {
		ev.Notes = append(ev.Notes, c.String())
	}
	if more := len(changes) - maxNotes; more > 0 {
		ev.Notes = append(ev.Notes, fmt.Sprintf("and %d more", more))
	}
}

// distinct removes the change of a file of a linked dish that is also an input of the dish itself.
func distinct(changes []Change) []Change {
	seen := make(map[[2]string]bool)
	return slices.DeleteFunc(changes, func(c Change) bool {
		id := [2]string{c.Name, c.How}
		again := c.Kind == "input" && seen[id]
		seen[id] = seen[id] || c.Kind == "input"
		return again
	})
}

// noteTracked notes which outputs of a miss git tracks: a result that changes one is not stored,
// which may be the reason of the miss.
func (e *Evaluator) noteTracked(ev *Evaluation) {
	if ev.Reason != MissNeverCached && ev.Reason != MissNotStored {
		return
	}
	var list []string
	for _, entry := range e.trackedOutputs(ev.Task) {
		list = append(list, entry.Path)
	}
	if len(list) > 0 {
		ev.Notes = append(ev.Notes, "git tracks the output "+diagnostics.Few(list)+": a result that changes it is not stored")
	}
}

// changesSince returns the changes from the run recorded under key to ev; ok is false if the
// cache has lost that run.
func (e *Evaluator) changesSince(key cache.Key, ev *Evaluation) (changes []Change, ok bool) {
	old, err := e.provenances.Of(key)
	if err != nil {
		return nil, false
	}
	return differences(old.Ingredients, written(ev.ingredients), old.Blob, e.blobs(ev, old.Blob)), true
}

// Why explains the key of a task. The changes are against the key other, or, if that is zero,
// against the last good run of the task.
func (e *Evaluator) Why(ev *Evaluation, other cache.Key) Explanation {
	x := Explanation{Key: ev.Key, Ingredients: written(ev.ingredients), Inputs: ev.keyed(), Discovered: ev.held, FindsInputs: ev.FindsInputs, WhyDeclared: Files{e}.WhyDeclared(ev.Task), Record: ev.Record}
	if x.Against = other; other == (cache.Key{}) {
		x.Against = e.history.Of(ev.Task).Key
	}
	if x.Against != (cache.Key{}) && ev.Known && x.Against != ev.Key { // another checkout has other digests of variables
		changes, ok := e.changesSince(x.Against, ev)
		if x.Changes = changes; !ok {
			x.Against = cache.Key{}
		}
	}
	return x
}
