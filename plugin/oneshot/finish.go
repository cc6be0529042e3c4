package oneshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// finish ends the rest of the run, and returns the error of a call whose exchange ended with err. A passed
// deadline takes precedence over the error of the exchange.
func (r *run) finish(ctx context.Context, err error) error {
	at := r.exitAt
	if at.IsZero() {
		at = time.Now()
	}
	late := !at.Before(r.until)
	r.settle()
	r.log.Close()
	err = r.judge(ctx, err, late)
	r.audit.Took = time.Since(r.began)
	r.audit.Sent, r.audit.Received, r.audit.Trailing = r.sent.Load(), r.in.received.Load(), r.in.trailing.Load()
	r.audit.Outcome, r.audit.Error = outcome(err)
	if r.o.Audit != nil {
		r.o.Audit(r.audit)
	}
	return err
}

// settle ends the process and waits for the goroutines of the run, for 2 s at most.
func (r *run) settle() {
	until := time.Now().Add(reaping)
	if s := r.stream; s != nil {
		s.Stdin.Close()
		if !closed(r.ended) {
			s.End(true)
		}
		wait(r.ended, time.Until(until))
		// The pipe may still hold trailing bytes, which are counted.
		wait(r.in.over, min(r.o.Teardown, time.Until(until)))
		s.Stdout.Close()
	}
	for _, done := range r.running {
		wait(done, time.Until(until))
	}
}

// judge returns the error of the call.
func (r *run) judge(ctx context.Context, err error, late bool) error {
	var f *fault
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f) && (f.code == adapters.Timeout || !late):
		return r.failure(f)
	case late:
		what := fmt.Sprintf("timed out after %v", r.o.Timeout)
		if err != nil {
			what += ": " + err.Error()
		}
		return r.failure(&fault{code: adapters.Timeout, what: what, cause: err})
	}
	return err
}

// failure returns the failure of a fault.
func (r *run) failure(f *fault) *adapters.Failure {
	id := r.o.ID
	if f.claim != "" {
		id = shortened(wire.Plain(f.claim))
	}
	return &adapters.Failure{
		Tool: true, Code: f.code, Adapter: id, Path: r.path, Call: r.function,
		Message: wire.Plain(f.what), Stderr: r.tail.String(), Hint: hint(f.code, r.o.ID), Cause: cmp.Or(f.cause, error(f)),
	}
}

// shortened cuts an id that a tool claims to have.
func shortened(id string) string {
	const most = 100
	if len(id) <= most {
		return id
	}
	return wire.Plain(id[:most]) + "…"
}

// hint returns the advice about a failure.
func hint(code adapters.Code, id string) string {
	test := "bento tool test " + id + " "
	switch code {
	case adapters.LaunchFailed:
		return "check that the command of the tool is a program for this machine; " + test + "starts it alone"
	case adapters.NotTrusted:
		return "check where the tool came from before you change its sha256"
	case adapters.ProtocolVersionMismatch:
		return "install a version of the tool that was made for this contract; bento tool info " + id + " shows its manifest"
	case adapters.ToolNotExposed:
		return "name one of its functions; bento tool info " + id + " lists them"
	case adapters.CapabilityNotAllowed, adapters.CapabilityNotDeclared:
		return "compare the capabilities that you grant with those of bento tool info " + id
	case adapters.MalformedResponse:
		return test + "names the clause; a tool's standard output is for its two lines only, anything else belongs on standard error"
	case adapters.Timeout:
		return test + "shows whether the tool is at fault; a call that needs longer needs a longer timeout"
	}
	return test + "shows whether the tool is at fault: report that to its author"
}

// outcome returns the outcome of a call for its audit record, and the code of the tool's own
// error.
func outcome(err error) (text, code string) {
	var own *adapters.ToolError
	var f *adapters.Failure
	switch {
	case err == nil:
		return "ok", ""
	case errors.As(err, &own):
		return "error", own.Code
	case errors.As(err, &f):
		return string(f.Code), ""
	}
	return "canceled", ""
}

// maxLogLine is the size limit of a line for a log, in bytes; longer ones are cut in pieces.
const maxLogLine = 64 << 10
