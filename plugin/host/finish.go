package host

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// The parts of the time of Finish after which a process is not waited for.
const (
	startPart = 4  // for its handshake, since its launch
	exitPart  = 4  // for its exit, since its answer to the last request
	readPart  = 20 // for the next bytes that it reads, if there are any
	lookPart  = 10 // of the time for reading: between two looks
)

// Finish calls settle, which returns when the process was sent all its messages, or its context is done.
// Then Finish ends the process as Close does. It kills a process that is left after wait, or when ctx is
// done. It stops waiting, and returns the reason, for a process that does not keep up. Such a process has
// had no handshake a quarter of wait after its launch, has input and reads none of it for a twentieth of
// wait, or has not exited a quarter of wait after it answered the last request. Otherwise it returns "".
func (r *Resident) Finish(ctx context.Context, wait time.Duration, settle func(context.Context)) (why string) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel()
		why = r.follow(ctx, wait)
	})
	settle(ctx)
	r.CloseBy(ctx)
	cancel()
	watching.Wait()
	return why
}

// follow waits until the process does not follow, and returns why, or "" when ctx is done before.
func (r *Resident) follow(ctx context.Context, wait time.Duration) string {
	look := max(wait/readPart/lookPart, time.Millisecond)
	tick := time.NewTicker(look)
	defer tick.Stop()
	before, left := 0, wait/readPart
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ""
		}
		state, since, unread := r.reading()
		if state == Stopping && r.answered.Load() != nil && time.Since(*r.answered.Load()) >= wait/exitPart {
			return fmt.Sprintf("it was ended with the run: it has not exited %v after its answer to the last request", wait/exitPart)
		}
		if state == Starting && time.Since(since) >= wait/startPart {
			return fmt.Sprintf("it was ended with the run: the handshake took more than %v", wait/startPart)
		}
		if state == Starting || unread == 0 || unread < before {
			left = wait / readPart
		} else if left -= look; left <= 0 {
			return fmt.Sprintf("it was ended with the run: it has left its input unread for %v", wait/readPart)
		}
		before = unread
	}
}

// reading returns the state, when it began, and how many bytes the process has not read; 0 if that is not
// known.
func (r *Resident) reading() (State, time.Time, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || r.current.stream.Unread == nil {
		return r.state, r.since, 0
	}
	return r.state, r.since, r.current.stream.Unread()
}
