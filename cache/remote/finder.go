package remote

import (
	"context"
	"errors"
	"sync"

	"github.com/bentobuild/bento/cache"
)

// Finder is Store.Find for a store that looks up one result in one scope.
type Finder struct {
	Place
	In    func(context.Context, ID) (*Found, error)
	slots chan struct{} // taken by keys that are asked for
}

// NewFinder returns a Finder that asks for atOnce keys at the same time at most, in all calls of Find together.
func NewFinder(p Place, atOnce int, in func(context.Context, ID) (*Found, error)) *Finder {
	return &Finder{Place: p, In: in, slots: make(chan struct{}, atOnce)}
}

// Find implements Store.Find.
func (f *Finder) Find(ctx context.Context, keys []cache.Key, answer func(Answer)) {
	next := make(chan cache.Key)
	answers := make(chan Answer)
	var group sync.WaitGroup
	for range min(cap(f.slots), len(keys)) {
		group.Go(func() {
			for key := range next {
				answers <- f.find(ctx, key)
			}
		})
	}
	group.Go(func() {
		defer close(next)
		for _, key := range keys {
			next <- key
		}
	})
	for range keys {
		answer(<-answers)
	}
	group.Wait()
}

// find asks for the result of key when there is a slot.
func (f *Finder) find(ctx context.Context, key cache.Key) Answer {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return Answer{Key: key, Err: context.Cause(ctx)}
	}
	defer func() { <-f.slots }()
	found, err := f.first(ctx, key)
	return Answer{Key: key, Found: found, Err: err}
}

// first asks for the result of key in all scopes at the same time, and returns that of the first scope that has one. Of
// errors, a fault counts more than a refusal, and that more than a miss.
func (f *Finder) first(ctx context.Context, key cache.Key) (*Found, error) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	replies := make([]chan Answer, len(f.Read))
	for i, scope := range f.Read {
		replies[i] = make(chan Answer, 1)
		group.Go(func() {
			found, err := f.In(ctx, ID{Key: key, Class: f.Of(key), Scope: scope})
			replies[i] <- Answer{Found: found, Err: err}
		})
	}
	first, rank := ErrMiss, 0
	for _, c := range replies {
		a := <-c
		if a.Err == nil {
			return a.Found, nil
		}
		if r := rankOf(a.Err); r > rank {
			first, rank = a.Err, r
		}
	}
	return nil, first
}

func rankOf(err error) int {
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		return 1
	case errors.Is(err, ErrMiss):
		return 0
	}
	return 2
}
