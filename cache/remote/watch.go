package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrSilent is the cause of the end of a request that a server did not continue in time.
var ErrSilent = errors.New("the remote cache does not answer in time")

// Watcher ends a request when the server is silent. Time that this machine takes, to read, write or hash, does not count.
type Watcher struct {
	cause  func() error // of the end of the request, nil before
	cancel context.CancelCauseFunc
	limits Limits

	mu     sync.Mutex
	timer  *time.Timer   // nil for no limit
	wait   time.Duration // that the server has when it has the turn, 0 for no limit
	here   bool          // this machine has the turn
	paused int           // calls of Pause that have not ended
}

type watcherKey struct{} // of a context that Watch has returned

// Watch returns the context of a request, which ends with ctx, and with the cause ErrSilent when limits are exceeded. The
// caller calls Stop.
func Watch(ctx context.Context, limits Limits) (context.Context, *Watcher) {
	w := &Watcher{limits: limits, wait: cmp.Or(limits.Answer, limits.Idle)}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.cause = func() error { return context.Cause(ctx) }
	if limits == (Limits{}) {
		return ctx, w
	}
	w.timer = time.AfterFunc(w.wait, func() { w.cancel(ErrSilent) })
	return context.WithValue(ctx, watcherKey{}, w), w
}

// Pause reports that a request with ctx waits for another than the server, such as a credential helper, until the caller
// calls resume. Then the server has the whole time of Limits.Answer.
func Pause(ctx context.Context) (resume func()) {
	w, ok := ctx.Value(watcherKey{}).(*Watcher)
	if !ok {
		return func() {}
	}
	w.set(func() { w.paused++ })
	return func() {
		w.set(func() {
			w.paused--
			w.wait = cmp.Or(w.limits.Answer, w.limits.Idle)
		})
	}
}

// set changes w, and then starts or stops its timer.
func (w *Watcher) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	change()
	if w.here || w.paused > 0 || w.wait == 0 {
		w.timer.Stop()
	} else {
		w.timer.Reset(w.wait)
	}
}

// Here reports that this machine has the turn, There that the server has it.
func (w *Watcher) Here() { w.set(func() { w.here = true }) }

// There reports that the server has the turn, for the time of Limits.Idle.
func (w *Watcher) There() { w.set(func() { w.here, w.wait = false, w.limits.Idle }) }

// Stop ends the request.
func (w *Watcher) Stop() {
	w.Here()
	w.cancel(nil)
}

// Err returns ErrSilent in place of err if that is why the request ended.
func (w *Watcher) Err(err error) error {
	if err != nil && errors.Is(w.cause(), ErrSilent) {
		return ErrSilent
	}
	return err
}

// Reader returns a reader of what the server sends. The server has the turn while a Read waits.
func (w *Watcher) Reader(r io.Reader) io.Reader { return &watched{w: w, r: r} }

type watched struct {
	w   *Watcher
	r   io.Reader
	err error // of the last Read, but io.EOF
}

func (r *watched) Read(p []byte) (int, error) {
	r.w.There()
	n, err := r.r.Read(p)
	r.w.Here()
	if err != nil && err != io.EOF {
		r.err = r.w.Err(err)
		err = r.err
	}
	return n, err
}
