package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// AinbOptions are the options of RunAinb.
type AinbOptions struct {
	// Env is the environment of the extension; nil means the variables that every child of bento
	// gets.
	Env    []string
	Config json.RawMessage // its settings; nil means null

	Within time.Duration // timeout of an answer, also of the handshake; 0 means 5 s
	Exit   time.Duration // timeout of a requested exit; 0 means 5 s
	Stderr io.Writer     // gets the extension's stderr; nil discards it
	// Frame receives each body that was sent to the extension or came from it, with the axis of the
	// test. It runs on several goroutines at once. May be nil.
	Frame func(axis string, sent bool, body []byte)
}

// RunAinb tests the extension in dir on the axes of the ainb contract v2. It skips axes of surfaces that
// the manifest does not offer. The extension has all capabilities that it declares, in an empty home
// directory and without a network.
func RunAinb(ctx context.Context, dir string, o AinbOptions) (*Report, error) {
	began := time.Now()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "bento-ext-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	s := newAinbSuite(dir, scratch, o)
	list := ainbAxes()
	results := make([]Result, len(list))
	together(len(list), func(i int) {
		if list[i].run != nil {
			results[i] = list[i].result(s.try(ctx, list[i]))
		}
	})
	for i, a := range list { // judged by the messages of all processes
		if a.run == nil {
			results[i] = a.result(s.judge(a.clause))
		}
	}
	r := &Report{ID: s.id(), Path: dir, Axes: results, Took: time.Since(began)}
	r.count()
	return r, ctx.Err()
}

// ainbSuite is one run of all axes of an ainb extension.
type ainbSuite struct {
	dir, scratch string
	o            AinbOptions
	found        *manifest.Found // nil if the manifest is refused
	problems     []diagnostics.Diagnostic
	seen         *seen
}

func newAinbSuite(dir, scratch string, o AinbOptions) *ainbSuite {
	o.Within = cmp.Or(o.Within, 5*time.Second)
	o.Exit = cmp.Or(o.Exit, 5*time.Second)
	if o.Env == nil {
		o.Env = adapters.NewEnviron(os.Environ()).Strict()
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	o.Stderr = &lockedWriter{w: o.Stderr}
	s := &ainbSuite{dir: dir, scratch: scratch, o: o, seen: &seen{}}
	s.found, s.problems = manifest.Read(dir)
	return s
}

func (s *ainbSuite) id() string {
	if s.found == nil {
		return ""
	}
	return s.found.Manifest.Plugin.Name
}

// ainbAxis is the test of one axis.
type ainbAxis struct {
	clause   string
	level    Level
	expected string
	// needs returns why a manifest has nothing for this axis, "" if it does. It may be nil.
	needs func(m *manifest.Manifest) string
	run   func(ctx context.Context, s *ainbSuite, axis string) outcome
}

func (a ainbAxis) result(o outcome) Result {
	return Result{Clause: a.clause, Level: a.level, Expected: a.expected, Status: o.status, Got: o.got}
}

func (s *ainbSuite) try(ctx context.Context, a ainbAxis) outcome {
	if s.found == nil && a.clause != "A01" {
		return skip("the manifest is refused, see above")
	}
	if a.needs != nil {
		if why := a.needs(s.found.Manifest); why != "" {
			return skip(why)
		}
	}
	return a.run(ctx, s, a.clause)
}

// judge returns the outcome of an axis of all messages.
func (s *ainbSuite) judge(axis string) outcome {
	if s.found == nil {
		return skip("the manifest is refused, see above")
	}
	return s.seen.outcome(axis)
}

// observe looks at one body.
func (s *ainbSuite) observe(axis string, sent bool, body []byte) {
	if s.o.Frame != nil {
		s.o.Frame(axis, sent, body)
	}
	if sent {
		return
	}
	m, err := wire.ParseMessage(body, maxDepth)
	switch {
	case err != nil:
		s.seen.note("A02", "%v", err)
	case m.Kind == wire.Invalid:
		s.seen.note("A02", "%s", m.Why)
	case m.Method == "host/log":
		s.logged(m.Params)
	case m.Method == "host/fs/read_file" || m.Method == "host/fs/read_dir":
		var p struct {
			Path string `json:"path"`
		}
		if wire.Decode(m.Params, &p) != nil || !filepath.IsAbs(p.Path) {
			s.seen.note("A10", "%s with the params %.200s", m.Method, m.Params)
		}
	}
}

func (s *ainbSuite) logged(params json.RawMessage) {
	var l struct {
		Level   string  `json:"level"`
		Message *string `json:"message"`
	}
	if wire.Decode(params, &l) != nil || l.Message == nil || !slices.Contains([]string{"trace", "debug", "info", "warn", "error"}, l.Level) {
		s.seen.note("A09", "host/log with the params %.200s", params)
	}
}
