package plugintest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// slow is an adapter whose Detect runs until it is cancelled.
type slow struct{ started chan struct{} }

func (slow) Manifest() *adapters.Manifest { return &adapters.Manifest{AdapterID: "slow"} }

func (s slow) Detect(ctx context.Context, _ string) (bool, error) {
	s.started <- struct{}{}
	<-ctx.Done()
	return false, ctx.Err()
}

func (slow) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) { return nil, nil }

func (slow) ToolchainFingerprint(context.Context, string) (string, error) { return "slow 1", nil }

func (slow) Install(_ context.Context, _ adapters.InstallRequest, log adapters.LogFunc) error {
	log(adapters.Log{Level: "info", Message: "done"})
	return nil
}

func (slow) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// TestServed: an adapter in this process answers, can be cancelled, and ends like a plugin.
func TestServed(t *testing.T) {
	a := slow{make(chan struct{})}
	stream, err := Served{a}.Launch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	c := wire.NewPeer(wire.NewConn(stream.Stdout, stream.Stdin, wire.Limits{}), wire.PeerOptions{
		Notify: func(_ string, params json.RawMessage) { logs = append(logs, string(params)) },
	})
	defer c.Close()
	send := func(method string, params any) *wire.Question {
		q, err := c.Ask(method, params)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	want := func(call *wire.Question, result, failure string) {
		t.Helper()
		got := <-call.Answered()
		if string(got.Result) != result || (got.Err == nil) != (failure == "") || got.Err != nil && !strings.Contains(got.Err.Error(), failure) {
			t.Errorf("got %s, %v, want %s, %s", got.Result, got.Err, result, failure)
		}
	}
	want(send(wire.MethodFingerprint, nil), `"slow 1"`, "")
	want(send("nonsense", nil), "", "method not found: nonsense")
	want(send(wire.MethodInstall, map[string]string{"dish_dir": "/d"}), "null", "")
	if len(logs) != 1 {
		t.Errorf("logs %q, want one", logs)
	}
	running := send(wire.MethodDetect, wire.Dir{Dir: "/d"})
	<-a.started
	waiting := send(wire.MethodDetect, wire.Dir{Dir: "/d"})
	if err := c.Notify(wire.NotifyCancel, wire.Cancel{ID: waiting.ID()}); err != nil {
		t.Fatal(err)
	}
	want(waiting, "", "context canceled")
	if err := c.Notify(wire.NotifyCancel, wire.Cancel{ID: running.ID()}); err != nil {
		t.Fatal(err)
	}
	want(running, "", "context canceled")
	running = send(wire.MethodDetect, wire.Dir{Dir: "/d"})
	<-a.started
	last := send(wire.MethodShutdown, nil)
	want(running, "", "context canceled")
	want(last, "null", "")
	if end := stream.Wait(); end != "exit status 0" {
		t.Errorf("it ended with %q", end)
	}
}
