package tier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/run"
)

// The bounds of sending.
const (
	sentTogether = 64              // results of one call
	maxBacklog   = 256 << 20       // bytes that wait while a run lasts; what is beyond is left for later
	shortWait    = 2 * time.Second // at the end of a run, at most
	leastWait    = 50 * time.Millisecond
	waitPart     = 20 // of a run
)

// outbox has the results that are being sent in a run. Its fields belong to the mutex of the Tier.
type outbox struct {
	queue   *queue // nil before the first result
	list    []waiting
	bytes   int64     // of list
	left    []waiting // for later
	why     error     // the last is left
	running bool      // a goroutine sends list
	resumed bool      // list has what other bentos have left
	done    chan struct{}
	stop    context.CancelFunc // of that goroutine
	group   sync.WaitGroup
}

// Announce implements run.Sender.
func (t *Tier) Announce(o run.Outgoing) {
	if t.Writes() {
		t.journal().write(lineAdd, waitingOf(o))
	}
}

// Withdraw implements run.Sender.
func (t *Tier) Withdraw(keys ...cache.Key) {
	if !t.Writes() {
		return
	}
	for _, k := range keys {
		t.journal().write(lineDone, waiting{key: k})
	}
}

func (t *Tier) journal() *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out.queue == nil {
		t.out.queue = &queue{state: t.o.State}
	}
	return t.out.queue
}

// Send implements run.Sender.
func (t *Tier) Send(ctx context.Context, o run.Outgoing) {
	if !t.Writes() {
		return
	}
	off := t.breaker.isOff()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Used = true
	w := waitingOf(o)
	if off || t.out.bytes+o.Size > maxBacklog && t.out.bytes > 0 {
		t.out.left = append(t.out.left, w)
		return
	}
	t.out.list = append(t.out.list, w)
	t.out.bytes += o.Size
	t.start(ctx)
}

// Resume sends what other bentos have left, in the background, until ctx ends.
func (t *Tier) Resume(ctx context.Context) {
	if !t.Writes() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.start(ctx)
}

// start starts the goroutine that sends, unless it runs. t.mu is held.
func (t *Tier) start(ctx context.Context) {
	if t.out.running {
		return
	}
	ctx, t.out.stop = context.WithCancel(ctx)
	t.out.running, t.out.done = true, make(chan struct{})
	stop, done := t.out.stop, t.out.done
	t.out.group.Go(func() {
		defer close(done)
		defer stop()
		t.sendAll(ctx)
	})
}

// sendAll sends until nothing is left.
func (t *Tier) sendAll(ctx context.Context) {
	s := t.store()
	t.resume()
	for {
		t.mu.Lock()
		list := t.out.list
		if s == nil || ctx.Err() != nil || t.breaker.isOff() {
			t.out.left = append(t.out.left, list...)
			t.out.list, list = nil, nil
		}
		list = list[:min(len(list), sentTogether)]
		t.out.list = t.out.list[len(list):]
		if t.out.running = len(list) > 0; !t.out.running {
			t.out.bytes = 0
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		t.sendSome(ctx, s, list)
	}
}

// resume adds what other bentos have left, once in a run.
func (t *Tier) resume() {
	t.mu.Lock()
	again := t.out.resumed
	t.out.resumed = true
	t.mu.Unlock()
	if again {
		return
	}
	takeQueues(t.o.State, func(list []waiting) {
		q := t.journal()
		for _, w := range list {
			q.write(lineAdd, w)
		}
		t.mu.Lock()
		t.out.list = append(t.out.list, list...)
		t.mu.Unlock()
	})
}

// sendSome sends results together.
func (t *Tier) sendSome(ctx context.Context, s remote.Store, list []waiting) {
	by := make(map[cache.Key]waiting, len(list))
	var results []remote.Outgoing
	for _, w := range list {
		r, err := t.o.Disk.Lookup(w.key)
		if err != nil { // it was evicted, or never stored
			t.settled(w, 0, remote.ErrPrivate)
			continue
		}
		t.Contain(w.key, w.image)
		by[w.key] = w
		results = append(results, remote.Outgoing{Key: w.key, Record: r, NoLog: w.noLog})
	}
	if len(results) == 0 {
		return
	}
	off := t.breaker.ended()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-off:
			stop()
		case <-sent:
		}
	})
	s.Send(ctx, t.o.Disk, results, func(r remote.Sent) {
		w, ok := by[r.Key]
		if !ok {
			return
		}
		delete(by, r.Key)
		if r.Err != nil && !final(r.Err) {
			t.failed(ctx, r.Err)
			if ctx.Err() == nil {
				w.tries++
			}
		}
		t.settled(w, r.Bytes, r.Err)
	})
	close(sent)
	watching.Wait()
	for _, w := range by { // the store has said nothing of it
		t.settled(w, 0, context.Canceled)
	}
}

// final reports whether a result is not sent again after an error: the server is well.
func final(err error) bool {
	return errors.Is(err, remote.ErrPrivate) || errors.Is(err, remote.ErrFull) || errors.Is(err, cache.ErrMiss)
}

// settled notes what became of a result.
func (t *Tier) settled(w waiting, bytes int64, err error) {
	switch {
	case err == nil:
		t.breaker.answered()
		t.count(func(c *run.RemoteCounts) {
			if c.SentBytes += bytes; !w.aside {
				c.Sent++
			}
		})
	case final(err):
		if errors.Is(err, remote.ErrFull) {
			t.warn("remote_full", "a result was not sent: "+err.Error(), "allow larger content at the server, or set remote_cache = false for the task")
		}
	case w.tries >= maxTries:
		t.warn("remote_unsent", fmt.Sprintf("a result is not sent any more after %d attempts: %v", w.tries, err), "bento doctor tests the server")
	default:
		t.mu.Lock()
		if t.out.left = append(t.out.left, w); !errors.Is(err, context.Canceled) {
			t.out.why = err
		}
		t.mu.Unlock()
		return
	}
	t.journal().write(lineDone, w)
}

// Push sends what earlier bentos have left, until all is sent or ctx ends, even if the server was given up a moment ago.
func (t *Tier) Push(ctx context.Context) run.RemoteCounts {
	t.breaker.forget()
	t.Resume(ctx)
	t.mu.Lock()
	done := t.out.done
	t.mu.Unlock()
	if done != nil {
		<-done
	}
	t.mu.Lock()
	why, off := t.out.why, t.counts.Off
	t.mu.Unlock()
	if why != nil && off == "" && ctx.Err() == nil {
		t.warn("remote_left", "a result was not sent: "+why.Error(), "bento cache push tries again; bento doctor tests the server")
	}
	return t.Finish(ctx, 0)
}

// Finish implements run.Remote.
func (t *Tier) Finish(ctx context.Context, ran time.Duration) run.RemoteCounts {
	if t.questions != nil {
		t.questions.close()
		t.questions = nil
	}
	t.mu.Lock()
	running, done, stop := t.out.running, t.out.done, t.out.stop
	t.mu.Unlock()
	if running {
		wait := t.o.Wait
		if wait == 0 {
			wait = min(shortWait, max(leastWait, ran/waitPart))
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		stop()
	}
	t.out.group.Wait()
	t.mu.Lock()
	q, left, counts := t.out.queue, t.out.left, t.counts
	for _, w := range left {
		if !w.aside {
			counts.Left++
		}
	}
	t.counts, t.warned = run.RemoteCounts{}, make(map[string]bool)
	t.out.queue, t.out.list, t.out.left, t.out.why, t.out.bytes, t.out.resumed = nil, nil, nil, nil, 0, false
	t.mu.Unlock()
	if q != nil {
		q.close(left)
	}
	t.breaker.renew()
	return counts
}
