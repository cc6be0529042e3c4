package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// ainbTalk is one process of the extension without a host.
type ainbTalk struct {
	s      *ainbSuite
	stream *host.Stream
	status func() string // waits for the end of the process, and returns how it ended
	peer   *wire.Peer
}

// talk runs a test on a separate process. It answers only requests about the bus, and refuses others.
func (s *ainbSuite) talk(ctx context.Context, axis string, test func(ctx context.Context, t *ainbTalk) outcome) outcome {
	launcher := &host.Command{Argv: []string{s.found.Executable}, Dir: s.scratch, Env: s.o.Env}
	stream, err := launcher.Launch(ctx, s.o.Stderr)
	if err != nil {
		return fail("it cannot be started: %v", err)
	}
	t := &ainbTalk{s: s, stream: stream, status: sync.OnceValue(stream.Wait)}
	t.peer = wire.NewPeer(wire.NewConn(stream.Stdout, stream.Stdin, wire.Limits{Strict: true, Send: s.o.Within}), wire.PeerOptions{
		Request: func(in *wire.Incoming) {
			switch {
			case axis != "A04" && in.Method == "host/snapshot/get":
				_ = in.Reply(map[string]any{"payload": nil, "version": 0})
			case axis != "A04" && in.Method == "host/snapshot/subscribe":
				_ = in.Reply(struct{}{})
			default:
				_ = in.Refuse(&wire.RPCError{Code: -32001, Message: "capability denied: " + in.Method})
			}
		},
		Bad: func(body []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
			s.seen.note("A02", "%v", err)
			return nil, body == nil
		},
		Trace: func(sent bool, body []byte) { s.observe(axis, sent, body) },
	})
	defer func() {
		stream.End(true)
		t.status()
		t.peer.Close()
	}()
	return test(ctx, t)
}

// call asks and waits for the answer.
func (t *ainbTalk) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	timed, cancel := context.WithTimeout(ctx, t.s.o.Within)
	defer cancel()
	result, err := t.peer.Call(timed, method, params)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("timed out: no answer to " + method)
	}
	return result, err
}

// init does the handshake of a revision of the contract.
func (t *ainbTalk) init(ctx context.Context, revision int) error {
	_, err := t.call(ctx, "plugin/init", map[string]any{
		"manifest_path": filepath.Join(t.s.dir, manifest.File), "granted_capabilities": []string{}, "abi_version": revision, "config": t.s.o.Config,
	})
	return err
}

// greeted runs a test after the handshake.
func (s *ainbSuite) greeted(ctx context.Context, axis string, test func(ctx context.Context, t *ainbTalk) outcome) outcome {
	return s.talk(ctx, axis, func(ctx context.Context, t *ainbTalk) outcome {
		var rpc *wire.RPCError
		switch err := t.init(ctx, manifest.ABI); {
		case axis == "A04" && errors.As(err, &rpc): // it may refuse to start without its capabilities
			return pass()
		case err != nil:
			return fail("plugin/init: %v", err)
		}
		return test(ctx, t)
	})
}

func refusesRevisions(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.talk(ctx, axis, func(ctx context.Context, t *ainbTalk) outcome {
		var rpc *wire.RPCError
		err := t.init(ctx, manifest.ABI+97)
		return when(errors.As(err, &rpc), "plugin/init with abi_version %d: %v", manifest.ABI+97, err)
	})
}

func refusesMethods(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.greeted(ctx, axis, func(ctx context.Context, t *ainbTalk) outcome {
		if err := t.peer.Notify("plugin/bento_ext_test", map[string]any{}); err != nil {
			return fail("%v", err)
		}
		var rpc *wire.RPCError
		result, err := t.call(ctx, "plugin/bento_ext_test", map[string]any{})
		return when(errors.As(err, &rpc) && rpc.Code == wire.CodeMethodNotFound, "got %s %v", result, err)
	})
}

// takes sends events of all topics, then a request, then the shutdown. The extension shuts down after it
// has handled all of them.
func takes(payloads ...[]byte) func(ctx context.Context, s *ainbSuite, axis string) outcome {
	return func(ctx context.Context, s *ainbSuite, axis string) outcome {
		return s.greeted(ctx, axis, func(ctx context.Context, t *ainbTalk) outcome {
			for _, p := range payloads {
				for _, topic := range s.found.Manifest.Subscribes.Snapshots {
					if err := t.peer.Notify("plugin/handle_event", map[string]any{"topic": topic, "payload": p}); err != nil {
						return fail("an event of %s: %v", topic, err)
					}
				}
			}
			var rpc *wire.RPCError
			if _, err := t.call(ctx, "plugin/bento_ext_test", map[string]any{}); !errors.As(err, &rpc) {
				return fail("the next request: %v", err)
			}
			return t.exits(func() { _ = t.peer.Finish("plugin/shutdown", struct{}{}) })
		})
	}
}

// events are payloads as bento never sends them, and one as it does.
func events() [][]byte {
	return [][]byte{[]byte("{}"), {}, []byte("\xff\x00"), []byte(`{"schema":"bento.none.v0"}`)}
}

// chunks are large payloads.
func chunks() [][]byte {
	chunk := bytes.Repeat([]byte{0x90}, 2<<20)
	return [][]byte{chunk, chunk, chunk}
}

// exits waits for the end of the process after it was shut down.
func (t *ainbTalk) exits(shutDown func()) outcome {
	shutDown()
	timer := time.NewTimer(t.s.o.Exit)
	defer timer.Stop()
	select {
	case <-t.stream.Exited:
	case <-timer.C:
		return fail("it runs %v after plugin/shutdown", t.s.o.Exit)
	}
	status := t.status()
	return when(status == "exit status 0", "it ended with: %s", status)
}

// shutsDown sends plugin/shutdown in one of its two forms, then closes the stream.
func shutsDown(asRequest bool) func(ctx context.Context, s *ainbSuite, axis string) outcome {
	return func(ctx context.Context, s *ainbSuite, axis string) outcome {
		return s.greeted(ctx, axis, func(_ context.Context, t *ainbTalk) outcome {
			return t.exits(func() {
				if asRequest {
					_ = t.peer.Finish("plugin/shutdown", struct{}{})
				} else if t.peer.Notify("plugin/shutdown", struct{}{}) == nil {
					t.stream.Stdin.Close()
				}
			})
		})
	}
}
