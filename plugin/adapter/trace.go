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
	Body     []byte // valid during the call only; from a plugin it may be anything
}

// TraceFunc is told of frames, on several goroutines at once.
type TraceFunc func(Frame)

type traceKey struct{}

// WithTrace gives a context under which Start has every frame of the plugins told,
// also those after Start has returned. It goes with the context, as in
// net/http/httptrace, since it is for whoever looks on and not for who starts.
func WithTrace(ctx context.Context, trace TraceFunc) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// traceOf gives what is to be told of c, nil for nothing.
func traceOf(ctx context.Context, c adapters.Candidate) func(sent bool, body []byte) {
	trace, ok := ctx.Value(traceKey{}).(TraceFunc)
	if !ok {
		return nil
	}
	return func(sent bool, body []byte) {
		trace(Frame{ID: c.ID, Path: c.Path, Time: time.Now(), Sent: sent, Body: body})
	}
}
