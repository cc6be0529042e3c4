// Package plugintest tells whether an executable is a bento adapter: it drives it
// through the bento adapter protocol v1 one clause at a time. The numbers are those
// of docs/PROTOCOL.md.
//
// Each axis has a process of its own, so that what one breaks costs no other. The
// plugin is spoken to by hand, without the host, which forgives too much.
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
)

// Options are the options of Run.
type Options struct {
	// ID is what the manifest has to announce; "" means what the file name says,
	// any id when that is not bento-adapter-<id>.
	ID string
	// Env is the environment of the plugin; nil means the strict base of bento's own.
	Env []string
	// Within is the time for an answer, of install too; 0 means 30 s, as in the contract.
	Within time.Duration
	// Exit is the time for an exit that was asked for; 0 means 2 s.
	Exit   time.Duration
	Stderr io.Writer // gets what the plugin writes there; nil: nobody
}

// Level says how much a clause is meant.
type Level string

// The levels. What a plugin must not get wrong is a Must.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// The values of Result.Status.
const (
	Pass = "pass"
	Fail = "fail"
	Skip = "skip" // the plugin does not offer it, or an earlier failure leaves nothing to ask
)

// Result is what came of one axis.
type Result struct {
	Clause   string `json:"clause"` // of docs/PROTOCOL.md
	Level    Level  `json:"level"`
	Status   string `json:"status"`
	Expected string `json:"expected"`
	Got      string `json:"got,omitempty"` // of Fail and Skip
}

// Report is what came of all axes, in the order of their clauses.
type Report struct {
	ID     string        `json:"id"` // that was announced, "" for none
	Path   string        `json:"path"`
	Axes   []Result      `json:"axes"`
	Passed int           `json:"passed"`
	Failed int           `json:"failed"` // of those that are a Must
	Missed int           `json:"missed"` // of those that are a Should
	Took   time.Duration `json:"-"`
}

// atOnce is how many processes of the plugin run at a time.
const atOnce = 4

// Run drives the executable at path through all axes. The error is that of ctx, or
// says that there is no place to work in; a plugin that fails is a Report.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	s, err := newSuite(path, o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.scratch)
	list := axes()
	results := make([]Result, len(list))
	s.greet(ctx)
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, a := range list {
		if a.run == nil {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = a.result(s.try(ctx, a))
		})
	}
	all.Wait()
	for i, a := range list { // what was seen meanwhile
		if a.run == nil {
			results[i] = a.result(s.seen.outcome(a.clause))
		}
	}
	return s.report(results, time.Since(began)), ctx.Err()
}

// suite is one run of all axes.
type suite struct {
	path, id string
	scratch  string // removed at the end
	empty    string // a directory with nothing in it, whose name takes some UTF-8
	o        Options
	seen     *seen

	// What the first handshake gave.
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
	s := &suite{path: path, id: cmp.Or(o.ID, idOf(path)), scratch: scratch, empty: filepath.Join(scratch, "plättchen"), o: o, seen: &seen{}}
	return s, os.Mkdir(s.empty, 0o755)
}

// idOf gives what the name of a file says, "" when it says nothing.
func idOf(path string) string {
	id, ok := strings.CutPrefix(filepath.Base(path), "bento-adapter-")
	if !ok {
		return ""
	}
	id, _, _ = strings.Cut(id, ".") // .py, .exe
	return id
}

func (s *suite) command() *host.Command {
	return &host.Command{Argv: []string{s.path}, Dir: s.scratch, Env: s.o.Env}
}

func (s *suite) report(results []Result, took time.Duration) *Report {
	r := &Report{Path: s.path, Axes: results, Took: took}
	if s.manifest != nil {
		r.ID = s.manifest.AdapterID
	}
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

// lockedWriter keeps what several processes write at once in one piece each.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
