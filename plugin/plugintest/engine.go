// Package plugintest reports whether a plugin keeps its contract: it drives an adapter, a tool or an
// extension through the contract one clause at a time. Each of the five contracts is a table of axes, in
// the order of its page:
//
//	adapter.go  docs/PROTOCOL.md
//	oneshot.go  docs/TOOL-PROTOCOL.md
//	module.go   docs/TOOL-PROTOCOL-WASM.md
//	ainb.go     the axes of the ainb contract v2
//	sep.go      docs/EXTENSION-PROTOCOL-SEP.md
//
// Each axis has a separate process, so that a failure does not affect other axes. The package talks to the
// plugin without the host, which tolerates too much.
package plugintest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// Level is how strict a clause is.
type Level string

// The levels. Only a Must makes the plugin fail.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// The values of Result.Status.
const (
	Pass = "pass"
	Fail = "fail"
	Skip = "skip" // the plugin does not offer it, or an earlier failure prevents it
)

// Result is the result of one axis.
type Result struct {
	Clause   string `json:"clause"` // of the contract's page
	Level    Level  `json:"level"`
	Status   string `json:"status"`
	Expected string `json:"expected"`
	Got      string `json:"got,omitempty"` // of Fail and Skip

	Place  string   `json:"place,omitempty"`  // of the expected answer
	Frames []string `json:"frames,omitempty"` // of Fail: the last messages, "> " those of bento
}

// Report holds the results of all axes, in the order of their clauses.
type Report struct {
	ID     string        `json:"id"` // from the manifest, or ""
	Path   string        `json:"path"`
	Axes   []Result      `json:"axes"`
	Passed int           `json:"passed"`
	Failed int           `json:"failed"` // of those that are a Must
	Missed int           `json:"missed"` // of those that are a Should
	Took   time.Duration `json:"-"`
}

func newReport(id, path string, results []Result, began time.Time) *Report {
	r := &Report{ID: id, Path: path, Axes: results, Took: time.Since(began)}
	for _, a := range results {
		switch {
		case a.Status == Pass:
			r.Passed++
		case a.Status == Fail && a.Level == Must:
			r.Failed++
		case a.Status == Fail:
			r.Missed++
		}
	}
	return r
}

// Setup is how the processes of a test are started and observed.
type Setup struct {
	// Env is the environment of the processes; nil means the variables that every child of bento
	// gets.
	Env    []string
	Within time.Duration // timeout of an answer; 0 means that of the contract
	Exit   time.Duration // timeout of a requested exit; 0 means that of the contract
	Stderr io.Writer     // gets the stderr of the processes; nil discards it
	// Frame receives each body that was sent to the plugin or came from it, and the bytes of a
	// malformed message, with the clause of the test; "" for the first handshake. It runs on several
	// goroutines at once. May be nil.
	Frame func(clause string, sent bool, body []byte)
}

// lab is where one plugin is tested.
type lab struct {
	Setup
	scratch string // an empty directory without links in its path; removed by close
	seen    seen   // faults that every test looks for
	frames  *frames
	// launch starts a process for the test of a clause; nil for a contract without processes.
	launch func(ctx context.Context, clause string) (*talk, error)
}

func newLab(set Setup, within, exit time.Duration) (*lab, error) {
	scratch, err := os.MkdirTemp("", "bento-plugin-test-")
	if err == nil {
		scratch, err = filepath.EvalSymlinks(scratch)
	}
	if err != nil {
		return nil, err
	}
	set.Within, set.Exit = cmp.Or(set.Within, within), cmp.Or(set.Exit, exit)
	if set.Env == nil {
		set.Env = adapters.NewEnviron(os.Environ()).Strict()
	}
	if set.Stderr == nil {
		set.Stderr = io.Discard
	}
	set.Stderr = &lockedWriter{w: set.Stderr}
	return &lab{Setup: set, scratch: scratch}, nil
}

func (l *lab) close() { os.RemoveAll(l.scratch) }

// lockedWriter serializes the writes of several processes.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// axis is a row of the table of a contract: the test of one clause.
type axis struct {
	clause   string
	level    Level
	expected string
	test     test // nil for an axis that is judged by the messages of all tests
}

// test tests one clause.
type test func(ctx context.Context, clause string) outcome

// outcome is the result of a test: its status and a description of the fault.
type outcome struct{ status, got string }

func pass() outcome { return outcome{status: Pass} }

func fail(format string, args ...any) outcome {
	return outcome{Fail, wire.Plain(fmt.Sprintf(format, args...))}
}

func skip(why string) outcome { return outcome{Skip, why} }

// when returns a pass if ok.
func when(ok bool, format string, args ...any) outcome {
	if ok {
		return pass()
	}
	return fail(format, args...)
}

// without returns a pass if err is nil.
func without(err error) outcome {
	if err != nil {
		return fail("%v", err)
	}
	return pass()
}

// of returns the test with an outcome that is known before.
func of(o outcome) test { return func(context.Context, string) outcome { return o } }

// step is a part of a test, on a process that the test has started.
type step func(ctx context.Context, t *talk) outcome

// do returns several steps as one, which ends with the first that does not pass.
func do(steps ...step) step {
	return func(ctx context.Context, t *talk) outcome {
		for _, s := range steps {
			if o := s(ctx, t); o.status != Pass {
				return o
			}
		}
		return pass()
	}
}

// started returns the test that makes steps on a process of its own.
func (l *lab) started(steps ...step) test {
	return func(ctx context.Context, clause string) outcome {
		t, err := l.launch(ctx, clause)
		if err != nil {
			return without(err)
		}
		defer t.end()
		return do(steps...)(ctx, t)
	}
}

// try tests all axes, a few at a time.
func (l *lab) try(ctx context.Context, table []axis) []Result {
	results := make([]Result, len(table))
	together(len(table), func(i int) {
		if a := table[i]; a.test != nil {
			results[i] = l.result(a, a.test(ctx, a.clause))
		}
	})
	for i, a := range table {
		if a.test == nil {
			results[i] = l.result(a, l.seen.outcome(a.clause))
		}
	}
	return results
}

// result returns the result of an axis, with the messages if it failed.
func (l *lab) result(a axis, o outcome) Result {
	return Result{
		Clause: a.clause, Level: a.level, Expected: a.expected, Status: o.status, Got: o.got,
		Frames: l.frames.about(cmp.Or(l.seen.testOf(a.clause), a.clause), o),
	}
}

// atOnce is how many tests run at a time.
const atOnce = 4

// together calls f for 0 to n-1, a few at a time.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}
