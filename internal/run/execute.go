package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// execution is the execution of one task. It runs in parallel with the engine, and uses only those
// parts of it that are safe for concurrent use.
type execution struct {
	env  *Env
	opts Options
	ev   *key.Evaluation
	kept *record.Execution

	observe      bool // see engine.observes
	unobservable bool // the command fails when it is observed

	sandboxed   bool
	image       string        // what identifies the image of its container; "" without one
	reach       *record.Reach // what a command in a sandbox or a container may use; nil for other commands
	reachErr    error
	far         bool                     // it is executed elsewhere
	refused     string                   // why it is executed neither there nor here, "" if it is
	unavailable *action.UnavailableError // why it was not executed there, nil if it was

	denied      []action.UsedFile // by the sandbox
	deniedWhole bool              // denied has all of them

	sources []tree.Entry // of the dish, when the execution began

	restorer *outputs.Restorer
	outDir   func() (path string, discard func(again bool), err error) // for the outputs of a tool

	stamp   string // see engine.stampOf
	isReady func() // releases the dependents of a persistent task
	ended   func() // frees the workers of a task whose process has ended
	log     *action.Log
	result  *Result
}

// execute runs a task that is a miss. unsure is the reason why its result is unreliable, such as a
// missing install, "" for none.
func (e *engine) execute(ctx context.Context, ev *key.Evaluation, unsure string) {
	t := ev.Task
	if e.overtaken(ctx, e.node(t)) {
		return
	}
	e.env.warnAll(unmatched(e.plan, e.tree, t))
	e.ageCompiled(ev)
	unsure = cmp.Or(unsure, ev.InTheWay, ev.Aged, e.unsureDependency(t))
	x := e.newExecution(ev, unsure)
	e.setFar(x)
	e.enterSandbox(x)
	running, cancel := context.WithCancel(ctx)
	n := e.node(t)
	n.to(executing)
	n.cancel = cancel
	x.isReady = func() {
		e.progress <- func() {
			if n.phase == executing { // else it served before its last attempt
				n.to(serving)
				e.queue.Free(t)
				e.releaseDependents(n)
			}
		}
	}
	x.ended = func() { e.progress <- func() { e.queue.Ended(t) } }
	e.job(func() func() {
		e.env.executing()
		x.run(running)
		cancel()
		if ctx.Err() == nil && x.result.Reason == ReasonInterrupted && x.result.Signal != "SIGINT" {
			x.result.Reason, x.result.Message = ReasonChanged, "ended because its inputs have changed"
		}
		return func() {
			n.cancel = nil
			if e.serversUnneeded && t.Persistent && !t.Requested && x.result.Reason == ReasonChanged {
				x.result.Outcome, x.result.Reason, x.result.Message = Built, "", "ended: nothing needs it any more"
			}
			if !e.overtake(ctx, x) && !e.comeBack(ctx, x) {
				e.executed(ctx, x)
			}
		}
	})
}

// newExecution returns the execution of the task of ev. unsure is the reason why its result is unreliable, "" for none.
func (e *engine) newExecution(ev *key.Evaluation, unsure string) *execution {
	t := ev.Task
	last := e.keys.History().Of(t)
	return &execution{
		env: e.env, opts: e.opts, ev: ev, restorer: e.restorer, outDir: e.outDir, sources: e.files.Sources(t), result: &Result{Task: t, Key: ev.Key},
		stamp: e.stampOf(ev), observe: e.observes(ev), unobservable: isUnobservable(ev, last),
		kept: &record.Execution{
			Recorder: e.recorder, Ev: ev, Last: last, Others: e.others(t), Before: e.before(t), Unsure: unsure,
			Upstream: e.upstream(t), Linked: e.files.Linked(t), LeftByOthers: e.files.LeftByOthers(t), Later: usesOut(t), Files: e.files,
		},
	}
}

// run executes the command, with the retries that the task allows, and collects its outputs.
func (x *execution) run(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if ctx.Err() != nil {
		r.Outcome, r.Reason = Skipped, ReasonInterrupted
		return
	}
	err := x.kept.Prepare()
	defer x.kept.Ended()
	if err != nil {
		x.unreadable(err)
		return
	}
	x.env.report(TaskStarted{Task: t, Terminal: x.onTerminal(), Evaluation: x.ev, Far: x.far})
	r.Started = time.Now()
	x.log = x.openLog()
	defer x.log.Close()
	var ahead sync.WaitGroup
	defer ahead.Wait()
	if disk := cache.DiskOf(x.env.Store); disk != nil && x.ev.Known && t.Uncached == "" {
		ahead.Go(func() { disk.Ahead(x.ev.Key) }) // beside the command
	}
	for again := true; again && r.Attempts <= t.Retry && r.Outcome != Built && ctx.Err() == nil; {
		if r.Attempts++; r.Attempts > 1 {
			if err = x.kept.Again(); err != nil {
				x.unreadable(err)
				break
			}
		}
		again = x.attempt(ctx)
	}
	x.observeDenied(ctx)
	r.LogPath, r.log, r.unlogged = x.log.Path(), x.log, x.log.Rest()
	r.Flaky = r.Outcome == Built && r.Attempts > 1
	r.Duration = time.Since(r.Started)
	if r.Outcome == Built {
		x.ended()
		x.collect()
		x.env.pruneToBounds(ctx)
	}
	x.diagnose(ctx)
}

// maxServerLog is the largest size of the log of a server in bytes: it may print for days.
const maxServerLog = 16 << 20

func (x *execution) openLog() *action.Log {
	t, env := x.ev.Task, x.env // the log outlives the execution
	o := action.LogOptions{
		Failed: func(err error) {
			env.warn("log_unwritable", "the log of "+t.ID()+" cannot be written: "+err.Error(), "")
		},
	}
	if t.Persistent {
		o.Most = maxServerLog
	}
	if x.opts.Output || t.Persistent {
		o.Forward = func(s action.Stream, p []byte) { env.report(TaskOutput{Task: t, Stream: s, Data: p}) }
	}
	return action.CreateLog(x.env.State, action.LogName(t.Dish.Name, t.Name, t.Place()), o)
}

// attempt runs the command once. again reports whether a failure is of the kind that allows another
// attempt.
func (x *execution) attempt(ctx context.Context) (again bool) {
	t := x.ev.Task
	out, errs := action.NewLines(t.RetryOn), action.NewLines(t.RetryOn)
	c, err := x.command(t)
	var res proc.Result
	if err == nil && x.refused != "" {
		err = &action.UnavailableError{Err: errors.New(x.refused)}
	}
	if err = cmp.Or(err, x.reachErr); err == nil {
		c.Stdout, c.Stderr = out.Noting(x.log.Writer(action.Stdout)), errs.Noting(x.log.Writer(action.Stderr))
		x.giveStdio(c)
		if t.Persistent && c.Ready == nil {
			x.isReady()
		}
		res, err = action.Run(ctx, x.executor(t), c, x.isReady)
	}
	if x.stays(err) {
		return false
	}
	x.conclude(ctx, res, err)
	switch r := x.result; {
	case t.Tool == nil:
	case r.Outcome == Failed:
		fmt.Fprintf(errs.Noting(io.Discard), "\n%s\n", r.Message) // a tool returns its error, but does not print it
	case r.Outcome == Built && t.Tool.Changed() && x.kept.Unsure == "":
		x.kept.Unsure, x.kept.Hint = "the tool "+t.Tool.ID+" was changed while the task ran", "run it again, once nothing changes the tool"
	}
	if used := x.kept.Used; x.result.Outcome == Failed && used != nil && used.LacksRights {
		x.observe, x.unobservable, x.kept.Used = false, true, nil
		return x.attempt(ctx)
	}
	return t.RetryOn == "" || out.Matched() || errs.Matched()
}

// command returns the command of t: the task, or its changed form that prints its findings.
func (x *execution) command(t *plan.Task) (*action.Command, error) {
	c, err := x.env.commands().Command(t)
	if err != nil {
		return nil, err
	}
	c.Env, c.Grace = stamped(t, c.Env, x.stamp), cmp.Or(c.Grace, x.opts.Grace)
	c.Inputs, c.Outputs = x.kept.Inputs, x.kept.Declared()
	c.Used = x.used
	if x.observe {
		c.Overlook = x.kept.Overlook()
	}
	return c, nil
}

// executor returns the Executor of t, as command returns its command.
func (x *execution) executor(t *plan.Task) action.Executor {
	switch {
	case t.Tool != nil:
		return x.toolExecutor()
	case x.far:
		return x.distant(t)
	case x.env.Executor != nil:
		return x.env.Executor
	case t.Container != nil:
		return x.env.Containers.Executor(Contained{Task: t, Image: x.image, Reach: x.reach, Inputs: x.sandboxed})
	case x.reach != nil:
		return x.env.Sandbox.Confine(Confined{Reach: x.reach, Network: t.Network, Observe: x.observe})
	case x.observe:
		return x.env.Observer
	}
	return action.Local{}
}

// conclude sets the result from the end of an attempt. err is the error of its executor.
func (x *execution) conclude(ctx context.Context, res proc.Result, err error) {
	t, r := x.ev.Task, x.result
	r.ExitCode, r.Signal, r.Killed, r.Failure = res.ExitCode, res.Signal, x.killed(ctx, res), nil
	var late *action.NotReadyError
	switch {
	case errors.As(err, &late):
		x.fail(reasonNotReady, late.Error())
		r.Signal, r.Killed = "", ""
	case res.Canceled, x.onTerminal() && res.Signal == "SIGINT":
		r.Outcome, r.Reason, r.Message = Skipped, ReasonInterrupted, "ended by the interrupt"
		r.Stopped = t.Persistent
	case res.TimedOut:
		x.fail(reasonTimeout, fmt.Sprintf("timed out after %v", time.Duration(t.Timeout)))
	case err != nil:
		x.unexecuted(err)
	case res.ExitCode != 0:
		x.fail(reasonExit, exitMessage(res))
		if name := x.log.NotFound(); res.ExitCode == 127 && name != "" {
			r.Message = "command not found: " + name
		}
		if r.Place != "" {
			r.Message += ", on a worker, which has nothing but its inputs"
		}
	default:
		r.Outcome, r.Reason, r.Message = Built, "", ""
	}
	if r.Killed != "" {
		r.Message += ", " + r.Killed
	}
}

// unexecuted fails the result with the error of an executor.
func (x *execution) unexecuted(err error) {
	r := x.result
	var tool *adapters.ToolError
	var output *action.OutputError
	switch r.ExitCode = -1; {
	case errors.As(err, &tool):
		x.fail("tool_error", tool.Error())
		r.ExitCode = 1
	case errors.As(err, &r.Failure):
		x.fail(string(r.Failure.Code), r.Failure.Error())
	case errors.As(err, new(*action.UnavailableError)):
		x.fail(reasonRemote, "it was not executed: "+err.Error())
		return
	case errors.As(err, new(*action.StrayError)):
		x.fail("sandbox_denied", err.Error())
		r.ExitCode, x.deniedWhole = 1, true
		return
	case errors.As(err, &output):
		x.uncollected(output.Err)
	case machine(err):
		x.fail(ReasonMachine, err.Error())
	default:
		x.fail("launch_failed", err.Error())
	}
	if x.ev.Task.Tool == nil {
		r.ExitCode = 127
	}
}

// machine reports whether an execution could not be started because the machine lacks file descriptors,
// processes, memory or a directory.
func machine(err error) bool {
	for _, lack := range [...]error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, errNoDirectory} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// killed returns the words for a process that had to be killed, "" for any other.
func (x *execution) killed(ctx context.Context, res proc.Result) string {
	switch {
	case !res.Killed:
		return ""
	case proc.IsHurried(ctx):
		return "killed"
	}
	return fmt.Sprintf("killed after %v", cmp.Or(time.Duration(x.ev.Task.Grace), x.opts.Grace, proc.DefaultGrace))
}

func exitMessage(res proc.Result) string {
	if res.Signal != "" {
		return "ended by " + res.Signal
	}
	return fmt.Sprintf("exit status %d", res.ExitCode)
}

// collect collects the outputs of the command, and fails the result if that is impossible.
func (x *execution) collect() {
	if err := x.kept.Collect(x.log, x.result.Duration); err != nil {
		x.uncollected(err)
	}
}

// uncollected fails the result because of its outputs.
func (x *execution) uncollected(err error) {
	switch {
	case errors.As(err, new(*record.MissingError)):
		x.fail(reasonMissingOutput, err.Error())
	case errors.As(err, new(*cache.RefusedError)):
		x.fail("output_refused", err.Error())
	default:
		x.unreadable(err)
	}
}

// unreadable handles an error of reading outputs, which may be caused by an interrupt.
func (x *execution) unreadable(err error) {
	if errors.Is(err, context.Canceled) {
		x.result.Outcome, x.result.Reason, x.result.Message = Skipped, ReasonInterrupted, "ended by the interrupt"
		return
	}
	reason, message := "output_unreadable", err.Error()
	switch {
	case errors.As(err, new(*record.StuckError)):
		reason = "output_stuck"
	case diagnostics.IsMachineFault(err):
		reason = ReasonMachine
	case errors.Is(err, fs.ErrPermission):
		message += "; let the task leave what it makes readable (chmod -R u+rX)"
	}
	x.fail(reason, message)
}

func (x *execution) fail(reason, message string) {
	x.result.Outcome, x.result.Reason, x.result.Message = Failed, reason, message
}

// Stdio are the files that interactive tasks read and write.
type Stdio struct {
	In, Out, Err *os.File
	// Terminal reports whether In is a terminal. If so, interactive tasks also write to Out and Err,
	// and their output is not kept. Else they print like other tasks.
	Terminal bool
}

// onTerminal reports whether the task has the terminal to itself.
func (x *execution) onTerminal() bool {
	return x.ev.Task.Interactive && x.opts.Stdio != nil && x.opts.Stdio.Terminal
}

// giveStdio connects an interactive task to the terminal or to stdin.
func (x *execution) giveStdio(c *action.Command) {
	if !x.ev.Task.Interactive || x.opts.Stdio == nil {
		return
	}
	c.Stdin = x.opts.Stdio.In
	if x.onTerminal() {
		c.Stdout, c.Stderr, c.Terminal = x.opts.Stdio.Out, x.opts.Stdio.Err, x.opts.Stdio.In
	}
}
