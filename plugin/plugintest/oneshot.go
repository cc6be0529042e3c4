package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/oneshot"
)

// OneshotOptions are the options of RunOneshot.
type OneshotOptions struct {
	ID       string          // the plugin_id that the manifest has to have; "" for any
	Function string          // the called function; "" for the first of the manifest
	Input    json.RawMessage // for it; empty means {}
	// Capabilities are the granted capabilities; nil allows the manifest to declare any.
	Capabilities []string
	Dir          string        // working directory; "": an empty one
	Env          []string      // of the tool; nil means the variables that every child of bento gets
	SHA256       string        // the digest of the executable, as of host.Command; "" for any
	Sandbox      *host.Sandbox // confines it unless nil

	Handshake time.Duration // timeout of its answer; 0 means 2 s, as in the contract
	Within    time.Duration // timeout of a response; 0 means 5 s
	Exit      time.Duration // timeout of the exit after it; 0 means 500 ms
	Stderr    io.Writer     // gets the tool's stderr; nil discards it
	// Frame receives each line that was sent to the tool or came from it, with the clause of the
	// test; "" for the first exchange. It runs on several goroutines at once. May be nil.
	Frame func(clause string, sent bool, body []byte)
}

// RunOneshot drives a one-shot tool through all axes, as Run drives an adapter. argv[0] is an
// absolute path.
func RunOneshot(ctx context.Context, argv []string, o OneshotOptions) (*Report, error) {
	began := time.Now()
	scratch, err := os.MkdirTemp("", "bento-tool-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	s := newOneshotSuite(argv, scratch, o)
	s.greet(ctx)
	list := oneshotAxes()
	results := make([]Result, len(list))
	together(len(list), func(i int) {
		if list[i].run != nil {
			results[i] = list[i].result(s.try(ctx, list[i]))
		}
	})
	for i, a := range list { // judged by the lines of all processes
		if a.run == nil {
			results[i] = a.result(s.seen.outcome(a.clause))
		}
	}
	r := &Report{ID: s.manifest.ID, Path: argv[0], Axes: results, Took: time.Since(began)}
	r.count()
	return r, ctx.Err()
}

// oneshotSuite is one run of all axes of a one-shot tool.
type oneshotSuite struct {
	argv []string
	o    OneshotOptions
	seen *seen

	// Results of the first exchange.
	text     json.RawMessage // the answer to the handshake; nil for none
	kind     string          // its type
	manifest oneshot.Manifest
	shape    error // the fault of the types of the manifest
	greeted  error // why the manifest is missing
	replied  error // why the response is missing
}

func newOneshotSuite(argv []string, scratch string, o OneshotOptions) *oneshotSuite {
	o.Handshake = cmp.Or(o.Handshake, 2*time.Second)
	o.Within = cmp.Or(o.Within, 5*time.Second)
	o.Exit = cmp.Or(o.Exit, 500*time.Millisecond)
	if o.Env == nil {
		o.Env = adapters.NewEnviron(os.Environ()).Strict()
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if len(o.Input) == 0 {
		o.Input = json.RawMessage("{}")
	}
	if o.Dir == "" {
		o.Dir, _ = filepath.EvalSymlinks(scratch)
	}
	o.Stderr = &lockedWriter{w: o.Stderr}
	return &oneshotSuite{argv: argv, o: o, seen: &seen{}}
}

func (s *oneshotSuite) command() *host.Command {
	return &host.Command{Argv: s.argv, SHA256: s.o.SHA256, Dir: s.o.Dir, Env: s.o.Env, Sandbox: s.o.Sandbox}
}

// function returns the name of the called function.
func (s *oneshotSuite) function() string {
	if s.o.Function != "" || len(s.manifest.Functions) == 0 {
		return s.o.Function
	}
	return s.manifest.Functions[0]
}

// greet makes the first exchange, whose manifest the other axes need.
func (s *oneshotSuite) greet(ctx context.Context) {
	t, err := s.launch(ctx, "")
	if err != nil {
		s.greeted = err
		return
	}
	defer t.end()
	if s.text, s.greeted = t.hello(ctx, oneshot.Protocol, nil); s.greeted != nil {
		return
	}
	if s.shape = s.read(s.text); s.refused() {
		return
	}
	if _, s.replied = t.ask(ctx, s.question()); s.replied == nil {
		t.leaves(ctx)
	}
}

// read reads the answer to the handshake.
func (s *oneshotSuite) read(text []byte) error {
	var top struct {
		Type     string            `json:"type"`
		Manifest *oneshot.Manifest `json:"manifest"`
	}
	err := json.Unmarshal(text, &top)
	if s.kind = top.Type; top.Manifest != nil {
		s.manifest = *top.Manifest
	} else if err == nil {
		err = errNoManifest
	}
	return plainly(err)
}

// question is the request of the options.
func (s *oneshotSuite) question() toolRequest {
	return toolRequest{function: s.function(), input: s.o.Input, context: map[string]any{"repo_root": s.o.Dir}}
}
