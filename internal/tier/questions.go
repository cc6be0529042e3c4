package tier

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/run"
)

// fetchedMax is the number of results that are fetched at a time.
const fetchedMax = 128

// questions are those of one run.
type questions struct {
	tier  *Tier
	ready chan struct{}
	slots chan struct{} // taken by results that are being fetched
	group sync.WaitGroup

	mu      sync.Mutex
	stops   map[int]context.CancelFunc // of the batches that are being asked
	next    int
	drops   map[cache.Key]context.CancelFunc // of the results that are being fetched
	given   map[cache.Key]bool               // dropped
	later   []cache.Key                      // asked after the probe
	answers []run.Answer
	closed  bool
}

func newQuestions(t *Tier) *questions {
	return &questions{
		tier: t, ready: make(chan struct{}, 1), slots: make(chan struct{}, fetchedMax),
		stops: make(map[int]context.CancelFunc), drops: make(map[cache.Key]context.CancelFunc), given: make(map[cache.Key]bool),
	}
}

// Ask implements run.Finder.
func (t *Tier) Ask(ctx context.Context, keys []cache.Key) {
	t.count(func(c *run.RemoteCounts) { c.Used = true })
	q := t.questions
	first := q == nil
	if first {
		q = newQuestions(t)
		t.questions = q
	}
	if keys = q.postpone(keys, first); len(keys) > 0 {
		q.ask(ctx, keys)
	}
}

// postpone returns those of keys that are asked for now: one if it is the probe, none while that has no answer.
func (q *questions) postpone(keys []cache.Key, first bool) []cache.Key {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !q.tier.breaker.isProbing():
		return keys
	case first:
		q.later = slices.Clone(keys[1:])
		return keys[:1]
	}
	q.later = append(q.later, keys...)
	return nil
}

// postponed returns what waits for the answer of the probe, which has come.
func (q *questions) postponed() []cache.Key {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.later
	q.later = nil
	return list
}

// Ready implements run.Finder.
func (t *Tier) Ready() <-chan struct{} {
	if t.questions == nil {
		return nil
	}
	return t.questions.ready
}

// Answers implements run.Finder.
func (t *Tier) Answers() []run.Answer {
	q := t.questions
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.answers
	q.answers = nil
	return list
}

// ask asks in a goroutine of its own.
func (q *questions) ask(ctx context.Context, keys []cache.Key) {
	ctx, stop := context.WithCancel(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		stop()
		return
	}
	id := q.next
	q.next++
	q.stops[id] = stop
	q.group.Go(func() {
		q.find(ctx, stop, keys)
		if q.tier.breaker.isOff() {
			q.absent(q.postponed())
		}
		q.mu.Lock()
		delete(q.stops, id)
		q.mu.Unlock()
		stop()
	})
}

// find asks for keys, and fetches what is found. It calls stop once the breaker is open.
func (q *questions) find(ctx context.Context, stop func(), keys []cache.Key) {
	s := q.tier.store()
	if s == nil {
		q.absent(keys)
		return
	}
	off := q.tier.breaker.ended()
	found := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		select {
		case <-off:
			stop()
		case <-found:
		}
	})
	s.Find(ctx, keys, func(a remote.Answer) {
		if f := q.answer(ctx, a); f != nil {
			group.Go(func() { q.fetch(ctx, s, f) })
		}
	})
	close(found)
	group.Wait()
}

// answer handles an answer. It returns what is to be fetched, nil for nothing.
func (q *questions) answer(ctx context.Context, a remote.Answer) *remote.Found {
	t := q.tier
	if a.Err != nil && !errors.Is(a.Err, remote.ErrMiss) {
		t.failed(ctx, a.Err)
		q.absent([]cache.Key{a.Key})
		return nil
	}
	if t.breaker.answered() {
		if later := q.postponed(); len(later) > 0 {
			q.ask(context.WithoutCancel(ctx), later)
		}
	}
	if a.Err != nil {
		t.refused(a.Err)
		q.absent([]cache.Key{a.Key})
		return nil
	}
	found := run.Answer{Key: a.Key, Found: true}
	if a.Found.Envelope != nil {
		found.Took = a.Found.Envelope.Record.Duration
	}
	q.add(found)
	return a.Found
}

// fetch makes a result one of the disk.
func (q *questions) fetch(ctx context.Context, s remote.Store, f *remote.Found) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q.mu.Lock()
	gone := q.closed || q.given[f.Key]
	q.drops[f.Key] = cancel
	q.mu.Unlock()
	if gone {
		return
	}
	t := q.tier
	select {
	case q.slots <- struct{}{}:
	case <-ctx.Done():
		return
	case <-t.breaker.ended():
		q.absent([]cache.Key{f.Key})
		return
	}
	defer func() { <-q.slots }()
	err := s.Fetch(ctx, f, t.o.Disk)
	switch {
	case err == nil:
		t.count(func(c *run.RemoteCounts) { c.Fetched++; c.FetchedBytes += f.Size })
		if t.o.Disk.Crowded() {
			_ = t.o.Disk.PruneToBounds(ctx) // the end of the run tries again
		}
		q.add(run.Answer{Key: f.Key, Here: true})
		return
	case errors.Is(err, remote.ErrMiss):
		t.refused(err)
	default:
		t.failed(ctx, err)
	}
	q.absent([]cache.Key{f.Key})
}

// refused warns of a result that is not trusted.
func (t *Tier) refused(err error) {
	var r *remote.RefusedError
	if errors.As(err, &r) && !t.breaker.isOff() { // a server that is not used any more was reported
		t.warn("remote_refused", "results of the remote cache are not used: "+string(r.Reason), "see [cache] remote_keys and remote_trust")
	}
}

func (q *questions) absent(keys []cache.Key) {
	list := make([]run.Answer, len(keys))
	for i, k := range keys {
		list[i].Key = k
	}
	q.add(list...)
}

func (q *questions) add(list ...run.Answer) {
	q.mu.Lock()
	q.answers = append(q.answers, list...)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Drop implements run.Finder.
func (t *Tier) Drop(keys ...cache.Key) {
	q := t.questions
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range keys {
		q.given[k] = true
		if cancel := q.drops[k]; cancel != nil {
			cancel()
		}
	}
}

// close ends all questions and waits for them.
func (q *questions) close() {
	q.mu.Lock()
	q.closed = true
	for _, stop := range q.stops {
		stop()
	}
	q.mu.Unlock()
	q.group.Wait()
}

// The longest time that a task waits for an answer before it starts.
const (
	waitForKnown   = 150 * time.Millisecond // of a server that has answered in this run
	waitForUnknown = 75 * time.Millisecond  // of one that has not
)

// Patience implements run.Finder.
func (t *Tier) Patience() time.Duration {
	switch {
	case t.breaker.isProbing():
		return 0
	case t.breaker.isHealthy():
		return waitForKnown
	}
	return waitForUnknown
}
