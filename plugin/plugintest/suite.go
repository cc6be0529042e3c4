// Package plugintest reports whether an executable is a bento adapter, or a one-shot tool: it
// drives it through the contract one clause at a time. The numbers are those of
// docs/PROTOCOL.md and docs/TOOL-PROTOCOL.md.
//
// Each axis has a separate process, so that a failure does not affect other axes. The package talks to the
// plugin without the host, which tolerates too much.
package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wasm"
)

// Options are the options of Run.
type Options struct {
	// ID is the id that the manifest must have; "" means the id in the file name. If that is not
	// bento-adapter-<id>, any id is accepted.
	ID string
	// Env is the environment of the plugin; nil means the variables that every child of
	// bento gets.
	Env []string
	// Within is the timeout of an answer, of install too; 0 means 30 s, as in the contract.
	Within time.Duration
	// Exit is the timeout of a requested exit; 0 means 2 s.
	Exit   time.Duration
	Stderr io.Writer // gets the plugin's stderr; nil discards it
	// Frame receives each body that was sent to the plugin or came from it, and the bytes of a
	// malformed message, with the clause of the test; "" for the first handshake. It runs on several
	// goroutines at once. May be nil.
	Frame func(clause string, sent bool, body []byte)
	// Launcher launches the plugin in place of the executable; may be nil.
	Launcher host.Launcher
}

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
	Clause   string `json:"clause"` // of docs/PROTOCOL.md, or with a letter of docs/TOOL-PROTOCOL.md
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

// atOnce is how many processes of the plugin run at a time.
const atOnce = 4

// Run tests the executable at path on all axes. The error is that of ctx, or reports that no temporary
// directory could be made. The faults of a plugin are in the Report.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	s, err := newSuite(path, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.scratch)
	list := axes()
	results := make([]Result, len(list))
	if err := s.open(); err != nil {
		return nil, err
	}
	defer s.close()
	s.greet(ctx)
	together(len(list), func(i int) {
		if list[i].run != nil {
			results[i] = s.result(list[i], s.try(ctx, list[i]))
		}
	})
	for i, a := range list { // judged by the messages of all axes
		if a.run == nil {
			results[i] = s.result(a, s.seen.outcome(a.clause))
		}
	}
	return s.report(results, time.Since(began)), ctx.Err()
}

// together calls test for 0 to n-1, a few at a time.
func together(n int, test func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			test(i)
		})
	}
	all.Wait()
}

// suite is one run of all axes.
type suite struct {
	path, id string
	scratch  string     // removed at the end
	module   *wasm.Tool // nil for an executable
	empty    string     // an empty directory whose name is not ASCII
	project  string     // a directory with files of a project; "" if the handshake failed
	o        Options
	seen     *seen
	kept     *frames
	close    func()

	// Results of the first handshake.
	text     json.RawMessage
	manifest *adapters.Manifest
	dropped  []string
	refused  error
}

func newSuite(path string, o Options) (*suite, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "bento-plugin-test-")
	if err != nil {
		return nil, err
	}
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return nil, err
	}
	o.Within = cmp.Or(o.Within, 30*time.Second)
	o.Exit = cmp.Or(o.Exit, 2*time.Second)
	if o.Env == nil {
		o.Env = adapters.NewEnviron(os.Environ()).Strict()
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	o.Stderr = &lockedWriter{w: o.Stderr}
	kept := &frames{}
	if seen := o.Frame; seen == nil {
		o.Frame = kept.add
	} else {
		o.Frame = func(clause string, sent bool, body []byte) {
			kept.add(clause, sent, body)
			seen(clause, sent, body)
		}
	}
	s := &suite{path: path, id: cmp.Or(o.ID, idOf(path)), scratch: scratch, empty: filepath.Join(scratch, "plättchen"), o: o, seen: &seen{}, kept: kept, close: func() {}}
	return s, os.Mkdir(s.empty, 0o755)
}

// idOf returns the id in the name of a file, or "".
func idOf(path string) string {
	id, ok := strings.CutPrefix(filepath.Base(path), "bento-adapter-")
	if !ok {
		return ""
	}
	id, _, _ = strings.Cut(id, ".") // .py, .exe
	return id
}

// open compiles a module.
func (s *suite) open() (err error) {
	if filepath.Ext(s.path) == ".wasm" && s.o.Launcher == nil {
		engine := wasm.NewEngine(wasm.EngineOptions{})
		s.close = engine.Close
		s.module, err = engine.OpenAdapter(wasm.Options{ID: cmp.Or(s.id, "adapter"), Path: s.path})
		if err != nil {
			engine.Close()
		}
	}
	return err
}

// result returns the result of an axis, with the messages if it failed.
func (s *suite) result(a axis, o outcome) Result {
	r := a.result(o)
	r.Frames = s.frames(cmp.Or(s.seen.testOf(a.clause), a.clause), o)
	return r
}

// launcher returns the launcher of the executable, or of the module if its name ends in .wasm.
func (s *suite) launcher() host.Launcher {
	if s.o.Launcher != nil {
		return s.o.Launcher
	}
	if s.module != nil {
		return &wasm.Launcher{Tool: s.module, Root: s.scratch}
	}
	return &host.Command{Argv: []string{s.path}, Dir: s.scratch, Env: s.o.Env}
}

func (s *suite) report(results []Result, took time.Duration) *Report {
	r := &Report{Path: s.path, Axes: results, Took: took}
	if s.manifest != nil {
		r.ID = s.manifest.AdapterID
	}
	r.count()
	return r
}

// count counts the results.
func (r *Report) count() {
	for _, a := range r.Axes {
		switch {
		case a.Status == Pass:
			r.Passed++
		case a.Status == Fail && a.Level == Must:
			r.Failed++
		case a.Status == Fail:
			r.Missed++
		}
	}
}

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
