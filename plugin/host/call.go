package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// Call is one question to a plugin.
type Call struct {
	Method string
	Params any    // nil: none
	Dir    string // of the dish, for failures

	Within time.Duration // its timeout; 0: Numbers.Query
	// Once is true if the call must not be repeated when the plugin exits meanwhile.
	Once bool
	Log  adapters.LogFunc // receives the progress of the call; may be nil
}

// Call asks the plugin and returns the result. At most as many calls run at once as the
// handshake allowed; the timeout begins when a call runs.
//
// The error is a *wire.RPCError if the plugin answered with one, the error of ctx if that
// is done first, else a *adapters.Failure. A call that times out ends the plugin. If the
// plugin exits during a call, Call repeats it once after the restart.
func (p *Plugin) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer p.sinks.listen(c.Log)()
	result, err := p.try(ctx, c)
	var over *ended
	if errors.As(err, &over) && over.code == adapters.Crashed && !c.Once {
		result, err = p.try(ctx, c)
	}
	return result, p.explain(ctx, c, err)
}

func (p *Plugin) try(ctx context.Context, c Call) (json.RawMessage, error) {
	s, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	within := c.Within
	if within == 0 {
		within = p.o.Numbers.Query
	}
	return s.call(ctx, c.Method, c.Params, within)
}

// explain returns the failure for the error of a call.
func (p *Plugin) explain(ctx context.Context, c Call, err error) error {
	var (
		rpc  *wire.RPCError
		bad  *wire.BadAnswer
		over *ended
		f    *adapters.Failure
	)
	switch {
	case err == nil || errors.As(err, &rpc) || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	case errors.As(err, &f): // an earlier one, which was final
		f = p.final(f, c)
	case errors.As(err, &over) && over.code != adapters.Crashed:
		f = p.final(p.blame(over), c)
	case errors.As(err, &over):
		f = p.blame(over)
	case errors.As(err, &bad):
		f = p.fault(adapters.MalformedResponse, bad.Why)
	default:
		f = p.fault(adapters.RPCError, err.Error())
	}
	f.Call, f.Dir = c.Method, c.Dir
	return f
}

// final returns the failure that ended the plugin for good. It belongs to the call that
// found it first; the failures of later calls name that call, so that each of them shows
// the cause.
func (p *Plugin) final(f *adapters.Failure, c Call) *adapters.Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broke == nil {
		p.broke = &c
	}
	later, at := *f, p.broke.Method
	if at == c.Method && p.broke.Dir == c.Dir {
		return &later
	}
	if p.broke.Dir != "" {
		at += fmt.Sprintf(" of %q", p.broke.Dir)
	}
	later.Late = true
	later.Message = fmt.Sprintf("it is not used since %s: %s", at, f.Message)
	return &later
}

// Failure returns a failure of a call, such as an invalid answer.
func (p *Plugin) Failure(c Call, code adapters.Code, message string) *adapters.Failure {
	f := p.fault(code, message)
	f.Call, f.Dir = c.Method, c.Dir
	return f
}

func (p *Plugin) blame(e *ended) *adapters.Failure { return p.fault(e.code, e.what) }

// hint returns the advice for a user about a failure.
func hint(code adapters.Code, id, message string) string {
	switch code {
	case adapters.LaunchFailed:
		return "check that the file is an executable for this machine, or list it under [plugins] disable"
	case adapters.ProtocolVersionMismatch:
		return "install a version of the plugin that was made for this bento"
	case adapters.AdapterIDMismatch:
		return "name the file bento-adapter-<id> after the id that the plugin announces"
	case adapters.MalformedResponse:
		if strings.Contains(message, wire.Miscount) {
			return "bento plugin trace -o FILE -- bento plugin test " + id + " records its frames"
		}
		if strings.Contains(message, wire.NoHeader) {
			return "a plugin's standard output is for protocol messages only; anything else belongs on standard error"
		}
		return "bento plugin test " + id + " names the clause that it breaks; report that to the plugin's author"
	case adapters.Timeout, adapters.Crashed, adapters.Quarantined, adapters.HandshakeFailed:
		return "bento plugin test " + id + " shows whether the plugin is at fault: report that to its author, or list it under [plugins] disable"
	case adapters.RPCError:
		return "bento plugin test " + id + " shows whether the plugin is at fault; bento plugin call " + id + " asks it by hand"
	}
	return ""
}

// fault returns a failure of this plugin.
func (p *Plugin) fault(code adapters.Code, message string) *adapters.Failure {
	return &adapters.Failure{
		Code:    code,
		Adapter: p.o.ID,
		Path:    p.o.Path,
		Message: wire.Plain(message),
		Stderr:  p.tail.String(),
		Hint:    hint(code, p.o.ID, message),
	}
}
