package run

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/fingerprint"
)

// Explanation says what a key is made of, and how it differs from another.
type Explanation struct {
	Key         cache.Key
	Ingredients []fingerprint.Ingredient
	Inputs      fingerprint.FileSet
	Record      *cache.Record // of Key, nil when the cache has none
	Against     cache.Key     // what Changes compares with; zero for none
	Changes     []Change
}

// Why explains the key of a task. The changes are against the key other, or when
// that is zero against the last good run of the task.
func (e *Evaluated) Why(ev *Evaluation, other cache.Key) Explanation {
	x := Explanation{Key: ev.Key, Ingredients: ev.Ingredients, Inputs: ev.Inputs, Record: ev.Record}
	if x.Against = other; other == (cache.Key{}) {
		x.Against = e.memory.of(ev.Task).Key
	}
	if x.Against != (cache.Key{}) && ev.Known {
		changes, ok := e.changesSince(x.Against, ev)
		if x.Changes = changes; !ok {
			x.Against = cache.Key{}
		}
	}
	return x
}

// Explain says what a recorded key is made of, and how it differs from another
// recorded key if that is not zero. Of a key that the cache does not have the
// error is cache.ErrMiss.
func Explain(s cache.Store, key, other cache.Key) (Explanation, error) {
	record, err := s.Lookup(key)
	if err != nil {
		return Explanation{}, err
	}
	stored := storedBlobs(s)
	x := Explanation{Key: key, Record: record, Against: other}
	if x.Ingredients, err = recorded(s, key); err != nil {
		return x, err
	}
	for _, in := range x.Ingredients {
		if in.Kind == fingerprint.Files {
			x.Inputs, _ = fingerprint.DecodeFileSet(fetch(stored, in.Value)) // shown when it is there
		}
	}
	if other == (cache.Key{}) {
		return x, nil
	}
	old, err := recorded(s, other)
	if err != nil {
		return x, err
	}
	x.Changes = differences(old, x.Ingredients, stored, stored)
	return x, nil
}
