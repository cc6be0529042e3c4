package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/plugin/sep"
	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// guest is a process of an extension, whose messages are judged and answered.
type guest struct {
	*talk
	s     *sepSuite
	token string
	asks  []time.Time // when it asked
}

// launchExtension starts a process without a host.
func (s *sepSuite) launchExtension(ctx context.Context, clause string) (*talk, error) {
	starting, cancel := context.WithTimeout(ctx, s.terms.Startup)
	defer cancel()
	stream, token, err := sep.Launch(starting, sep.Options{
		Manifest: s.o.Manifest, Dir: s.o.Dir, Env: s.Env, Set: s.o.Set, Stdio: s.o.Stdio,
		Entry: &sep.Entry{Enabled: true, Approved: true},
	}, s.Stderr)
	if err != nil {
		return nil, err
	}
	t := s.with(clause, stream)
	t.closes, t.known = "the connection", token == ""
	g := &guest{talk: t, s: s, token: token}
	t.read(wire.Limits{Body: s.terms.Limits.MaxRequestBytes, Strict: true}, "S2.1", g.judge)
	return t, nil
}

// granted returns the permissions in the test of a clause.
func (s *sepSuite) granted(clause string) []string {
	if clause == "S7.1" {
		return nil
	}
	return s.terms.Granted
}

// judge notes the faults of a message that is no answer, and answers a request.
func (g *guest) judge(m *wire.Message) {
	stray := func(format string, args ...any) {
		if g.clause != "S3.7" && g.clause != "S3.8" { // where a request may have got an error in place of its answer
			g.note("S3.2", format, args...)
		}
	}
	null := string(m.ID) == "null"
	switch {
	case m.Kind == wire.Notification:
		g.notified(m)
	case m.Kind == wire.Response && null: // the answer to an invalid message
	case m.Kind == wire.Response:
		stray("a response with the id %.40s, which has no request", m.ID)
	case m.Kind == wire.Request && !null:
		g.requested(m)
	default:
		why := m.Why
		if m.Kind == wire.Request {
			why = "the id of a request is null"
		}
		g.note("S3.1", "%s", why)
		stray("an ignored message: %s", why)
	}
}

// notified handles a notification: sep.hello is the only one.
func (g *guest) notified(m *wire.Message) {
	var p struct {
		Token string `json:"token"`
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case m.Method != "sep.hello":
		g.note("S3.10", "a notification %.60q, the contract has sep.hello alone", m.Method)
	case g.known:
	case wire.Decode(m.Params, &p) != nil || p.Token != g.token:
		g.note("S1.2", "sep.hello has not the value of SEP_TOKEN")
	default:
		g.known = true
	}
}

// requested answers a request of the extension as a host does.
func (g *guest) requested(m *wire.Message) {
	if !g.isKnown() {
		g.note("S1.2", "a request %.60q before sep.hello", m.Method)
	}
	g.asks = append(g.asks, time.Now())
	// On a busy machine a second's requests may arrive with those of the next one.
	most := g.s.terms.Limits.MaxRequestsPerSecond
	if n := len(g.asks); n > 2*most && g.asks[n-1].Sub(g.asks[n-1-2*most]) < time.Second {
		g.note("S7.3", "more than %d requests in a second, expected at most %d", 2*most, most)
	}
	if !g.answered("sep.initialize") {
		g.note("S4.6", "a request %.60q before the answer to sep.initialize", m.Method)
	}
	if _, whole := m.Number(); !whole && m.ID[0] != '"' {
		g.note("S3.9", "the id %.40s", m.ID)
	}
	permission, known := permissionOf(m.Method)
	switch {
	case !known:
		g.note("S7.2", "the method %.60q, which the contract lacks", m.Method)
		g.reply(m, nil, &wire.RPCError{Code: -32601, Message: "method not found", Data: json.RawMessage(`{"reason":"method_not_found"}`)})
	case permission != "" && !slices.Contains(g.s.o.Manifest.Permissions, permission):
		g.note("S7.2", "%s, whose permission %s the manifest does not declare", m.Method, permission)
		fallthrough
	case permission != "" && !slices.Contains(g.s.granted(g.clause), permission):
		g.reply(m, nil, &wire.RPCError{Code: -32001, Message: "denied", Data: json.RawMessage(fmt.Sprintf(`{"reason":"permission_denied","permission":%q,"method":%q,"cause":"not_granted"}`, permission, m.Method))})
	default:
		g.reply(m, g.agree(m), nil)
	}
}

func (g *guest) isKnown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known
}

func permissionOf(method string) (permission string, known bool) {
	p, known := map[string]string{
		"host.get_capabilities": "", "host.messages.send": manifest.MessagesSend, "host.messages.list": manifest.MessagesRead,
		"host.contacts.list": manifest.ContactsRead, "host.ui.register_tool_panel": manifest.RegisterTools, "host.notifications.toast": manifest.Notify,
	}[method]
	return p, known
}

// agree returns the result of a request that is granted.
func (g *guest) agree(m *wire.Message) any {
	switch m.Method {
	case "host.get_capabilities":
		t := g.s.terms
		return map[string]any{"apiVersion": sep.APIVersion, "permissions": t.Granted, "denied": []string{}, "methods": []string{"host.get_capabilities"}, "events": t.Events, "limits": t.Limits}
	case "host.messages.send":
		return map[string]string{"messageId": "1", "state": "queued"}
	case "host.messages.list":
		return sep.MessagePage{Messages: []sep.Message{}}
	case "host.contacts.list":
		return sep.ContactPage{Contacts: []sep.Contact{}}
	case "host.ui.register_tool_panel":
		var p manifest.Panel
		if err := wire.Decode(m.Params, &p); err != nil {
			g.note("S7.4", "%s: %v", m.Method, err)
		} else if member, what := manifest.PanelProblem(p); member != "" {
			g.note("S7.4", "%s: %s: %s", m.Method, member, what)
		}
		return map[string]string{"panelId": p.ID}
	}
	return struct{}{}
}
