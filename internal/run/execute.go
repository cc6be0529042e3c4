package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/run/command"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/tasklog"
	"github.com/bentobuild/bento/internal/tree"
)

// execution is one task being executed. It runs beside the engine and touches
// nothing of it but what is safe for concurrent use.
type execution struct {
	env    *Env
	opts   Options
	tree   *tree.Tree
	ev     *evaluate.Result
	last   *lastrun.Run
	linked [][]tree.Entry  // sources of the dishes that the task is linked to
	others map[string]bool // what other tasks of the dish have made

	isReady func() // lets what waits for a persistent task begin

	set    *tree.Set             // the outputs
	before map[string]tree.Entry // what lay there before

	result  *Result
	outputs []cache.Output
	found   []string      // what lay there and was left as it was
	record  *cache.Record // of the result, nil when it is not to be stored
	changed string        // the input that changed meanwhile
	unsure  string        // why the result is not to be stored
}

// execute runs a task that is a miss. Its dependencies are installed, unless unsure
// says why its result is not to be trusted.
func (e *engine) execute(ctx context.Context, ev *evaluate.Result, unsure string) {
	t := ev.Task
	x := &execution{
		env: e.env, opts: e.opts, tree: e.tree, ev: ev, last: e.Memory().Of(t),
		result: &Result{Task: t, Key: ev.Key}, linked: append(e.LinkedSources(t), ev.Lock), others: e.MadeByOthers(t), unsure: unsure,
	}
	running, cancel := context.WithCancel(ctx)
	e.cancel[t.ID()] = cancel
	x.isReady = func() {
		e.said <- func() {
			e.queue.Free(t)
			e.let(t)
		}
	}
	e.job(func() func() {
		e.env.executing()
		x.run(running)
		cancel()
		if ctx.Err() == nil && x.result.Reason == ReasonInterrupted {
			x.result.Reason, x.result.Message = ReasonChanged, "ended because what it works on has changed"
		}
		return func() {
			delete(e.cancel, t.ID())
			if e.needless && t.Persistent && !t.Requested && x.result.Reason == ReasonChanged {
				x.result.Outcome, x.result.Reason, x.result.Message = Built, "", "ended: nothing needs it any more"
			}
			e.executed(ctx, x)
		}
	})
}

// fileName gives a name for files about a task that no other task has.
func fileName(t *plan.Task) string {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, s)
	}
	sum := cache.ShortSum(lastrun.ID(t))
	return fmt.Sprintf("%.60s.%.60s.%s", clean(t.Dish.Name), clean(t.Name), sum)
}

// run executes the command, as often as the task allows, and looks at what it made.
func (x *execution) run(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if ctx.Err() != nil {
		r.Outcome, r.Reason = Skipped, ReasonInterrupted
		return
	}
	if err := x.lookBefore(); err != nil {
		x.fail("output_unreadable", err.Error())
		return
	}
	x.env.report(TaskStarted{Task: t})
	r.Started = time.Now()
	log, err := x.openLog()
	if err != nil {
		x.env.warn("log_unwritable", "the log of "+t.ID()+" cannot be written: "+err.Error(), "")
	}
	defer log.Close()
	r.LogPath = log.Path()
	for r.Attempts <= t.Retry && r.Outcome != Built && ctx.Err() == nil {
		r.Attempts++
		x.attempt(ctx, log)
	}
	r.segments = log.Segments()
	r.Flaky = r.Outcome == Built && r.Attempts > 1
	r.Duration = time.Since(r.Started)
	if r.Outcome == Built {
		x.collect(log)
	}
	x.diagnose(ctx)
}

func (x *execution) openLog() (*tasklog.Log, error) {
	var forward func(tasklog.Stream, []byte)
	if t := x.ev.Task; x.opts.Output {
		forward = func(s tasklog.Stream, p []byte) { x.env.report(TaskOutput{Task: t, Stream: s, Data: p}) }
	}
	dir, err := x.env.State.Make("logs")
	if err != nil {
		return tasklog.Discard(forward), err
	}
	return tasklog.Create(filepath.Join(dir, fileName(x.ev.Task)+".log"), forward)
}

func (x *execution) attempt(ctx context.Context, log *tasklog.Log) {
	t, r := x.ev.Task, x.result
	spec, err := x.env.commands().Spec(t)
	var res proc.Result
	if err == nil {
		spec.Stdout, spec.Stderr = log.Writer(tasklog.Stdout), log.Writer(tasklog.Stderr)
		spec.Grace = x.opts.Grace
		var late error
		if res, late, err = x.supervise(ctx, spec); err != nil {
			err = command.LaunchError(spec, err)
		}
		if late != nil && ctx.Err() == nil {
			r.Outcome, r.Reason, r.Message, r.ExitCode = Failed, ReasonNotReady, late.Error(), res.ExitCode
			return
		}
	}
	r.ExitCode, r.Signal = res.ExitCode, res.Signal
	switch {
	case err != nil:
		r.Outcome, r.Reason, r.Message, r.ExitCode = Failed, "launch_failed", err.Error(), 127
	case res.Canceled:
		r.Outcome, r.Reason, r.Message = Skipped, ReasonInterrupted, "ended by the interrupt"
	case res.TimedOut:
		r.Outcome, r.Reason = Failed, ReasonTimeout
		r.Message = fmt.Sprintf("not done after %v", time.Duration(t.Timeout))
	case res.ExitCode != 0:
		r.Outcome, r.Reason = Failed, "exit_status"
		r.Message = exitMessage(res)
	default:
		r.Outcome, r.Reason, r.Message = Built, "", ""
	}
}

func exitMessage(res proc.Result) string {
	if res.Signal != "" {
		return "ended by " + res.Signal
	}
	return fmt.Sprintf("exit status %d", res.ExitCode)
}

// collect checks what the command made and stores it.
func (x *execution) collect(log *tasklog.Log) {
	t := x.ev.Task
	paths, found, missing, err := x.lookAfter()
	if err != nil {
		x.fail("output_unreadable", err.Error())
		return
	}
	if missing != "" {
		x.fail(ReasonMissingOutput, fmt.Sprintf("it did not make its output %q", missing))
		return
	}
	x.found = found
	x.changed = x.inputChanged()
	if x.changed != "" {
		x.env.warn("input_changed", fmt.Sprintf("%s: %q changed while the task ran; its result is used but not stored", t.ID(), x.changed), "")
	}
	if x.unsure != "" {
		x.env.warn("not_stored", t.ID()+": "+x.unsure+"; its result is used but not stored", "run without --skip-install")
	}
	if err := x.capture(x.storeFor(), log, paths); err != nil {
		x.fail("output_refused", err.Error())
	}
}

// storeFor gives where the result is to be stored, nil for nowhere.
func (x *execution) storeFor() cache.Store {
	if _, none := x.env.Store.(cache.Nothing); none || x.ev.Task.Uncached != "" || x.changed != "" || x.unsure != "" || !x.ev.Known {
		return nil
	}
	return x.env.Store
}

// capture notes what the task made, and stores it. A store that fails does not
// fail the task; what cannot be an output does.
func (x *execution) capture(store cache.Store, log *tasklog.Log, paths []string) (err error) {
	x.outputs, err = outputs.Capture(store, x.env.Root, paths)
	if err == nil && store != nil {
		err = x.describe(log)
	}
	if err == nil && x.record != nil && slices.Equal(x.found, x.last.Found) {
		err = x.store(x.ev)
	}
	var refused *cache.RefusedError
	if err == nil || errors.As(err, &refused) || store == nil {
		return err
	}
	x.warnStore(err)
	x.outputs, err = outputs.Capture(nil, x.env.Root, paths)
	return err
}

func (x *execution) warnStore(err error) {
	x.env.warn("cache_unwritable", "results cannot be stored: "+err.Error(), "free space, or set cache.dir in bento.toml; the build goes on")
}

func (x *execution) fail(reason, message string) {
	x.result.Outcome, x.result.Reason, x.result.Message = Failed, reason, message
}

// describe makes the record of the result and stores its log.
func (x *execution) describe(log *tasklog.Log) (err error) {
	record := &cache.Record{
		Outputs: x.outputs, Created: time.Now(), Duration: x.result.Duration, Host: hostName(),
	}
	if record.Log, record.LogSize, err = log.Store(x.env.Store); err == nil {
		x.record = record
	}
	return err
}

// store writes the record under the key of ev.
func (x *execution) store(ev *evaluate.Result) (err error) {
	if x.record.Ingredients, x.record.Refs, err = x.storeIngredients(ev); err != nil {
		return err
	}
	if err := x.env.Store.Record(ev.Key, x.record); err != nil {
		return err
	}
	x.result.Stored, x.result.Key = true, ev.Key
	return nil
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
