package remote

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
)

// Options are the settings of a store over a Backend.
type Options struct {
	Place
	Trust  Trust
	Signer *Signer // nil: results are sent without a signature
	// Secrets are masked in logs that are sent; see SecretsOf. A longer one comes before one that it contains.
	Secrets []string
	Limits
}

// Limits end what a server does not continue. There is no limit of the whole: a large blob may take hours. Zero is
// no limit.
type Limits struct {
	Answer time.Duration // until an answer begins
	Idle   time.Duration // between two parts of an answer, or of what is sent
}

// OverBackend returns a store whose server is b, which it closes.
func OverBackend(b Backend, o Options) Store {
	s := &overBackend{server: b, o: o, sums: make(map[cache.Digest]Digest)}
	s.finder = NewFinder(o.Place, parallel(b), s.findIn)
	return s
}

type overBackend struct {
	server Backend
	o      Options
	finder *Finder

	mu   sync.Mutex
	sums map[cache.Digest]Digest // digests on the wire of blobs that were hashed both ways
}

const (
	inFlight = 64      // questions to the server at the same time, unless its client says another number
	maxSums  = 1 << 15 // remembered digests; 4 MiB
)

// parallel returns how many questions to a server are under way at the same time.
func parallel(b Backend) int {
	if p, ok := b.(interface{ Parallel() int }); ok {
		return p.Parallel()
	}
	return inFlight
}

// Close implements Store.
func (s *overBackend) Close() error { return s.server.Close() }

// remember notes that a blob has both digests. The caller has hashed it both ways.
func (s *overBackend) remember(d cache.Digest, wire Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sums) >= maxSums {
		clear(s.sums)
	}
	s.sums[d] = wire
}

func (s *overBackend) remembered(d cache.Digest) (wire Digest, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wire, ok = s.sums[d]
	return wire, ok
}

// Find implements Store.
func (s *overBackend) Find(ctx context.Context, keys []cache.Key, answer func(Answer)) {
	s.finder.Find(ctx, keys, answer)
}

// findIn asks for one result.
func (s *overBackend) findIn(ctx context.Context, id ID) (*Found, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	data, err := s.ask(ctx, id.Action())
	if err != nil {
		return nil, err
	}
	sealed, at, err := envelopeOf(data)
	if err != nil {
		return nil, err
	}
	if sealed == nil {
		if sealed, err = s.readAll(ctx, at); err != nil {
			return nil, err
		}
	}
	e, err := Open(sealed, id, &s.o.Trust)
	if err != nil {
		return nil, err
	}
	return foundOf(e)
}

func foundOf(e *Envelope) (*Found, error) {
	blobs, err := Blobs(e.Record)
	if err != nil || len(e.Wire) != len(blobs) {
		return nil, refuse(Damaged, err)
	}
	f := &Found{ID: e.ID, Envelope: e}
	for _, b := range blobs {
		f.Size += b.Size
	}
	return f, nil
}

func (s *overBackend) ask(ctx context.Context, action Digest) ([]byte, error) {
	ctx, w := Watch(ctx, s.o.Limits)
	defer w.Stop()
	data, err := s.server.Result(ctx, action)
	return data, w.Err(err)
}

// readAll returns a blob of at most MaxEnvelope bytes.
func (s *overBackend) readAll(ctx context.Context, d Digest) (data []byte, err error) {
	ctx, w := Watch(ctx, s.o.Limits)
	defer w.Stop()
	err = s.server.Fetch(ctx, []Want{{Digest: d}}, func(_ Want, r io.Reader) error {
		if r == nil {
			return ErrMiss
		}
		data, err = io.ReadAll(io.LimitReader(w.Reader(r), d.Size+1)) // it grows with what arrives
		return err
	})
	switch {
	case err != nil:
		return nil, w.Err(err)
	case Sum(data) != d:
		return nil, refuse(Damaged, nil)
	}
	return data, nil
}
