package run

import (
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// Reporter receives the events of a run, one at a time.
type Reporter interface {
	Report(Event)
}

// Event is one of the structs of this file.
type Event interface{ event() }

// Started is the first event of a run.
type Started struct {
	Plan    *plan.Plan
	Workers int
	At      time.Time // Report.Started
	// Estimate has, by plan.Task.Index, the duration of the last run of each task that will be
	// executed, 0 for hits and unknown durations.
	Estimate []time.Duration
}

// InstallStarted says that the dependencies of a scope are being installed.
type InstallStarted struct {
	Install *Install
}

// InstallLog is progress of an install.
type InstallLog struct {
	Install *Install
	Log     adapters.Log
}

// InstallFinished says how an install ended.
type InstallFinished struct {
	Install *Install
}

// TaskStarted says that the command of a task is being executed.
type TaskStarted struct {
	Task     *plan.Task
	Terminal bool // it has the terminal to itself until it ends
	Far      bool // it is executed on another machine
	// Evaluation has the key and the inputs that it starts with.
	Evaluation *key.Evaluation
}

// TaskOutput is a piece of the output of a task, reported while the task runs. Servers always have
// these events, other tasks only with Options.Output. Data is valid only during the call.
type TaskOutput struct {
	Task   *plan.Task
	Stream action.Stream
	Data   []byte
}

// TaskFinished has the result of a task, executed or not. A successful task is reported a
// second time, as failed, when another task makes the same file.
type TaskFinished struct {
	Result *Result
}

// waiting says that no event follows until a running task ends.
type waiting struct{}

// Warned has problems that did not stop anything, one or several of one kind.
type Warned struct {
	Diagnostics []diagnostics.Diagnostic
}

// Finished is the last event of a run.
type Finished struct {
	Report *Report
}

func (Started) event()         {}
func (InstallStarted) event()  {}
func (InstallLog) event()      {}
func (InstallFinished) event() {}
func (TaskStarted) event()     {}
func (TaskOutput) event()      {}
func (TaskFinished) event()    {}
func (waiting) event()         {}
func (Warned) event()          {}
func (Finished) event()        {}

// Outcome is how a task ended. Reports contain the values.
type Outcome string

// The outcomes.
const (
	CacheHit Outcome = "cache_hit"
	Built    Outcome = "built"
	Failed   Outcome = "failed"
	Skipped  Outcome = "skipped"
)

// Executed reports whether the task's command was run.
func (o Outcome) Executed() bool { return o == Built || o == Failed }

// The reasons of Result.Reason that are codes.
const (
	ReasonDependencyFailed = "dependency_failed"
	reasonFailFast         = "fail_fast"
	ReasonInstallFailed    = "install_failed"
	ReasonInterrupted      = "interrupted"
	ReasonToolMissing      = "tool_missing"
	ReasonNotConfirmed     = "not_confirmed"
	reasonMadeTwice        = "output_made_twice"
	reasonMissingOutput    = "missing_output"
	ReasonMachine          = "machine_fault"
	reasonTimeout          = "timeout"
	reasonExit             = "exit_status"
	reasonNotStarted       = "not_started"
	ReasonChanged          = "inputs_changed"
	reasonNotReady         = "not_ready"
	reasonOnly             = "not_requested"
	reasonRemote           = "remote_unavailable"
)

// Result is how one task ended.
type Result struct {
	Task     *plan.Task
	Outcome  Outcome
	Key      cache.Key // zero when it has none
	Reason   string    // a code, for Failed and Skipped
	Message  string    // the reason in words
	ExitCode int       // of Built and Failed; 128+n for signal n
	Signal   string    // "SIGKILL", when a signal ended it
	Killed   string    // "killed after 5s", or "killed", if it or a descendant had to be killed; else ""
	Attempts int       // 0 when nothing was executed
	Flaky    bool      // failed at first, then succeeded
	Stopped  bool      // a server that ran until bento ended it
	Stored   bool      // the result went into the cache
	Remote   bool      // the result of a CacheHit has come from the remote cache in this run
	Place    string    // PlaceRemote if it was executed on another machine, else ""
	Stay     Stay      // there
	Install  *Install  // the install of this run that it waited for; nil for none
	// Started is the time when its command or its restore was started; zero if nothing was done.
	Started  time.Time
	Duration time.Duration // since Started
	LogPath  string        // absolute, "" when there is no log
	Failure  *adapters.Failure
	// Diagnostics are the findings in the output of Built and Failed.
	Diagnostics []diagnostics.Diagnostic

	record   *cache.Record // of a hit
	log      *action.Log   // of the file at LogPath
	unlogged []byte        // the end of the output that could not be written to a log
}

// ReplayLog passes the output of the task to emit, piece by piece and in order: for a hit from the
// store, else from the log file.
func (r *Result) ReplayLog(s cache.Store, emit func(action.Stream, []byte)) error {
	if r.record == nil && r.Outcome == CacheHit && s != nil {
		r.record, _ = s.Lookup(r.Key) // a miss by now has no log to show
	}
	switch {
	case r.record != nil && r.record.Log != (cache.Digest{}):
		return action.ReplayLog(r.record.With(s), r.record.Log, emit)
	case r.LogPath != "":
		return r.log.Replay(emit)
	case len(r.unlogged) > 0:
		emit(action.Stdout, r.unlogged)
	}
	return nil
}
