package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// entry is one candidate with its plugin or failure. Only the goroutine of its id writes
// it, while Start runs.
type entry struct {
	adapters.Candidate
	status   string
	message  string
	failure  *adapters.Failure
	process  *Process // nil when it is not running
	basis    string   // its key in a Keep
	runsOn   bool     // it was started for an earlier Set
	warnings []diagnostics.Diagnostic
}

func newEntry(c adapters.Candidate) *entry {
	return &entry{Candidate: c, status: c.Skip, message: c.SkipReason}
}

// startGroup starts the candidates of one id until one works.
func startGroup(ctx context.Context, group []*entry, o Options) {
	for i, e := range group {
		e.start(ctx, o)
		if e.process == nil {
			continue
		}
		for _, later := range group[i+1:] {
			later.status = Shadowed
			later.message = fmt.Sprintf("%s comes first on PATH", e.Path)
			later.warn("plugin_duplicate", fmt.Sprintf("plugin %s: %s is not used, %s comes first on PATH", e.ID, later.Path, e.Path),
				"remove one of them")
		}
		return
	}
}

func (e *entry) start(ctx context.Context, o Options) {
	p, err := e.obtain(ctx, o)
	if err != nil {
		if ctx.Err() == nil {
			e.fail(err)
		}
		return
	}
	e.process = p
	for _, text := range p.dropped {
		e.warn("plugin_manifest", fmt.Sprintf("plugin %s: %s", e.ID, text), "")
	}
	e.status = Loaded
	if slices.Contains(o.Builtin, e.ID) {
		e.status = Shadowed
		e.message = "bento has a built-in adapter of this name"
		e.warn("plugin_shadowed", fmt.Sprintf("plugin %s: %s is ignored, bento has a built-in adapter of this name", e.ID, e.Path),
			"give the plugin an id of its own")
	}
}

// obtain returns the plugin: a kept process that still runs, or else a new one.
func (e *entry) obtain(ctx context.Context, o Options) (*Process, error) {
	e.basis = o.Keep.basis(e.Candidate, &o)
	if p, err := o.Keep.again(e.basis, e.Candidate, o); p != nil || err != nil {
		e.runsOn = true
		return p, err
	}
	p, err := startProcess(ctx, e.Candidate, o)
	switch {
	case err != nil && ctx.Err() == nil, err == nil && p.host() != nil:
		o.Keep.keep(e.basis, p, err)
	case err == nil:
		p.basis = e.basis // it is asleep
	}
	return p, err
}

func (e *entry) fail(err error) {
	if !errors.As(err, &e.failure) {
		e.failure = &adapters.Failure{Code: adapters.LaunchFailed, Adapter: e.ID, Path: e.Path, Message: err.Error()}
	}
	e.status = Failed
	e.message = e.failure.Message
	hint := e.failure.RequireHint()
	if words := lastWords(e.failure.Stderr); words != "" {
		hint = strings.TrimSpace("its last words: " + words + "\n" + hint)
	}
	e.warn("plugin_failed", fmt.Sprintf("%v: %s is not used", e.failure, e.Path), hint)
}

// lastWords returns the last lines of a plugin's stderr.
func lastWords(text string) string {
	text = strings.TrimSpace(wire.Plain(text))
	if most := 1 << 10; len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

func (e *entry) warn(rule, message, hint string) {
	e.warnings = append(e.warnings, diagnostics.Pos{}.Warning(rule, "%s", message).WithHint(hint))
}

// failed returns why the candidate cannot answer, or not any more.
func (e *entry) failed() *adapters.Failure {
	if e.process == nil {
		return e.failure
	}
	return e.process.failed()
}

// Status returns the state of the candidate.
func (e *entry) Status() Status {
	s := Status{ID: e.ID, Path: e.Path, Contract: e.Contract, Status: e.status, Message: e.message, Hint: e.SkipHint}
	if e.Skip == adapters.SkipNotTrusted {
		s.Status, s.Code = Failed, adapters.NotTrusted
	} else if e.Skip == adapters.SkipUnusable {
		s.Status, s.Code = Failed, adapters.LaunchFailed
	}
	if p := e.process; p != nil {
		s.DisplayName = p.manifest.DisplayName
		s.Identity = p.manifest.Identity
		if plugin := p.host(); plugin != nil {
			s.Handshake, s.RunsOn = plugin.Handshake(), e.runsOn
		} else {
			s.Asleep = true
		}
	}
	if f := e.failed(); f != nil {
		s.Status, s.Code, s.Message = Failed, f.Code, f.Message
	}
	return s
}
