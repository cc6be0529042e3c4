package plugin

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// slowly returns a Detect that reports its start, and runs until it is cancelled.
func slowly(started chan<- struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestCancelReachesARunningDetect(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, &fake{detect: slowly(started)})
	call := s.send(t, "detect", wire.Dir{Dir: "/slow"})
	<-started
	if err := s.Notify(wire.NotifyCancel, wire.Cancel{ID: call.ID()}); err != nil {
		t.Fatal(err)
	}
	if a := <-call.Answered(); a.Err == nil || !strings.Contains(a.Err.Error(), "context canceled") {
		t.Errorf("got %s, %v, want a cancelled call", a.Result, a.Err)
	}
	if got := s.ask(t, "detect", wire.Dir{Dir: "/yes"}); got != `{"matches":true}` {
		t.Errorf("the next call: got %s", got)
	}
}

// A waiting call can be cancelled before it runs.
func TestCancelReachesAWaitingDetect(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, &fake{install: slow(started)})
	install := s.send(t, "install", map[string]string{"dish_dir": "/yes"})
	<-started
	for range 100 {
		detect := s.send(t, "detect", wire.Dir{Dir: "/yes"})
		if err := s.Notify(wire.NotifyCancel, wire.Cancel{ID: detect.ID()}); err != nil {
			t.Fatal(err)
		}
		if a := <-detect.Answered(); a.Err == nil {
			t.Fatalf("got %s during an install, though one call runs at a time", a.Result)
		}
	}
	s.Notify(wire.NotifyCancel, wire.Cancel{ID: install.ID()})
	<-install.Answered()
}

func TestShutdownEndsARunningDetect(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, &fake{detect: slowly(started)})
	s.send(t, "detect", wire.Dir{Dir: "/slow"})
	<-started
	if got := s.ask(t, "shutdown", nil); got != "null" {
		t.Errorf("shutdown: got %s, want null", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestEndOfInputEndsARunningDetect(t *testing.T) {
	started := make(chan struct{})
	var ended atomic.Bool
	s := serve(t, &fake{detect: func(ctx context.Context) error {
		defer ended.Store(true)
		return slowly(started)(ctx)
	}})
	s.send(t, "detect", wire.Dir{Dir: "/slow"})
	<-started
	s.Peer.Close()
	if err := <-s.done; err != nil || !ended.Load() {
		t.Errorf("Serve: %v, and the call has ended: %v", err, ended.Load())
	}
}

func TestQueriesRunOneAtATime(t *testing.T) {
	var running, most atomic.Int32
	release := make(chan struct{})
	alone := func(context.Context) error {
		most.Store(max(most.Load(), running.Add(1)))
		<-release
		running.Add(-1)
		return nil
	}
	f := &fake{detect: alone, install: func(ctx context.Context, _ adapters.LogFunc) error { return alone(ctx) }}
	s := serve(t, f)
	methods := []string{"detect", "install", "detect", "install", "detect"}
	var calls []*wire.Question
	for _, method := range methods {
		calls = append(calls, s.send(t, method, map[string]string{"dir": "/slow", "dish_dir": "/slow"}))
	}
	for range methods {
		release <- struct{}{}
	}
	for _, call := range calls {
		if a := <-call.Answered(); a.Err != nil {
			t.Error(a.Err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d calls ran at once", most.Load())
	}
}

// A slow query does not delay other queries if the plugin allows concurrent calls.
func TestQueriesRunAtOnce(t *testing.T) {
	started := make(chan struct{})
	f := &fake{manifest: adapters.Manifest{Parallel: 2}, detect: slowly(started)}
	s := serve(t, f)
	slow := s.send(t, "detect", wire.Dir{Dir: "/slow"})
	<-started
	if got := s.ask(t, "detect", wire.Dir{Dir: "/yes"}); got != `{"matches":true}` {
		t.Errorf("got %s", got)
	}
	s.Notify(wire.NotifyCancel, wire.Cancel{ID: slow.ID()})
	if a := <-slow.Answered(); a.Err == nil {
		t.Error("the slow one was not cancelled")
	}
}

// A request during an install is answered after the install.
func TestDetectWaitsForAnInstall(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	f := &fake{install: func(context.Context, adapters.LogFunc) error {
		close(started)
		<-end
		return nil
	}}
	s := serve(t, f)
	install := s.send(t, "install", map[string]string{"dish_dir": "/yes", "dish_name": "api"})
	<-started
	detect := s.send(t, "detect", wire.Dir{Dir: "/yes"})
	select {
	case a := <-detect.Answered():
		t.Errorf("it was answered during an install, though one call runs at a time: %s", a.Result)
	default:
	}
	close(end)
	for _, call := range []*wire.Question{install, detect} {
		if a := <-call.Answered(); a.Err != nil {
			t.Error(a.Err)
		}
	}
}

// The error of a query has the same form as that of other calls.
func TestErrorsOfQueries(t *testing.T) {
	for method, want := range map[string]string{
		"detect": `error 2099: no disk {"detail":"no disk"}`, "tasks": `error 2099: no disk {"detail":"no disk"}`,
		"requiredToolchain": `error 2002: no disk {"file":"","reason":"no disk"}`,
	} {
		if got := serve(t, &fake{err: errors.New("no disk")}).ask(t, method, wire.Dir{Dir: "/yes"}); got != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

// TestNoRequests: a body that is no request is refused, and the next one is answered. jrpc2, which shares no
// code with this package, is the client.
func TestNoRequests(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), &fake{}, &Options{In: inR, Out: outW}) }()
	frames := channel.LSP(outR, inW)
	for body, want := range map[string]string{
		`{`:                                  `"id":null,"error":{"code":-32700,`,
		`[]`:                                 `"id":null,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":7,"error":7}`: `"id":7,"error":{"code":-32600,`,
		`{"jsonrpc":"1.0","id":7,"method":"detect"}`:    `"id":7,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":null,"method":"detect"}`: `"id":null,"error":{"code":-32600,`,
	} {
		if err := frames.Send([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if got, err := frames.Recv(); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: got %s, %v, want %s", body, got, err, want)
		}
	}
	client := jrpc2.NewClient(frames, nil)
	var found wire.Detected
	if err := client.CallResult(t.Context(), "detect", wire.Dir{Dir: "/yes"}, &found); err != nil || !found.Matches {
		t.Errorf("got %v, %v", found, err)
	}
	client.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
