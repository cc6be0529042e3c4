package adapter

import (
	"context"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// Frame is one message between bento and a plugin.
type Frame struct {
	ID, Path string // of the plugin
	Time     time.Time
	Sent     bool   // by bento; else by the plugin
	Body     []byte // valid during the call only; a plugin may send any bytes
}

// TraceFunc receives frames, on several goroutines at once.
type TraceFunc func(Frame)

type traceKey struct{}

// WithTrace returns a context under which Start passes every frame of the plugins to trace,
// also after Start has returned. Like net/http/httptrace it uses the context: a trace is
// for an observer of the caller.
func WithTrace(ctx context.Context, trace TraceFunc) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// TraceOf returns the function of WithTrace, or nil.
func TraceOf(ctx context.Context) TraceFunc {
	trace, _ := ctx.Value(traceKey{}).(TraceFunc)
	return trace
}

// traceOf returns the trace function of c, or nil.
func traceOf(ctx context.Context, c adapters.Candidate) func(sent bool, body []byte) {
	trace := TraceOf(ctx)
	if trace == nil {
		return nil
	}
	return func(sent bool, body []byte) {
		trace(Frame{ID: c.ID, Path: c.Path, Time: time.Now(), Sent: sent, Body: body})
	}
}
