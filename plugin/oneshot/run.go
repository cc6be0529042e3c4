package oneshot

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// tailSize is how many bytes of stderr a failure shows.
const tailSize = 64 << 10

// reaping is the longest wait for the end of a process after SIGKILL.
const reaping = 2 * time.Second

// run is one call: a process from its launch to its end. One goroutine owns it, except for the values that
// its other goroutines receive.
type run struct {
	o        *Options
	function string
	began    time.Time
	until    time.Time // the deadline of the call
	tail     *host.Tail
	log      *host.Lines
	audit    host.Audit
	manifest Manifest
	path     string // of the executable, once it is known
	out      string // the directory that it may write to, "" for none

	stream *host.Stream
	in     *receiver
	sent   atomic.Int64
	exitAt time.Time     // when its exit after the response was seen
	ended  chan struct{} // closed when the process and its descendants have ended
	status string        // how the process ended; set before ended is closed

	running []<-chan struct{} // closed at the ends of the run's goroutines
}

func newRun(t *Tool, function string, log func(string)) *run {
	now := time.Now()
	r := &run{
		o: &t.o, function: function, began: now, until: now.Add(t.o.Timeout), log: &host.Lines{To: log, Max: maxLogLine},
		in: newReceiver(), ended: make(chan struct{}),
		audit: host.Audit{Contract: t.o.Protocol, ID: t.o.ID, Function: function},
	}
	r.tail = host.NewTail(tailSize, r.log)
	return r
}

// call makes the whole exchange.
func (r *run) call(ctx context.Context, c *adapters.ToolCall) (json.RawMessage, error) {
	r.out = c.Out
	if err := r.launch(ctx); err != nil {
		return nil, err
	}
	if err := r.greet(ctx); err != nil {
		return nil, err
	}
	a, err := r.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.err != nil { // as in other hosts such a process need not exit well
		return nil, &adapters.ToolError{Tool: r.o.ID, Function: r.function, Code: a.err.code, Message: a.err.message}
	}
	return a.output, r.awaitExit(ctx)
}

// introduce makes the handshake alone.
func (r *run) introduce(ctx context.Context) error {
	if err := r.launch(ctx); err != nil {
		return err
	}
	if err := r.greet(ctx); err != nil {
		return err
	}
	r.stream.Stdin.Close()
	r.awaitEnd(ctx, r.stream.Exited, r.o.Teardown)
	return nil
}

// phase measures a phase of the call.
func phase(d *time.Duration) (over func()) {
	began := time.Now()
	return func() { *d = time.Since(began) }
}

// launch starts the process. It does not wait for a launch that takes too long. Such a process is ended as
// soon as it exists.
func (r *run) launch(ctx context.Context) error {
	defer phase(&r.audit.Launch)()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	launcher := r.o.Launcher
	if launcher == nil {
		command, err := r.o.command()
		if err != nil {
			return unlaunched(err)
		}
		if command.Sandbox != nil && r.out != "" {
			command.Sandbox = command.Sandbox.Writing(r.out)
		}
		launcher, r.path = command, command.Argv[0]
	}
	return r.start(ctx, launcher)
}

// start launches the process on a separate goroutine, since a launch may hang.
func (r *run) start(ctx context.Context, launcher host.Launcher) error {
	type launched struct {
		stream *host.Stream
		err    error
	}
	began, done, abandoned := time.Now(), make(chan launched), make(chan struct{})
	r.goes(func() {
		stream, err := launcher.Launch(ctx, r.tail)
		select {
		case done <- launched{stream, err}:
		case <-abandoned:
			if err == nil {
				discard(stream)
			}
		}
	})
	timer := time.NewTimer(min(r.o.Launch, r.o.Timeout))
	defer timer.Stop()
	select {
	case l := <-done:
		if l.err != nil {
			return unlaunched(l.err)
		}
		r.attach(l.stream)
		if time.Since(began) <= r.o.Launch {
			return nil
		}
	case <-timer.C:
		close(abandoned)
	case <-ctx.Done():
		close(abandoned)
	}
	return faulty(adapters.LaunchFailed, "it was not started within %v", r.o.Launch)
}

// discard ends a process that nothing waits for.
func discard(s *host.Stream) {
	s.End(true)
	s.Stdin.Close()
	s.Stdout.Close()
	s.Wait()
}

// unlaunched returns the fault of a launch.
func unlaunched(err error) error {
	var known *adapters.Failure
	if errors.As(err, &known) {
		return &fault{code: known.Code, what: known.Message, cause: err}
	}
	return &fault{code: adapters.LaunchFailed, what: err.Error(), cause: err}
}

// goes runs f on a goroutine that settle waits for.
func (r *run) goes(f func()) {
	done := make(chan struct{})
	r.running = append(r.running, done)
	go func() {
		defer close(done)
		f()
	}()
}

// attach makes a launched process the one of the run.
func (r *run) attach(s *host.Stream) {
	r.stream, r.audit.Pid = s, s.Pid
	r.goes(func() { r.in.read(s.Stdout, r.trace) })
	r.goes(func() {
		r.status = s.Wait()
		close(r.ended)
	})
}

func (r *run) trace(sent bool, body []byte) {
	if r.o.Trace != nil {
		r.o.Trace(sent, body)
	}
}

// write writes a line on a separate goroutine, since the tool may not read.
func (r *run) write(text []byte) <-chan error {
	r.trace(true, text[:len(text)-1])
	written := make(chan error, 1)
	r.goes(func() {
		n, err := r.stream.Stdin.Write(text)
		r.sent.Add(int64(n))
		written <- err
	})
	return written
}

// greet makes the handshake. Nothing else is sent unless it succeeds.
func (r *run) greet(ctx context.Context) error {
	defer phase(&r.audit.Handshake)()
	until := time.Now().Add(r.o.Handshake)
	written := r.write(encode(hello{"handshake", r.o.Protocol}))
	text, err := r.await(ctx, written, awaited{"the answer to the handshake", until, r.o.Handshake})
	if err != nil {
		return err
	}
	m, refused := r.o.readHandshake(text, r.function)
	if refused != nil {
		return refused
	}
	r.manifest = m
	return nil
}

// ask sends the request and returns the response.
func (r *run) ask(ctx context.Context, c *adapters.ToolCall) (answer, error) {
	defer phase(&r.audit.Answer)()
	r.audit.Request = newID()
	input := c.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	written := r.write(encode(request{"request", r.audit.Request, c.Function, callContext{c.Root}, input}))
	text, err := r.await(ctx, written, awaited{"the response", r.until, r.o.Timeout})
	if err != nil {
		return answer{}, err
	}
	a, malformed := readResponse(text, r.audit.Request)
	if malformed != nil {
		return answer{}, malformed
	}
	return a, nil
}

// newID returns the id of a request.
func newID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return "plugin_req_" + hex.EncodeToString(random[:])
}

// awaited is a line of the tool and its deadline.
type awaited struct {
	what   string
	until  time.Time
	within time.Duration
}

// await waits for a line. The output of the tool takes precedence over a failed write to it, so the order
// of the two makes no difference.
func (r *run) await(ctx context.Context, written <-chan error, w awaited) ([]byte, error) {
	timer := time.NewTimer(time.Until(w.until))
	defer timer.Stop()
	late := time.NewTimer(time.Until(r.until))
	defer late.Stop()
	var deaf error
	var patience <-chan time.Time
	ended := r.ended
	for {
		select {
		case l := <-r.in.came:
			switch {
			case !time.Now().Before(w.until):
				return nil, r.overdue(w)
			case errors.Is(l.err, io.EOF):
				return nil, r.crash(ctx, w.what, deaf)
			case l.err != nil:
				return nil, malformed("in place of %s it wrote %v", w.what, l.err)
			}
			return l.text, nil
		case deaf = <-written:
			if written = nil; deaf != nil {
				patience = time.After(r.o.Teardown)
			}
		case <-ended: // a foreign process may keep the stream open
			ended, patience = nil, time.After(r.o.Teardown)
		case <-patience:
			return nil, r.crash(ctx, w.what, deaf)
		case <-timer.C:
			return nil, r.overdue(w)
		case <-late.C:
			return nil, r.overdue(awaited{w.what, r.until, r.o.Timeout})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// overdue returns the fault of a line that was late.
func (r *run) overdue(w awaited) error {
	what := fmt.Sprintf("timed out after %v without %s", w.within, w.what)
	if n := r.in.begun.Load(); n > 0 {
		what += fmt.Sprintf("; it wrote %d bytes without the end of that line", n)
	}
	return &fault{code: adapters.Timeout, what: what}
}

// crash returns the fault of a tool whose output ended in place of a line.
func (r *run) crash(ctx context.Context, what string, deaf error) error {
	if r.awaitEnd(ctx, r.stream.Exited, r.o.Teardown) {
		r.stream.End(true)
		r.awaitEnd(ctx, r.ended, reaping)
	}
	f := &fault{code: adapters.Crashed, cause: cmp.Or(deaf, io.EOF)}
	switch {
	case closed(r.ended):
		f.what = fmt.Sprintf("it ended before %s (%s)", what, r.status)
	case deaf != nil:
		f.what = fmt.Sprintf("it closed its standard input before %s: %v", what, deaf)
	default:
		f.what = fmt.Sprintf("it closed its standard output before %s", what)
	}
	return f
}

// awaitEnd waits for c to be closed, until the deadline of the call at most, and reports whether
// it was.
func (r *run) awaitEnd(ctx context.Context, c <-chan struct{}, atMost time.Duration) bool {
	timer := time.NewTimer(min(atMost, time.Until(r.until)))
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return closed(c)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitExit waits until the process has exited without a signal, with status 0, after its response.
func (r *run) awaitExit(ctx context.Context) error {
	defer phase(&r.audit.Exit)()
	r.stream.Stdin.Close()
	if !r.awaitEnd(ctx, r.stream.Exited, r.o.Teardown) {
		if !time.Now().Before(r.until) {
			return &fault{code: adapters.Timeout, what: fmt.Sprintf("timed out after %v: it responded, and did not exit", r.o.Timeout)}
		}
		return faulty(adapters.Crashed, "it responded, and still ran %v later", r.o.Teardown)
	}
	r.exitAt = time.Now()
	// A process that it left behind may end soon, such as the tee of a shell.
	if !wait(r.ended, r.o.Teardown) {
		r.stream.End(true)
		if !wait(r.ended, reaping) {
			return faulty(adapters.Crashed, "it responded, and left processes that cannot be ended")
		}
	}
	if r.status != cleanExit {
		return faulty(adapters.Crashed, "it responded, and then ended with %s, want exit status 0", r.status)
	}
	return nil
}

// cleanExit is the status of a process that succeeded.
const cleanExit = "exit status 0"

// wait waits for c to be closed, and reports whether it was.
func wait(c <-chan struct{}, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return closed(c)
	}
}
