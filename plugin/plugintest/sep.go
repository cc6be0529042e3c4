package plugintest

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// SEPOptions are the options of RunSEP.
type SEPOptions struct {
	Manifest *manifest.Manifest
	Dir      string            // of the manifest, absolute
	Env      adapters.Environ  // of bento; nil means that of this process
	Set      map[string]string // further variables of the extension
	Stdio    bool              // use the standard streams rather than a socket

	Within time.Duration // timeout of an answer; 0 means 5 s
	Exit   time.Duration // timeout of the exit after sep.shutdown; 0 means 3 s, as in the contract
	Stderr io.Writer     // gets the output of the extension; nil discards it
	// Frame receives each message that was sent to the extension or came from it, without the token,
	// with the clause of the test. It runs on several goroutines at once. May be nil.
	Frame func(clause string, sent bool, body []byte)
}

// RunSEP drives an extension of SEP v1 through all axes, as Run drives an adapter. The numbers are those
// of docs/EXTENSION-PROTOCOL-SEP.md.
func RunSEP(ctx context.Context, o SEPOptions) (*Report, error) {
	return runSEP(ctx, o, sepAxes())
}

func runSEP(ctx context.Context, o SEPOptions, list []sepAxis) (*Report, error) {
	began := time.Now()
	o.Within = cmp.Or(o.Within, 5*time.Second)
	o.Exit = cmp.Or(o.Exit, 3*time.Second)
	if o.Env == nil {
		o.Env = adapters.NewEnviron(os.Environ())
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	o.Stderr = &lockedWriter{w: o.Stderr}
	m := o.Manifest
	s := &sepSuite{o: o, seen: &seen{}, terms: sep.Settle(m, &sep.Entry{Enabled: true, Approved: true, Grant: m.Permissions})}
	results := make([]Result, len(list))
	together(len(list), func(i int) {
		if list[i].run != nil {
			results[i] = list[i].result(s.try(ctx, list[i]))
		}
	})
	for i, a := range list { // judged by the messages of all axes
		if a.run == nil {
			results[i] = a.result(s.seen.outcome(a.clause))
		}
	}
	r := &Report{ID: m.ID, Path: m.Path(), Axes: results, Took: time.Since(began)}
	r.count()
	return r, ctx.Err()
}

// sepSuite is one run of all axes of an extension.
type sepSuite struct {
	o     SEPOptions
	terms sep.Terms
	seen  *seen
}

// sepAxis is the test of one clause of SEP.
type sepAxis struct {
	axis
	// run is the test, on a process that has just connected, and unless raw is set is initialized; nil for
	// an axis that is judged by the messages of all processes.
	run func(context.Context, *sepTalk) outcome
	raw bool
}

// try runs one axis on a separate process.
func (s *sepSuite) try(ctx context.Context, a sepAxis) outcome {
	t, err := s.launch(ctx, a.clause)
	if err != nil {
		return fail("%v", err)
	}
	defer t.end()
	if a.raw {
		return a.run(ctx, t)
	}
	if err := t.initialize(ctx); err != nil {
		return fail("%v", err)
	}
	return a.run(ctx, t)
}
