package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"
)

// ErrSilent is the cause of the end of a request that a server did not continue in time.
var ErrSilent = errors.New("the remote cache does not answer in time")

// Watcher ends a request when the server is silent. Time that this machine takes, to read, write or hash, does not count.
type Watcher struct {
	cause  func() error // of the end of the request, nil before
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil for no limit
	idle   time.Duration
}

// Watch returns the context of a request, which ends with ctx, and with the cause ErrSilent when limits are exceeded. The
// caller calls Stop.
func Watch(ctx context.Context, limits Limits) (context.Context, *Watcher) {
	w := &Watcher{idle: limits.Idle}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.cause = func() error { return context.Cause(ctx) }
	if limits == (Limits{}) {
		return ctx, w
	}
	w.timer = time.AfterFunc(cmp.Or(limits.Answer, limits.Idle), func() { w.cancel(ErrSilent) })
	return ctx, w
}

// Here reports that this machine has the turn, There that the server has it.
func (w *Watcher) Here() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// There reports that the server has the turn, for the time of Limits.Idle.
func (w *Watcher) There() {
	if w.timer != nil && w.idle > 0 {
		w.timer.Reset(w.idle)
	}
}

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
