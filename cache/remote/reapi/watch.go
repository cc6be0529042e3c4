package reapi

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/remote"
)

const (
	starting = 15 * time.Second // until the server takes the first byte: a credential helper may be asked first
	slowest  = 256 << 10        // bytes a second: a question may be on so slow a way before it arrives
	underway = 4 << 20          // bytes that may be on the way at once
)

// watch ends a call on which nothing happens.
type watch struct {
	cancel context.CancelCauseFunc
	heard  func(within time.Duration) bool // whether the server sends anything, of other calls
	most   time.Duration                   // how long a wait becomes while the server sends others their answers
	timer  *time.Timer

	mu     sync.Mutex
	wait   time.Duration
	since  time.Time    // the begin of the wait
	ended  bool         // by stop: the timer starts no more
	silent *SilentError // the error of a call that the watch has ended
}

func (c *Client) watched(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel, heard: c.http.Heard, most: c.idle, wait: starting, since: time.Now()}
	w.timer = time.AfterFunc(starting, w.end)
	return ctx, w
}

// end ends the call, unless its answer only has to wait for those of other calls on a slow way.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	waited := time.Since(w.since)
	switch {
	case w.ended || w.silent != nil:
	case waited < w.most && w.heard(w.wait):
		w.timer.Reset(min(w.wait, w.most-waited))
	default:
		w.silent = &SilentError{After: waited}
		w.cancel(w.silent)
	}
}

// expect sets how long from now nothing may happen.
func (w *watch) expect(wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wait, w.since = wait, time.Now(); !w.ended {
		w.timer.Reset(wait)
	}
}

// pause waits for nothing: it is not the server's turn.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

// silence returns the error of a call that the watch has ended, nil for another.
func (w *watch) silence() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent == nil {
		return nil
	}
	return w.silent
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// SilentError is the error of a call that was ended since the server sent nothing and took nothing.
type SilentError struct{ After time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("the server was silent for %v", e.After.Round(10*time.Millisecond))
}

// Unwrap returns remote.ErrSilent.
func (e *SilentError) Unwrap() error { return remote.ErrSilent }

// Timeout reports that the error is one of time.
func (e *SilentError) Timeout() bool { return true }

// question is the body of a call. Its watch waits for the transport, which reads it as the server takes it, and after
// its end for the answer.
type question struct {
	source      io.Reader
	watch       *watch
	idle, after time.Duration
	sent        int64
}

func (q *question) Read(p []byte) (int, error) {
	q.watch.pause()
	n, err := q.source.Read(p)
	q.sent += int64(n)
	if err == nil {
		q.watch.expect(q.idle)
	} else {
		q.watch.expect(q.after + time.Duration(min(q.sent, underway))*time.Second/slowest)
	}
	return n, err
}

func (q *question) Close() error {
	if c, ok := q.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
