// Package remoteexec executes commands on other machines, by a server of the Remote Execution API v2: its scheduler and its
// workers. A command gets its inputs and nothing else of the workspace.
//
// An action has the workspace as the directory bento/w of its input root, beside an empty home, an empty directory for
// temporary files, and one for outputs that servers do not take at their place.
package remoteexec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/state"
)

// Options describe a Cluster.
type Options struct {
	Open       func() (*reapi.Client, error) // is called before the first action
	Name       string                        // of the server, in messages
	Root       string                        // of the workspace, absolute
	Home       string                        // the user's: no other machine has its programs
	State      *state.Dir                    // keeps digests; nil: they are forgotten
	Properties []reapi.Variable              // that a worker must have
	Image      string                        // the name of the property for the image of an action; "": there is none
	Queue      time.Duration                 // the longest wait for a worker of a command that can be executed here, too
	// Class is a word for the machines whose results are equal; "": workers are compared with this machine.
	Class string
}

// Cluster is a server with its workers. It is safe for concurrent use.
type Cluster struct {
	o      Options
	client func() (*reapi.Client, error)
	sums   *sums
	roots  *rootTable

	mu       sync.Mutex
	present  map[remote.Digest]bool // blobs that the server has
	installs map[rootID]*installed
	likes    map[string]*likeness // by question
	faults   int                  // in a row
	lost     error                // after maxFaults
}

// maxFaults is how many commands in a row may fail to reach the server, until no more are sent to it.
const maxFaults = 2

// New returns a Cluster, which opens nothing.
func New(o Options) *Cluster {
	return &Cluster{
		o: o, client: sync.OnceValues(o.Open), sums: newSums(o.State), roots: newRoots(o.State),
		present: make(map[remote.Digest]bool), installs: make(map[rootID]*installed), likes: make(map[string]*likeness),
	}
}

// Close saves what was learned of files, and ends the connections.
func (c *Cluster) Close() {
	c.sums.save()
	c.roots.save()
	c.mu.Lock()
	used := len(c.likes) > 0
	c.mu.Unlock()
	if used {
		if client, err := c.client(); err == nil {
			client.Close()
		}
	}
}

// Job is what an Executor needs to know of one execution, besides its command.
type Job struct {
	Only  bool   // the command cannot be executed here: it waits for a worker as long as that takes
	Fresh bool   // the result is not that of an earlier execution
	Dish  string // the directory of the command's dish, relative to the workspace
	Image string // NAME@DIGEST of the image that has the command's programs; "": they are those of the worker
	// Variables returns those that the image sets, with PATH: not every server sets them.
	Variables func(context.Context) (adapters.Environ, error)
	// Adapter and Toolchain are the id of the task's adapter and the fingerprint of its toolchain; "" for none.
	Adapter, Toolchain string
	// Installed returns what the command needs of the install of its dish. It may be nil.
	Installed func() (Installed, error)
	// Placed is called in Wait, if the command was executed.
	Placed func(Stay)
}

// Stay describes an execution on a worker.
type Stay struct {
	Queued time.Duration // the wait for a worker, as far as the server says it
	Cached bool          // the server had the result already
}

// Executor executes one command on a worker.
type Executor struct {
	*Cluster
	Job
}

// Start implements action.Executor. Its errors are in Wait.
func (x *Executor) Start(ctx context.Context, c *action.Command) (action.Execution, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var res proc.Result
	var err error
	var executing sync.WaitGroup
	executing.Go(func() { res, err = x.execute(ctx, c) })
	wait := func() (proc.Result, error) {
		executing.Wait()
		if ctx.Err() != nil && !res.TimedOut {
			res, err = proc.Result{ExitCode: -1, Canceled: true}, nil
		}
		cancel(nil)
		return res, err
	}
	return action.Execution{Wait: wait, Cancel: func() { cancel(context.Canceled) }}, nil
}

// execute executes the command, and brings its outputs into the workspace.
func (x *Executor) execute(ctx context.Context, c *action.Command) (proc.Result, error) {
	failed := proc.Result{ExitCode: -1}
	if err := x.usable(x.Only); err != nil {
		return failed, err
	}
	client, err := x.client()
	if err == nil {
		err = client.Executes(ctx)
	}
	if err == nil {
		err = x.alike(ctx, client, c, &x.Job)
	}
	if err != nil {
		return failed, x.fault(ctx, err)
	}
	a, err := x.action(ctx, c)
	if err != nil {
		return failed, &action.UnavailableError{Err: err}
	}
	began := time.Now()
	end, err := x.run(ctx, client, a, c.Timeout)
	switch {
	case errors.Is(err, errTimedOut):
		return proc.Result{ExitCode: -1, TimedOut: true, Duration: time.Since(began)}, nil
	case err != nil:
		return failed, x.fault(ctx, err)
	}
	x.well()
	res, err := x.collect(ctx, client, c, end)
	res.Duration = time.Since(began)
	if err != nil {
		return failed, err
	}
	x.Placed(Stay{Queued: queued(end.Result), Cached: end.Cached})
	return res, nil
}

// queued returns how long an action waited for its worker.
func queued(r *reapi.ActionResult) time.Duration {
	if r.Queued.IsZero() || r.Started.IsZero() {
		return 0
	}
	return max(0, r.Started.Sub(r.Queued))
}

// usable returns an error once the server was given up.
func (c *Cluster) usable(only bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil && !only {
		return &action.UnavailableError{Err: c.lost}
	}
	return nil
}

// fault returns an error of the server as one of an executor. The next commands are not sent to a server that cannot be
// reached.
func (c *Cluster) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := (*askError)(nil)
	switch {
	case errors.As(err, &asked) && errors.Is(err, errQueued): // there is no worker at all
		c.lost = err
	case isAnswer(err), errors.Is(err, errQueued):
	default:
		if c.faults++; c.faults >= maxFaults {
			c.lost = err
		}
	}
	return &action.UnavailableError{Err: err}
}

// well notes that the server works.
func (c *Cluster) well() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults, c.lost = 0, nil
}

var (
	errQueued   = errors.New("no worker has begun it in time")
	errTimedOut = errors.New("timed out")
)

// overtime is how much longer than its timeout a command may take until it is canceled from here: uploads of the worker count,
// and it has its own clock.
const overtime = 30 * time.Second

// run executes an action. If the server cannot, it gets what it lacks and tries once more.
func (x *Executor) run(ctx context.Context, client *reapi.Client, a *wired, timeout time.Duration) (*reapi.Executed, error) {
	for again := false; ; again = true {
		if err := x.upload(ctx, client, a, again); err != nil {
			return nil, err
		}
		end, err := x.await(ctx, client, a, timeout, again)
		switch {
		case err != nil:
			if again || !retries(err) || ctx.Err() != nil {
				return nil, err
			}
			continue
		case end.Code == reapi.OK && end.Cached && end.Result.ExitCode != 0 && !again:
			continue // no server should keep the result of a failed command
		case end.Code == reapi.OK:
			return end, nil
		case end.Code == reapi.DeadlineExceeded && timeout > 0:
			return nil, errTimedOut
		case again:
			return nil, fmt.Errorf("%s: %v (%s)", x.o.Name, end.Code, end.Text)
		}
	}
}

// retries reports whether an action is worth a second try after an error.
func retries(err error) bool {
	f, failed := errors.AsType[*reapi.Failure](err)
	return failed && (f.Code == reapi.NotFound || f.Code == reapi.FailedPrecondition || f.Code == reapi.Unavailable || f.Code == reapi.Internal)
}

// await executes an action whose blobs the server has.
func (x *Executor) await(ctx context.Context, client *reapi.Client, a *wired, timeout time.Duration, again bool) (*reapi.Executed, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := &limits{cancel: cancel, timeout: timeout}
	if !x.Only {
		limit.queue = x.o.Queue
	}
	defer limit.stop()
	limit.reach(reapi.StageUnknown)
	end, err := client.Execute(ctx, a.digest, x.Fresh || again, limit.reach)
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errQueued) || errors.Is(cause, errTimedOut)) {
		return nil, cause
	}
	if err == nil && timeout > 0 && end.Code == reapi.OK && end.Result.ExitCode == 137 && max(limit.ran(), end.Result.Ended.Sub(end.Result.Began)) >= timeout {
		return nil, errTimedOut // as servers say it that have no status for it
	}
	return end, err
}

// limits end an execution that waits or runs too long.
type limits struct {
	cancel         context.CancelCauseFunc
	queue, timeout time.Duration

	mu       sync.Mutex
	stage    reapi.Stage
	timer    *time.Timer
	began    time.Time // of the stage, or of what may be it
	stopped  bool
	anything bool
}

// reach notes the stage of an execution. A server that names none may be executing it.
func (l *limits) reach(s reapi.Stage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || s == reapi.Completed || l.anything && s == l.stage || s == reapi.CheckingCache || s == reapi.StageUnknown && l.anything {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.stage, l.began, l.anything = s, time.Now(), true
	switch {
	case s == reapi.Queued && l.queue > 0:
		l.timer = time.AfterFunc(l.queue, func() { l.cancel(errQueued) })
	case s != reapi.Queued && l.timeout > 0:
		l.timer = time.AfterFunc(l.timeout+overtime, func() { l.cancel(errTimedOut) })
	}
}

func (l *limits) ran() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.began)
}

func (l *limits) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// String returns the server for messages.
func (c *Cluster) String() string { return strings.TrimSuffix(c.o.Name, "/") }
