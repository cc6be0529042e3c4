package remote

import (
	"context"
	"errors"

	"github.com/bentobuild/bento/cache"
)

// Options are the settings of a store over a Backend.
type Options struct {
	Place
	Trust  Trust
	Signer *Signer // nil: results are sent without a signature
}

// OverBackend returns a store whose server is b, which it closes.
func OverBackend(b Backend, o Options) Store { return &overBackend{Backend: b, o: o} }

type overBackend struct {
	Backend
	o Options
}

// Find implements Store.
func (s *overBackend) Find(ctx context.Context, keys []cache.Key, answer func(Answer)) {
	for _, key := range keys {
		answer(Answer{Key: key, Err: ErrMiss})
	}
}

// Fetch implements Store.
func (s *overBackend) Fetch(ctx context.Context, f *Found, disk *cache.Disk) error { return ErrMiss }

// Send implements Store.
func (s *overBackend) Send(ctx context.Context, disk *cache.Disk, results []Outgoing, done func(Sent)) {
	for _, r := range results {
		done(Sent{Key: r.Key, Err: errors.ErrUnsupported})
	}
}
