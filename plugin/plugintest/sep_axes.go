package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/wire"
)

// sepAxes returns all axes in the order of their clauses.
func sepAxes() []sepAxis {
	must := func(clause, expected string, run func(context.Context, *sepTalk) outcome) sepAxis {
		return sepAxis{axis: axis{clause: clause, level: Must, expected: expected}, run: run}
	}
	should := func(clause, expected string, run func(context.Context, *sepTalk) outcome) sepAxis {
		return sepAxis{axis: axis{clause: clause, level: Should, expected: expected}, run: run}
	}
	raw := func(a sepAxis) sepAxis {
		a.raw = true
		return a
	}
	return []sepAxis{
		raw(must("S1.1", "it connects to SEP_ENDPOINT within its startupTimeoutMs", sepConnects)),
		must("S1.2", "its first message is sep.hello with the value of SEP_TOKEN", nil),
		must("S2.1", "the connection holds frames of JSON within maxRequestBytes, and nothing else", nil),
		must("S2.2", "a frame may arrive in pieces", sepPieces),
		must("S2.3", "a message of 1 MiB is answered", sepLarge),
		should("S2.4", "what follows a frame in the same read belongs to the next one", sepTwoAtOnce),
		must("S3.1", "each message is one of JSON-RPC 2.0", nil),
		must("S3.2", "a request gets one answer, with its id", nil),
		must("S3.3", "an unknown method is answered with the error -32601", sepUnknownMethod),
		must("S3.4", "an unknown notification is ignored", sepUnknownNotification),
		must("S3.5", "unknown members of a message and of its params are ignored", sepUnknownMembers),
		must("S3.6", "a request may have a text as id", sepTextID),
		should("S3.7", "a body that is not JSON is answered with the error -32700, or ignored", sepNoJSON),
		should("S3.8", "a batch is answered with the error -32600, or ignored", sepBatch),
		must("S3.9", "the ids of its requests are texts or integers", nil),
		should("S3.10", "it notifies of nothing but sep.hello", nil),
		raw(must("S4.1", "sep.initialize is answered within startupTimeoutMs", sepInitializes)),
		raw(must("S4.2", "extensionId and version are those of the manifest", sepIdentity)),
		raw(must("S4.3", "apiVersion is a version that the host and the manifest know", sepVersion(sep.APIVersion))),
		raw(must("S4.4", "a host of a later minor version gets a version that the manifest knows", sepVersion("1.99.0"))),
		raw(must("S4.5", "a host of another major version is refused with the reason version_unsupported", sepOtherMajor)),
		must("S4.6", "it asks for nothing before it has answered sep.initialize", nil),
		must("S4.7", "a second sep.initialize is answered with the error -32011", sepTwice),
		raw(should("S4.8", "sep.health before sep.initialize is answered with the error -32010", sepTooSoon)),
		must("S5.1", "sep.health is answered with its seq and a status of the contract", sepHealth),
		should("S5.2", "a seq of 64 bits is answered exactly", sepLongSeq),
		must("S5.3", "sep.health is answered within heartbeatIntervalMs while events come", sepHealthInStorm),
		must("S6.1", "each event of its manifest is taken, also with data that it does not know", sepEvents),
		must("S6.2", "an event that it does not know is ignored", sepOtherEvent),
		raw(must("S7.1", "it lives on if all that it asks for is denied", sepDenied)),
		must("S7.2", "it asks for methods of the contract, whose permissions its manifest declares", nil),
		should("S7.3", "it stays below its maxRequestsPerSecond", nil),
		must("S7.4", "the panels that it registers are valid", nil),
		must("S8.1", "sep.shutdown is answered with {}", sepShutdown),
		must("S8.2", "it exits within 3 s of sep.shutdown", sepExits),
		should("S8.3", "its exit status is 0 then", sepExitsWell),
		should("S8.4", "it exits at the end of the connection", sepExitsAtEnd),
		should("S8.5", "SIGTERM ends it", sepExitsOnTerm),
	}
}

func sepConnects(_ context.Context, t *sepTalk) outcome { return without(t.introduced()) }

// unknown is a method that no version has.
const unknown = "sep.unknown"

// refused checks that a request is answered with an error of a code.
func refusedWith(err error, code int) outcome {
	var rpc *wire.RPCError
	if !errors.As(err, &rpc) {
		return when(false, "%v", orResult(err))
	}
	return when(rpc.Code == code, "%v", rpc)
}

func orResult(err error) error {
	if err == nil {
		return errors.New("a result")
	}
	return err
}

func sepPieces(ctx context.Context, t *sepTalk) outcome {
	t.out.small.Store(true)
	defer t.out.small.Store(false)
	return without(t.healthy(ctx, 1))
}

func sepLarge(ctx context.Context, t *sepTalk) outcome {
	_, err := t.ask(ctx, unknown, map[string]string{"text": strings.Repeat("x", 1<<20)})
	return refusedWith(err, -32601)
}

func sepTwoAtOnce(ctx context.Context, t *sepTalk) outcome {
	one := []byte(`{"jsonrpc":"2.0","method":"sep.unknown_event"}`)
	two := append(frame(plainHeader, one), frame(plainHeader, one)...)
	if _, err := t.p.Out.Write(two); err != nil {
		return without(err)
	}
	return without(t.healthy(ctx, 1))
}

func sepUnknownMethod(ctx context.Context, t *sepTalk) outcome {
	_, err := t.ask(ctx, unknown, nil)
	return refusedWith(err, -32601)
}

func sepUnknownNotification(ctx context.Context, t *sepTalk) outcome {
	if err := t.peer.Notify(unknown, map[string]int{"a": 1}); err != nil {
		return without(t.gone())
	}
	return without(t.healthy(ctx, 1))
}

func sepUnknownMembers(ctx context.Context, t *sepTalk) outcome {
	if _, err := t.ask(ctx, "sep.health", map[string]any{"seq": 1, "later": []int{1}}); err != nil {
		return without(err)
	}
	if err := t.conn.Send([]byte(`{"jsonrpc":"2.0","later":{},"method":"sep.unknown_event"}`)); err != nil {
		return without(err)
	}
	return without(t.healthy(ctx, 2))
}

// sepTextID sends a request directly on the connection. For the peer, the answer has no request.
func sepTextID(ctx context.Context, t *sepTalk) outcome {
	t.mu.Lock()
	t.expect = `the id "a b"`
	t.mu.Unlock()
	if err := t.conn.Send([]byte(`{"jsonrpc":"2.0","id":"a b","method":"sep.health","params":{"seq":7}}`)); err != nil {
		return without(err)
	}
	if err := t.healthy(ctx, 1); err != nil {
		return without(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, what := range t.odd {
		if strings.Contains(what, t.expect) {
			return pass()
		}
	}
	return fail(`no answer with the id "a b"`)
}

func sepNoJSON(ctx context.Context, t *sepTalk) outcome {
	if err := t.conn.Send([]byte(`{"jsonrpc":`)); err != nil {
		return without(err)
	}
	return without(t.alive(ctx))
}

func sepBatch(ctx context.Context, t *sepTalk) outcome {
	if err := t.conn.Send([]byte(`[{"jsonrpc":"2.0","id":1,"method":"sep.health","params":{"seq":1}}]`)); err != nil {
		return without(err)
	}
	return without(t.alive(ctx))
}

// alive checks the health twice: an error with the id null, which the first message may have had as its
// answer, fails the first.
func (t *sepTalk) alive(ctx context.Context) error {
	t.mu.Lock()
	t.lenient = true
	t.mu.Unlock()
	if err := t.healthy(ctx, 1); err == nil {
		return nil
	}
	return t.healthy(ctx, 2)
}

func sepInitializes(ctx context.Context, t *sepTalk) outcome { return without(t.initialize(ctx)) }

// greeting is the result of sep.initialize.
type greeting struct {
	ID      string `json:"extensionId"`
	Version string `json:"version"`
	API     string `json:"apiVersion"`
}

func (t *sepTalk) greeting(ctx context.Context, version string) (g greeting, err error) {
	result, err := t.greet(ctx, version)
	if err == nil {
		err = json.Unmarshal(result, &g)
	}
	return g, err
}

func sepIdentity(ctx context.Context, t *sepTalk) outcome {
	g, err := t.greeting(ctx, sep.APIVersion)
	m := t.s.o.Manifest
	switch {
	case err != nil:
		return without(err)
	case g.ID != m.ID:
		return fail("extensionId is %.140q, the manifest has %q", g.ID, m.ID)
	}
	return when(g.Version == m.Version, "version is %.60q, the manifest has %q", g.Version, m.Version)
}

// sepVersion checks the version that a host of this version gets.
func sepVersion(host string) func(context.Context, *sepTalk) outcome {
	return func(ctx context.Context, t *sepTalk) outcome {
		g, err := t.greeting(ctx, host)
		if err != nil {
			return without(err)
		}
		return without(sep.CheckVersion(g.API, t.s.o.Manifest.APIVersion, host))
	}
}

func sepOtherMajor(ctx context.Context, t *sepTalk) outcome {
	_, err := t.greet(ctx, "2.0.0")
	var rpc *wire.RPCError
	if !errors.As(err, &rpc) {
		return when(false, "%v", orResult(err))
	}
	return when(rpc.Code == -32012 && strings.Contains(string(rpc.Data), `"version_unsupported"`), "%v %s", rpc, rpc.Data)
}

func sepTwice(ctx context.Context, t *sepTalk) outcome {
	_, err := t.greet(ctx, sep.APIVersion)
	return refusedWith(err, -32011)
}

func sepTooSoon(ctx context.Context, t *sepTalk) outcome {
	if err := t.introduced(); err != nil {
		return without(err)
	}
	_, err := t.ask(ctx, "sep.health", map[string]int{"seq": 1})
	return refusedWith(err, -32010)
}

func sepHealth(ctx context.Context, t *sepTalk) outcome {
	for seq := range uint64(3) {
		if err := t.healthy(ctx, seq+1); err != nil {
			return without(err)
		}
	}
	return pass()
}

func sepLongSeq(ctx context.Context, t *sepTalk) outcome {
	return without(t.healthy(ctx, 1<<63+1))
}

// storm is the number of events that arrive at once.
const storm = 1000

// event sends an event.
func (t *sepTalk) event(topic string, seq int, data any) error {
	return t.peer.Notify("sep.event", map[string]any{"event": topic, "seq": seq, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "data": data})
}

func sepHealthInStorm(ctx context.Context, t *sepTalk) outcome {
	topics := t.s.terms.Events
	if len(topics) == 0 {
		return skip("it subscribes to no events")
	}
	for i := range storm {
		if err := t.event(topics[i%len(topics)], i+1, map[string]any{}); err != nil {
			return without(t.gone())
		}
	}
	began := time.Now()
	if err := t.healthy(ctx, 1); err != nil {
		return without(err)
	}
	took := time.Since(began)
	return when(took < t.s.terms.Heartbeat, "after %v", took)
}

func sepEvents(ctx context.Context, t *sepTalk) outcome {
	if len(t.s.terms.Events) == 0 {
		return skip("it subscribes to no events")
	}
	seq := 0
	for _, topic := range t.s.terms.Events {
		for _, data := range []any{map[string]any{}, map[string]any{"later": []any{1, "a", nil}}} {
			seq++
			if err := t.event(topic, seq, data); err != nil {
				return without(t.gone())
			}
		}
		if err := t.healthy(ctx, uint64(seq)); err != nil {
			return fail("after %s: %v", topic, err)
		}
	}
	return pass()
}

func sepOtherEvent(ctx context.Context, t *sepTalk) outcome {
	if err := t.event("later.unknown", 1, map[string]any{}); err != nil {
		return without(t.gone())
	}
	return without(t.healthy(ctx, 1))
}

// sepDenied runs the extension without permissions. It still sends the events of the manifest, since these
// make the extension send requests.
func sepDenied(ctx context.Context, t *sepTalk) outcome {
	t.mu.Lock()
	t.granted = nil
	t.mu.Unlock()
	if err := t.initialize(ctx); err != nil {
		return without(err)
	}
	if o := sepEvents(ctx, t); o.status != Skip {
		return o
	}
	return without(t.healthy(ctx, 1))
}

// shutdown asks the extension to end.
func (t *sepTalk) shutdown(ctx context.Context) (json.RawMessage, error) {
	return t.ask(ctx, "sep.shutdown", map[string]any{"reason": "host_exit", "graceMs": 3000})
}

func sepShutdown(ctx context.Context, t *sepTalk) outcome {
	result, err := t.shutdown(ctx)
	if err != nil {
		return without(err)
	}
	var empty map[string]any
	err = json.Unmarshal(result, &empty)
	return when(err == nil && len(empty) == 0 && empty != nil, "%.60s", result)
}

// exited asks the extension to end and waits for its exit.
func (t *sepTalk) exited(ctx context.Context) error {
	if _, err := t.shutdown(ctx); err != nil {
		return err
	}
	t.peer.Leave()
	if !t.exits(t.s.o.Exit) {
		return fmt.Errorf("it still runs %v after its answer to sep.shutdown", t.s.o.Exit)
	}
	return nil
}

func sepExits(ctx context.Context, t *sepTalk) outcome { return without(t.exited(ctx)) }

func sepExitsWell(ctx context.Context, t *sepTalk) outcome {
	if err := t.exited(ctx); err != nil {
		return without(err)
	}
	status := t.p.Close()
	return when(status == "exit status 0", "%s", status)
}

func sepExitsAtEnd(_ context.Context, t *sepTalk) outcome {
	t.conn.Close()
	return when(t.exits(t.s.o.Exit), "it still runs %v after the end of the connection", t.s.o.Exit)
}

func sepExitsOnTerm(_ context.Context, t *sepTalk) outcome {
	t.p.End(false)
	return when(t.exits(t.s.o.Exit), "it still runs %v after SIGTERM", t.s.o.Exit)
}
