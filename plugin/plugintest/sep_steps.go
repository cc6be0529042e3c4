package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/wire"
)

// unknown is a method that no version has.
const unknown = "sep.unknown"

// connects waits for sep.hello.
func (s *sepSuite) connects(ctx context.Context, t *talk) outcome {
	err := t.until(ctx, s.terms.Startup, func() bool { return t.known })
	if errors.Is(err, errLate) {
		return fail("timed out after %v: no sep.hello with the token", s.terms.Startup)
	}
	return without(err)
}

// host returns the params of sep.initialize of a host of this version.
func (s *sepSuite) host(clause, version string) map[string]any {
	return map[string]any{
		"hostName": "bento", "hostVersion": "0.0.0", "apiVersion": version, "supportedApiVersions": []string{version},
		"extensionId": s.o.Manifest.ID, "grantedPermissions": append([]string{}, s.granted(clause)...), "subscribedEvents": append([]string{}, s.terms.Events...),
		"limits": s.terms.Limits, "platformProfile": "desktop",
	}
}

// greet asks sep.initialize of a host of this version and returns the result.
func (s *sepSuite) greet(ctx context.Context, t *talk, version string) (json.RawMessage, error) {
	if o := s.connects(ctx, t); o.status != Pass {
		return nil, errors.New(o.got)
	}
	if err := t.send(t.request("sep.initialize", s.host(t.clause, version), nil)); err != nil {
		return nil, t.deaf(ctx, "sep.initialize", err)
	}
	r, err := t.await(ctx, t.id(), s.terms.Startup)
	return resultOf("sep.initialize", &r.m, err)
}

// greeting is the result of sep.initialize.
type greeting struct {
	ID      string `json:"extensionId"`
	Version string `json:"version"`
	API     string `json:"apiVersion"`
}

func (s *sepSuite) greeting(ctx context.Context, t *talk, version string) (g greeting, err error) {
	result, err := s.greet(ctx, t, version)
	if err == nil {
		err = json.Unmarshal(result, &g)
	}
	return g, err
}

func (s *sepSuite) initializes(ctx context.Context, t *talk) outcome {
	_, err := s.greet(ctx, t, sep.APIVersion)
	return without(err)
}

func (s *sepSuite) namesItself(ctx context.Context, t *talk) outcome {
	g, err := s.greeting(ctx, t, sep.APIVersion)
	m := s.o.Manifest
	switch {
	case err != nil:
		return without(err)
	case g.ID != m.ID:
		return fail("extensionId is %.140q, the manifest has %q", g.ID, m.ID)
	}
	return when(g.Version == m.Version, "version is %.60q, the manifest has %q", g.Version, m.Version)
}

// agreesOn returns the step that checks the version that a host of this version gets.
func (s *sepSuite) agreesOn(host string) step {
	return func(ctx context.Context, t *talk) outcome {
		g, err := s.greeting(ctx, t, host)
		if err != nil {
			return without(err)
		}
		return without(sep.CheckVersion(g.API, s.o.Manifest.APIVersion, host))
	}
}

func (s *sepSuite) refusesMajor(ctx context.Context, t *talk) outcome {
	result, err := s.greet(ctx, t, "2.0.0")
	var rpc *wire.RPCError
	switch {
	case err == nil:
		return fail("the result %.60s", result)
	case !errors.As(err, &rpc):
		return without(err)
	}
	return when(rpc.Code == -32012 && strings.Contains(string(rpc.Data), `"version_unsupported"`), "%v %s", rpc, rpc.Data)
}

// healthy returns the step that asks for the health and checks the answer.
func (s *sepSuite) healthy(seq uint64) step {
	return func(ctx context.Context, t *talk) outcome { return without(s.health(ctx, t, seq, t.send)) }
}

func (s *sepSuite) health(ctx context.Context, t *talk, seq uint64, write func([]byte) error) error {
	m, err := t.exchange(ctx, t.request("sep.health", map[string]uint64{"seq": seq}, nil), write)
	result, err := resultOf("sep.health", &m, err)
	if err != nil {
		return err
	}
	var r struct {
		Seq    json.Number `json:"seq"`
		Status string      `json:"status"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("sep.health: %w", err)
	}
	if n := (wire.Message{ID: json.RawMessage(r.Seq)}); r.Seq.String() != fmt.Sprint(seq) {
		if got, ok := n.Number(); !ok || uint64(got) != seq {
			return fmt.Errorf("sep.health: seq is %q, required %d", r.Seq, seq)
		}
	}
	if !slices.Contains([]string{"ok", "degraded", "unhealthy"}, r.Status) {
		return fmt.Errorf("sep.health: status is %.40q, required ok, degraded or unhealthy", r.Status)
	}
	return nil
}

func (s *sepSuite) healthyInPieces(ctx context.Context, t *talk) outcome {
	return without(s.health(ctx, t, 1, func(body []byte) error { return t.put(frame(plainHeader, body), t.pieces(ctx, 7)) }))
}

// alive checks the health twice: an error with the id null, which the message before may have had as its
// answer, fails the first.
func (s *sepSuite) alive(ctx context.Context, t *talk) outcome {
	if o := s.healthy(1)(ctx, t); o.status == Pass {
		return o
	}
	return s.healthy(2)(ctx, t)
}

const unknownEvent = `{"jsonrpc":"2.0","method":"sep.unknown_event"}`

func sendsTwoAtOnce(_ context.Context, t *talk) outcome {
	one := frame(plainHeader, []byte(unknownEvent))
	return without(t.write(slices.Concat(one, one)))
}

func (s *sepSuite) ignoresMembers(ctx context.Context, t *talk) outcome {
	if _, err := t.result(ctx, "sep.health", map[string]any{"seq": 1, "later": []int{1}}); err != nil {
		return without(err)
	}
	return sends(`{"jsonrpc":"2.0","later":{},"method":"sep.unknown_event"}`)(ctx, t)
}

func (s *sepSuite) takesTextID(ctx context.Context, t *talk) outcome {
	t.expect(`"a b"`, "sep.health as text")
	if o := do(sends(`{"jsonrpc":"2.0","id":"a b","method":"sep.health","params":{"seq":7}}`), s.healthy(1))(ctx, t); o.status != Pass {
		return o
	}
	return when(t.answered("sep.health as text"), `no answer with the id "a b"`)
}

// event returns the step of an event.
func event(topic string, seq int, data any) step {
	return func(ctx context.Context, t *talk) outcome {
		return notes("sep.event", map[string]any{"event": topic, "seq": seq, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "data": data})(ctx, t)
	}
}

// storm is the number of events that arrive at once.
const storm = 1000

const noEvents = "it subscribes to no events"

func (s *sepSuite) healthyInStorm(ctx context.Context, t *talk) outcome {
	topics := s.terms.Events
	if len(topics) == 0 {
		return skip(noEvents)
	}
	for i := range storm {
		if o := event(topics[i%len(topics)], i+1, map[string]any{})(ctx, t); o.status != Pass {
			return o
		}
	}
	began := time.Now()
	if o := s.healthy(1)(ctx, t); o.status != Pass {
		return o
	}
	took := time.Since(began)
	return when(took < s.terms.Heartbeat, "after %v", took)
}

func (s *sepSuite) takesEvents(ctx context.Context, t *talk) outcome {
	if len(s.terms.Events) == 0 {
		return skip(noEvents)
	}
	seq := 0
	for _, topic := range s.terms.Events {
		for _, data := range []any{map[string]any{}, map[string]any{"later": []any{1, "a", nil}}} {
			seq++
			if o := event(topic, seq, data)(ctx, t); o.status != Pass {
				return o
			}
		}
		if o := s.healthy(uint64(seq))(ctx, t); o.status != Pass {
			return fail("after %s: %s", topic, o.got)
		}
	}
	return pass()
}

// takesDenial sends the events of the manifest, since these make the extension send requests.
func (s *sepSuite) takesDenial(ctx context.Context, t *talk) outcome {
	if o := s.takesEvents(ctx, t); o.status != Skip {
		return o
	}
	return s.healthy(1)(ctx, t)
}

func (s *sepSuite) shutdown(ctx context.Context, t *talk) (json.RawMessage, error) {
	return t.result(ctx, "sep.shutdown", map[string]any{"reason": "host_exit", "graceMs": 3000})
}

func (s *sepSuite) shutsDown(ctx context.Context, t *talk) outcome {
	result, err := s.shutdown(ctx, t)
	if err != nil {
		return without(err)
	}
	var empty map[string]any
	err = json.Unmarshal(result, &empty)
	return when(err == nil && len(empty) == 0 && empty != nil, "%.60s", result)
}

func (s *sepSuite) leaves(ctx context.Context, t *talk) outcome {
	if _, err := s.shutdown(ctx, t); err != nil {
		return without(err)
	}
	return do(closesInput, exits("its answer to sep.shutdown"))(ctx, t)
}

func closesConnection(ctx context.Context, t *talk) outcome {
	t.hangUp()
	return pass()
}
