package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// sepTalk is the conversation with one process of an extension, without the host. The suite either refuses
// or accepts all requests of the extension.
type sepTalk struct {
	s      *sepSuite
	clause string
	p      *sep.Process
	peer   *wire.Peer
	conn   *wire.Conn
	out    *splitter

	greeted chan struct{} // closed by a good sep.hello

	mu      sync.Mutex
	granted []string // permissions that are agreed to
	ready   *wire.Question
	odd     []string // messages that no request asked for
	expect  string   // an id that an answer may have besides those of requests
	lenient bool     // a request may have got an error in place of its answer
	asked   []string // methods that the extension has called
	asks    []time.Time
}

// launch starts a process for the test of a clause.
func (s *sepSuite) launch(ctx context.Context, clause string) (*sepTalk, error) {
	starting, cancel := context.WithTimeout(ctx, s.terms.Startup)
	defer cancel()
	p, err := sep.Launch(starting, sep.Options{
		Manifest: s.o.Manifest, Dir: s.o.Dir, Env: s.o.Env, Set: s.o.Set, Stdio: s.o.Stdio,
		Entry: &sep.Entry{Enabled: true, Approved: true},
	}, s.o.Stderr)
	if err != nil {
		return nil, err
	}
	t := &sepTalk{s: s, clause: clause, p: p, granted: s.terms.Granted, greeted: make(chan struct{})}
	if p.Token == "" {
		close(t.greeted)
	}
	t.out = &splitter{WriteCloser: p.Out}
	t.conn = wire.NewConn(p.In, t.out, wire.Limits{Body: s.terms.Limits.MaxRequestBytes, Sent: 4 << 20, Strict: true, Send: s.o.Within})
	t.peer = wire.NewPeer(t.conn, wire.PeerOptions{Request: t.request, Notify: t.notified, Bad: t.bad, Odd: t.strange, Trace: t.trace})
	return t, nil
}

// end kills the process.
func (t *sepTalk) end() {
	t.p.Close()
	t.peer.Close()
}

// splitter writes in several pieces if it is small.
type splitter struct {
	io.WriteCloser
	small atomic.Bool
}

func (p *splitter) Write(b []byte) (n int, err error) {
	const size = 7
	for p.small.Load() && len(b)-n > size && err == nil {
		var more int
		more, err = p.WriteCloser.Write(b[n : n+size])
		n += more
		time.Sleep(time.Millisecond) // so that each is read separately
	}
	if err != nil {
		return n, err
	}
	more, err := p.WriteCloser.Write(b[n:])
	return n + more, err
}

// CloseWrite closes the direction to the extension, also of a socket.
func (p *splitter) CloseWrite() error {
	if half, ok := p.WriteCloser.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return p.Close()
}

// trace passes messages on, without the token.
func (t *sepTalk) trace(sent bool, body []byte) {
	if t.s.o.Frame == nil {
		return
	}
	if !sent && t.p.Token != "" && !isClosed(t.greeted) {
		body = []byte(`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":"…"}}`)
	}
	t.s.o.Frame(t.clause, sent, body)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// notified handles a notification: sep.hello is the only one.
func (t *sepTalk) notified(method string, params json.RawMessage) {
	var p struct {
		Token string `json:"token"`
	}
	switch {
	case method != "sep.hello":
		t.s.seen.note("S3.10", "a notification %.60q, the contract has sep.hello alone", method)
	case isClosed(t.greeted):
	case wire.Decode(params, &p) != nil || p.Token != t.p.Token:
		t.s.seen.note("S1.2", "sep.hello has not the value of SEP_TOKEN")
	default:
		close(t.greeted)
	}
}

// bad notes bytes or a body that are not a message.
func (t *sepTalk) bad(_ []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
	clause := "S2.1"
	if m != nil {
		clause = "S3.1"
	}
	t.s.seen.note(clause, "%v", err)
	return nil, m == nil
}

// strange notes a message that the peer ignored.
func (t *sepTalk) strange(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.odd = append(t.odd, what)
	// An error with the id null is an answer to an invalid message.
	if !t.lenient && !strings.Contains(what, "with the id null") && (t.expect == "" || !strings.Contains(what, t.expect)) {
		t.s.seen.note("S3.2", "%s", what)
	}
}

// request answers a request of the extension as a host does.
func (t *sepTalk) request(in *wire.Incoming) {
	if !isClosed(t.greeted) {
		t.s.seen.note("S1.2", "a request %.60q before sep.hello", in.Method)
	}
	t.mu.Lock()
	early := t.ready == nil || !t.ready.Settled()
	t.asked, t.asks = append(t.asked, in.Method), append(t.asks, time.Now())
	granted := t.granted
	t.mu.Unlock()
	t.hurry()
	if early {
		t.s.seen.note("S4.6", "a request %.60q before the answer to sep.initialize", in.Method)
	}
	if m := (wire.Message{ID: in.ID}); in.ID[0] != '"' {
		if _, whole := m.Number(); !whole {
			t.s.seen.note("S3.9", "the id %.40s", in.ID)
		}
	}
	permission, known := permissionOf(in.Method)
	switch {
	case !known:
		t.s.seen.note("S7.2", "the method %.60q, which the contract lacks", in.Method)
		_ = in.Refuse(&wire.RPCError{Code: -32601, Message: "method not found", Data: json.RawMessage(`{"reason":"method_not_found"}`)})
	case permission != "" && !slices.Contains(t.s.o.Manifest.Permissions, permission):
		t.s.seen.note("S7.2", "%s, whose permission %s the manifest does not declare", in.Method, permission)
		fallthrough
	case permission != "" && !slices.Contains(granted, permission):
		_ = in.Refuse(&wire.RPCError{Code: -32001, Message: "denied", Data: json.RawMessage(fmt.Sprintf(`{"reason":"permission_denied","permission":%q,"method":%q,"cause":"not_granted"}`, permission, in.Method))})
	default:
		t.agree(in)
	}
}

// hurry notes more requests in a second than the manifest allows.
func (t *sepTalk) hurry() {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := t.s.terms.Limits.MaxRequestsPerSecond
	if n := len(t.asks); n > most && t.asks[n-1].Sub(t.asks[n-1-most]) < time.Second {
		t.s.seen.note("S7.3", "more than %d requests in a second", most)
	}
}

func permissionOf(method string) (permission string, known bool) {
	p, known := map[string]string{
		"host.get_capabilities": "", "host.messages.send": manifest.MessagesSend, "host.messages.list": manifest.MessagesRead,
		"host.contacts.list": manifest.ContactsRead, "host.ui.register_tool_panel": manifest.RegisterTools, "host.notifications.toast": manifest.Notify,
	}[method]
	return p, known
}

// agree answers a request well.
func (t *sepTalk) agree(in *wire.Incoming) {
	var result any = struct{}{}
	switch in.Method {
	case "host.get_capabilities":
		result = map[string]any{"apiVersion": sep.APIVersion, "permissions": t.s.terms.Granted, "denied": []string{}, "methods": []string{"host.get_capabilities"}, "events": t.s.terms.Events, "limits": t.s.terms.Limits}
	case "host.messages.send":
		result = map[string]string{"messageId": "1", "state": "queued"}
	case "host.messages.list":
		result = sep.MessagePage{Messages: []sep.Message{}}
	case "host.contacts.list":
		result = sep.ContactPage{Contacts: []sep.Contact{}}
	case "host.ui.register_tool_panel":
		var p manifest.Panel
		if err := wire.Decode(in.Params, &p); err != nil {
			t.s.seen.note("S7.4", "%s: %v", in.Method, err)
		} else if member, what := manifest.PanelProblem(p); member != "" {
			t.s.seen.note("S7.4", "%s: %s: %s", in.Method, member, what)
		}
		result = map[string]string{"panelId": p.ID}
	}
	_ = in.Reply(result)
}

// initializeParams are the params of sep.initialize of a host of these versions.
func (t *sepTalk) initializeParams(version string) map[string]any {
	return map[string]any{
		"hostName": "bento", "hostVersion": "0.0.0", "apiVersion": version, "supportedApiVersions": []string{version},
		"extensionId": t.s.o.Manifest.ID, "grantedPermissions": append([]string{}, t.granted...), "subscribedEvents": append([]string{}, t.s.terms.Events...),
		"limits": t.s.terms.Limits, "platformProfile": "desktop",
	}
}

// introduced waits for sep.hello.
func (t *sepTalk) introduced() error {
	timer := time.NewTimer(t.s.terms.Startup)
	defer timer.Stop()
	select {
	case <-t.greeted:
		return nil
	case <-t.peer.Done():
		return t.gone()
	case <-timer.C:
		return fmt.Errorf("timed out after %v: no sep.hello with the token", t.s.terms.Startup)
	}
}

// greet asks sep.initialize of a host of this version and returns the answer.
func (t *sepTalk) greet(ctx context.Context, version string) (json.RawMessage, error) {
	if err := t.introduced(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	q, err := t.peer.Ask("sep.initialize", t.initializeParams(version))
	if err == nil && t.ready == nil {
		t.ready = q
	}
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return t.answer(ctx, q, "sep.initialize", t.s.terms.Startup)
}

// initialize does the handshake.
func (t *sepTalk) initialize(ctx context.Context) error {
	_, err := t.greet(ctx, sep.APIVersion)
	return err
}

// ask makes a request and returns its result.
func (t *sepTalk) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	q, err := t.peer.Ask(method, params)
	if err != nil {
		return nil, t.gone()
	}
	return t.answer(ctx, q, method, t.s.o.Within)
}

func (t *sepTalk) answer(ctx context.Context, q *wire.Question, method string, within time.Duration) (json.RawMessage, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case a := <-q.Answered():
		if a.Err != nil {
			return nil, fmt.Errorf("%s: %w", method, a.Err)
		}
		return a.Result, nil
	case <-t.peer.Done():
	case <-timer.C:
		q.Drop()
		return nil, fmt.Errorf("timed out after %v: no answer to %s", within, method)
	case <-ctx.Done():
		q.Drop()
		return nil, ctx.Err()
	}
	select {
	case a := <-q.Answered(): // it arrived before the end
		return a.Result, a.Err
	default:
		return nil, fmt.Errorf("%s: %w", method, t.gone())
	}
}

// gone returns why the connection has ended.
func (t *sepTalk) gone() error {
	<-t.peer.Done()
	err := t.peer.Err()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		t.s.seen.note("S2.1", "%v", err)
	}
	if !t.exits(time.Second) {
		return fmt.Errorf("it closed the connection: %w", err)
	}
	return fmt.Errorf("it exited (%s)", t.p.Close())
}

// exits reports whether the process ends within this time.
func (t *sepTalk) exits(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-t.p.Exited:
		return true
	case <-timer.C:
		return false
	}
}

// healthy asks for the health and checks the answer.
func (t *sepTalk) healthy(ctx context.Context, seq uint64) error {
	result, err := t.ask(ctx, "sep.health", map[string]uint64{"seq": seq})
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
