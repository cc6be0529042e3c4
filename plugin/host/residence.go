package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// recheck is the time until an idle process that must stay is checked again.
const recheck = 5 * time.Second

// residence is the life of a resident: its goroutine alone has it, and alone changes the state.
type residence struct {
	*Resident
	ends   endings
	wanted bool // it starts without a call
}

// live runs a resident until ctx is done.
func (r *Resident) live(ctx context.Context) {
	defer close(r.ended)
	l := residence{Resident: r, wanted: r.o.Eager, ends: endings{recent: slices.Clone(r.o.Earlier)}}
	for ctx.Err() == nil {
		if !l.wanted && !l.rest(ctx) {
			continue
		}
		l.wanted = false
		k, f := l.launch(ctx)
		since := time.Now()
		if f == nil {
			l.set(Ready, k, nil)
			f = l.attend(ctx, k)
		}
		if f == nil || k == nil && ctx.Err() != nil { // it was ended on purpose
			continue
		}
		if f.Code != adapters.NotTrusted { // it did not run
			l.ends.add(l.o.Numbers, time.Since(since))
		}
		l.recover(ctx, f)
	}
	l.set(Stopped, nil, nil)
}

// rest waits for a call, and reports whether one has arrived.
func (l *residence) rest(ctx context.Context) bool {
	if state, f := l.State(); state != Idle {
		l.set(Idle, nil, f)
	}
	select {
	case <-l.wake:
		return true
	case done := <-l.reload:
		l.reset(done)
	case <-ctx.Done():
	}
	return false
}

// reset forgets all failures.
func (l *residence) reset(done chan<- struct{}) {
	l.ends, l.wanted = endings{}, l.o.Eager
	l.set(Idle, nil, nil)
	close(done)
}

// recover waits after a failure: for the pause, or, after too many failures or if the program must not
// start, for a reload. It does not wait for a program that cannot be started at all.
func (l *residence) recover(ctx context.Context, f *adapters.Failure) {
	n := l.o.Numbers
	var over <-chan time.Time
	switch {
	case f.Code == adapters.NotTrusted:
		l.set(Failed, nil, f)
	case l.ends.tooMany(n):
		l.set(Quarantined, nil, quarantine(f, &l.ends, n, l.hint(adapters.Quarantined)))
	case f.Code == adapters.LaunchFailed:
		l.wanted = l.o.Eager
		l.set(Idle, nil, f)
		return
	default:
		l.wanted = l.o.Eager
		timer := time.NewTimer(n.pause(l.ends.row))
		defer timer.Stop()
		over = timer.C
		l.set(Restarting, nil, f)
	}
	select {
	case <-over:
	case done := <-l.reload:
		l.reset(done)
	case <-ctx.Done():
	}
}

// set changes the state. The failure is that of the last process.
func (r *Resident) set(state State, k *process, f *adapters.Failure) {
	r.mu.Lock()
	if f != nil && f != r.failure {
		r.failed++
	}
	if state != r.state {
		r.since = time.Now()
	}
	r.state, r.current, r.failure = state, k, f
	close(r.changed)
	r.changed = make(chan struct{})
	if state == Ready {
		r.used = time.Now()
		select { // the call that waits has its process
		case <-r.wake:
		default:
		}
	}
	r.mu.Unlock()
	if r.o.Changed != nil {
		r.o.Changed(state, f)
	}
}

// launch starts a process and does the handshake with it.
func (l *residence) launch(ctx context.Context) (*process, *adapters.Failure) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Numbers.Handshake)
	defer cancel()
	l.tail.Reset()
	_, before := l.State()
	l.set(Starting, nil, before)
	stream, err := l.o.Launcher.Launch(ctx, l.tail)
	if err != nil {
		var known *adapters.Failure
		if errors.As(err, &known) {
			return nil, l.fault(known.Code, known.Message)
		}
		return nil, l.fault(adapters.LaunchFailed, err.Error())
	}
	peer, err := l.o.Connect(ctx, stream)
	if err != nil {
		stream.End(true)
		status := stream.Wait()
		stream.Stdin.Close()
		stream.Stdout.Close()
		return nil, l.fault(adapters.HandshakeFailed, fmt.Sprintf("%v (%s)", err, status))
	}
	k := watched(stream, peer, l.o.Numbers)
	l.set(Starting, k, before)
	if err = l.o.Hello(ctx, peer); err == nil { // if it has ended since, attend reports that
		return k, nil
	}
	return nil, l.refuse(ctx, k, err)
}

// refuse ends a process whose handshake failed, and returns the failure.
func (l *residence) refuse(ctx context.Context, k *process, err error) *adapters.Failure {
	if errors.Is(ctx.Err(), context.Canceled) {
		k.terminate("it was shut down")
	}
	f := l.why(ctx, k, err)
	k.end(f.Code, f.Message)
	l.bury(k)
	f.Stderr = l.tail.String()
	return f
}

// why returns the failure of a handshake: its own error, or the end of the process, or of the
// time.
func (l *residence) why(ctx context.Context, k *process, err error) *adapters.Failure {
	var (
		own *adapters.Failure
		rpc *wire.RPCError
		bad *wire.BadAnswer
	)
	switch {
	case errors.As(err, &own):
		return l.fault(own.Code, own.Message)
	case errors.As(err, &rpc), errors.As(err, &bad):
	case closed(k.peer.Done()):
		<-k.done
		if r := k.reason(); r.code == adapters.MalformedResponse {
			return l.fault(r.code, r.what)
		}
		return l.fault(adapters.HandshakeFailed, k.reason().what)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		what := fmt.Sprintf("the handshake timed out after %v", l.o.Numbers.Handshake)
		if begun := k.peer.Unfinished(); begun != "" {
			what += "; " + begun
		}
		return l.fault(adapters.HandshakeFailed, what)
	}
	return l.fault(adapters.HandshakeFailed, fmt.Sprint(err))
}

// bury waits for the end of a process.
func (l *residence) bury(k *process) {
	<-k.done
	if l.o.Ended != nil {
		l.o.Ended(k.peer)
	}
}

// attend waits for the end of a ready process, and returns its failure, nil if it was ended on
// purpose.
func (l *residence) attend(ctx context.Context, k *process) *adapters.Failure {
	timer, idle := (*time.Timer)(nil), (<-chan time.Time)(nil)
	if l.o.Numbers.Idle > 0 {
		timer = time.NewTimer(l.o.Numbers.Idle)
		defer timer.Stop()
		idle = timer.C
	}
	for {
		select {
		case <-k.done:
			return l.lost(k)
		case <-ctx.Done():
			if k.over() { // it was not asked to end
				return l.lost(k)
			}
			l.shutdown(k, Closing)
			return nil
		case done := <-l.reload:
			l.shutdown(k, Reloading)
			l.reset(done)
			return nil
		case <-idle:
			if left := l.left(); left > 0 {
				timer.Reset(left)
				continue
			}
			l.shutdown(k, Idling)
			return nil
		}
	}
}

// lost returns the failure of a process that has ended, nil if bento killed it.
func (l *residence) lost(k *process) *adapters.Failure {
	l.bury(k)
	if k.closing.Load() {
		return nil
	}
	return l.fault(k.reason().code, k.reason().what)
}

// left returns how long a process stays without further use. A call in flight is use.
func (l *residence) left() time.Duration {
	l.mu.Lock()
	calls, used := l.calls, l.used
	l.mu.Unlock()
	left := l.o.Numbers.Idle - time.Since(used)
	if left <= 0 && (calls > 0 || l.o.Keep != nil && l.o.Keep()) {
		return recheck
	}
	return left
}

// shutdown ends a process: a request, behind it the end of the stream, then SIGTERM, then
// SIGKILL.
func (l *residence) shutdown(k *process, why Ending) {
	l.answered.Store(nil)
	k.closing.Store(true)
	what := "it was shut down"
	switch why {
	case Reloading:
		what = "it was reloaded"
	case Idling:
		what = fmt.Sprintf("it was ended after %v without use", l.o.Numbers.Idle)
	}
	k.because(adapters.Crashed, what)
	l.set(Stopping, k, nil)
	until := time.Now().Add(l.o.Numbers.Shutdown)
	method, params := l.o.Shutdown(why)
	// A process that cannot be written to is about to exit, or is ended below.
	if l.o.Await > 0 {
		l.await(k, method, params)
	} else {
		_ = k.peer.Finish(method, params)
	}
	if !wait(k.done, time.Until(until)) {
		k.terminate(what)
	}
	l.bury(k)
}

// await makes the last request, and waits for its answer or the end of the process before it closes
// the stream.
func (l *residence) await(k *process, method string, params any) {
	defer k.peer.Leave()
	q, err := k.peer.Ask(method, params)
	if err != nil {
		return
	}
	defer q.Drop()
	timer := time.NewTimer(l.o.Await)
	defer timer.Stop()
	select {
	case <-q.Answered():
		now := time.Now()
		l.answered.Store(&now)
	case <-k.done:
	case <-k.peer.Done():
	case <-timer.C:
	}
}
