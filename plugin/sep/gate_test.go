package sep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// calls are valid params for each method.
var calls = []struct{ method, permission, params string }{
	{"host.get_capabilities", "", "{}"},
	{"host.messages.send", manifest.MessagesSend, `{"destination":"a","content":"b"}`},
	{"host.messages.list", manifest.MessagesRead, "{}"},
	{"host.contacts.list", manifest.ContactsRead, "{}"},
	{"host.ui.register_tool_panel", manifest.RegisterTools, `{"id":"p","title":"P","slot":"tools.page.primary"}`},
	{"host.notifications.toast", manifest.Notify, `{"level":"info","message":"m"}`},
}

// talk runs an extension that answers the handshake and then runs the function talk.
func talk(t *testing.T, o Options, talk func(c *child)) *Extension {
	t.Helper()
	over := make(chan struct{})
	x, _ := begun(t, o, func(c *child) {
		c.greet()
		talk(c)
		close(over)
		c.loop(func(message) {})
	})
	<-over
	return x
}

// TestPermissions calls each method with its permission granted, declared but not granted, and not
// declared.
func TestPermissions(t *testing.T) {
	all := manifest.Permissions()
	for name, c := range map[string]struct {
		declared, grant []string
		trust           string
		approved        bool
		cause           func(permission string) string // "" for allowed
	}{
		"granted":      {all, nil, manifest.FirstParty, false, func(string) string { return "" }},
		"not granted":  {all, []string{}, manifest.FirstParty, false, func(string) string { return "not_granted" }},
		"not declared": {[]string{}, all, manifest.FirstParty, false, func(string) string { return "not_declared" }},
		"not approved": {all, all, manifest.TrustedThirdParty, false, func(string) string { return "policy" }},
		"approved":     {all, nil, manifest.TrustedThirdParty, true, func(string) string { return "" }},
		"local, listed": {all, []string{manifest.Notify}, manifest.UntrustedLocal, false, func(p string) string {
			if p == manifest.Notify {
				return ""
			}
			return "not_granted"
		}},
		"local": {all, nil, manifest.UntrustedLocal, false, func(string) string { return "not_granted" }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var audit, want []Decision
				m := parsed(t, `"first_party"`, `"`+c.trust+`"`)
				m.Permissions, m.Events = c.declared, nil
				denied := 0
				o := Options{
					Manifest: m, Entry: &Entry{Enabled: true, Approved: c.approved, Grant: c.grant}, Provider: NewFeed(nobody),
					Audit: func(d Decision) { audit = append(audit, d) },
				}
				x := talk(t, o, func(k *child) {
					for _, call := range calls {
						got := k.ask(call.method, call.params)
						d := Decision{Time: time.Now().UTC(), Extension: "acme.lint", Method: call.method, Permission: call.permission, Decision: "allow", Reason: "granted"}
						cause := ""
						if call.permission == "" {
							d.Reason = "no_permission_needed"
						} else if cause = c.cause(call.permission); cause != "" {
							d.Decision, d.Reason = "deny", cause
							denied++
						}
						want = append(want, d)
						refusal := fmt.Sprintf(`-32001 {"reason":"permission_denied","permission":%q,"method":%q,"cause":%q} %[2]s requires the permission %[1]s`, call.permission, call.method, cause)
						if cause != "" && got != refusal || cause == "" && strings.Contains(got, "permission_denied") {
							t.Errorf("%s: got %s\nwant %s", call.method, got, refusal)
						}
					}
				})
				synctest.Wait()
				if diff := cmp.Diff(want, audit); diff != "" {
					t.Error(diff)
				}
				if n := x.Status().Counters.Denied; n != denied {
					t.Errorf("%d denied, want %d", n, denied)
				}
			})
		})
	}
}

// TestOff checks which extensions are never started.
func TestOff(t *testing.T) {
	for name, c := range map[string]struct {
		trust string
		entry *Entry
		want  string
	}{
		"disabled":            {manifest.FirstParty, &Entry{}, "it is disabled"},
		"local, no entry":     {manifest.UntrustedLocal, nil, "its trust level is untrusted_local"},
		"local, disabled":     {manifest.UntrustedLocal, &Entry{Grant: manifest.Permissions()}, "it is disabled"},
		"third, disabled":     {manifest.TrustedThirdParty, &Entry{Approved: true}, "it is disabled"},
		"a refused manifest":  {`first_party","platformProfile":"android","android":{"runtimeMode":"packaged_module","allowBackgroundExecution":false},"name":"x`, nil, "desktop"},
		"a signed manifest":   {`first_party","signing":{"required":true,"keyId":"k","signature":""},"name":"x`, nil, "verifies"},
		"another platform":    {`first_party","compatibility":{"platforms":["android-arm64"]},"name":"x`, nil, "platform"},
		"another API version": {`first_party","apiVersion":"2.0.0","name":"x`, nil, "version_unsupported"},
	} {
		text := strings.Replace(minimal, "first_party", c.trust, 1)
		if strings.Contains(c.trust, `"name"`) {
			text = strings.Replace(text, `"name":"Lint",`, "", 1)
		}
		if strings.Contains(c.trust, `"apiVersion"`) {
			text = strings.Replace(text, `"apiVersion":"1.0.0",`, "", 1)
		}
		m, err := manifest.Parse("manifest.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		launcher := &memory{run: []func(*child){(*child).serve}}
		x, err := Start(t.Context(), Options{Manifest: m, Entry: c.entry, Launcher: launcher})
		if err == nil {
			x.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || launcher.launches() > 0 {
			t.Errorf("%s: got %v after %d starts, want %s", name, err, launcher.launches(), c.want)
		}
	}
}

// TestUntrustedLimits: an extension of the level untrusted_local has the lower of its own limit and
// bento's.
func TestUntrustedLimits(t *testing.T) {
	m := parsed(t, "first_party", manifest.UntrustedLocal, "65536", "100000", "5000", "20000", `"maxConcurrentRequests":4`, `"maxConcurrentRequests":400`)
	got := Settle(m, &Entry{Enabled: true})
	if want := (manifest.Limits{MaxRequestBytes: 65536, MaxRequestsPerSecond: 10, MaxConcurrentRequests: 4}); got.Limits != want || got.Startup != 10*time.Second {
		t.Errorf("got %+v, %v", got.Limits, got.Startup)
	}
	m.TrustLevel = manifest.FirstParty
	if got := Settle(m, nil); got.Limits != m.Limits || got.Startup != 20*time.Second {
		t.Errorf("got %+v, %v", got.Limits, got.Startup)
	}
}

// TestErrors checks the exact answers to bad requests.
func TestErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		long := strings.Repeat("x", 501)
		m := parsed(t, `"heartbeatIntervalMs":2000`, `"heartbeatIntervalMs":120000`)
		talk(t, Options{Manifest: m, Provider: failing{}}, func(c *child) {
			for _, e := range []struct{ body, want string }{
				{`{]`, `null -32700 {"reason":"parse_error"} malformed frame: no JSON at byte 1: expected a name in quotes, got "]"`},
				{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `null -32700 {"reason":"parse_error"} malformed frame: invalid UTF-8 at byte 34: "\xff\"}"`},
				{`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, `null -32700 {"reason":"parse_error"} malformed frame: JSON nested too deep, more than 64 levels`},
				{`[{"jsonrpc":"2.0","id":1,"method":"x"}]`, `null -32600 {"reason":"invalid_request"} the message is not a JSON object (this protocol has no batches)`},
				{`{"jsonrpc":"1.0","id":1,"method":"x"}`, `1 -32600 {"reason":"invalid_request"} the message has "jsonrpc":"1.0", expected "2.0"`},
				{`{"jsonrpc":"2.0","id":null,"method":"x"}`, `null -32600 {"reason":"invalid_request"} the id of a request is null`},
				{`{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `null -32600 {"reason":"invalid_request"} the id of a request is not a string or an integer of 64 bits`},
				{`{"jsonrpc":"2.0","id":1e99,"method":"x"}`, `null -32600 {"reason":"invalid_request"} the id of a request is not a string or an integer of 64 bits`},
				{`{"jsonrpc":"2.0","id":true,"method":"x"}`, `null -32600 {"reason":"invalid_request"} the id is neither a string nor a number`},
				{`{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, `2 -32600 {"reason":"invalid_request"} the message has two members "id"`},
				{`{"jsonrpc":"2.0","id":1,"method":"host.get_capabilities","params":{"a":{"b":1,"b":2}}}`, `1 -32600 {"reason":"invalid_request"} params: a.b: expected one value, got two`},
				{`{"jsonrpc":"2.0","id":"a","method":"host.files.read"}`, `"a" -32601 {"reason":"method_not_found"} method not found: "host.files.read"`},
				{`{"jsonrpc":"2.0","id":1.0,"method":"sep.health"}`, `1.0 -32601 {"reason":"method_not_found"} method not found: "sep.health"`},
				{`{"jsonrpc":"2.0","id":2,"method":"sep.initialize"}`, `2 -32011 {"reason":"already_initialized"} the extension is initialized`},
				{`{"jsonrpc":"2.0","id":3,"method":"host.get_capabilities","params":[]}`, `3 -32602 {"reason":"invalid_params","path":""} params: expected an object, got an array`},
				{`{"jsonrpc":"2.0","id":3,"method":"host.messages.list","params":{"limit":201}}`, `3 -32602 {"reason":"invalid_params","path":"limit"} params: limit is 201, required 1 to 200`},
				{`{"jsonrpc":"2.0","id":3,"method":"host.contacts.list","params":{"limit":0}}`, `3 -32602 {"reason":"invalid_params","path":"limit"} params: limit: expected an integer from 1 to 2147483647, or null, got 0`},
				{`{"jsonrpc":"2.0","id":3,"method":"host.contacts.list","params":{"limit":501}}`, `3 -32602 {"reason":"invalid_params","path":"limit"} params: limit is 501, required 1 to 500`},
				{`{"jsonrpc":"2.0","id":3,"method":"host.messages.send","params":{"destination":"a"}}`, `3 -32602 {"reason":"invalid_params","path":"content"} params: content: expected a string, got nothing`},
			} {
				c.check(t, e.body, e.want)
				time.Sleep(5 * time.Second) // keeps below the limits of errors and of requests
			}
			for _, e := range []struct{ method, params, want string }{
				{"host.ui.register_tool_panel", `{"id":"A","title":"t","slot":"tools.page.primary"}`, `-32602 {"reason":"invalid_params","path":"id"} params: id: required lower-case letters and digits, with one ".", "_" or "-" between parts, at most 128 characters`},
				{"host.ui.register_tool_panel", `{"id":"a","title":"","slot":"tools.page.primary"}`, `-32602 {"reason":"invalid_params","path":"title"} params: title: required 1 to 80 characters`},
				{"host.ui.register_tool_panel", `{"id":"a","title":"t","slot":"x"}`, `-32602 {"reason":"invalid_params","path":"slot"} params: slot: "x", required tools.page.primary, tools.page.secondary or tools.page.advanced`},
				{"host.notifications.toast", `{"level":"loud","message":"m"}`, `-32602 {"reason":"invalid_params","path":"level"} params: level is "loud", required info, success, warning or error`},
				{"host.notifications.toast", `{"level":"info","message":""}`, `-32602 {"reason":"invalid_params","path":"message"} params: message has 0 characters, required 1 to 500`},
				{"host.notifications.toast", `{"level":"info","message":"` + long + `"}`, `-32602 {"reason":"invalid_params","path":"message"} params: message has 501 characters, required 1 to 500`},
				{"host.notifications.toast", `{"level":"info","message":"m","durationMs":30001}`, `-32602 {"reason":"invalid_params","path":"durationMs"} params: durationMs is 30001, required 1000 to 30000`},
				{"host.messages.send", `{"destination":"","content":"b"}`, `-32602 {"reason":"invalid_params","path":"destination"} params: destination is empty, required a conversation`},
				{"host.messages.send", `{"destination":"none","content":"b"}`, `-32018 {"reason":"unavailable"} not offered by bento`},
				{"host.messages.send", `{"destination":"secret","content":"b"}`, `-32603 {"reason":"internal"} bento could not answer`},
				{"host.messages.send", `{"destination":"slow","content":"b"}`, `-32016 {"reason":"timeout"} the request took longer than 10s`},
				{"host.messages.send", `{"destination":"large","content":"b"}`, `-32015 {"reason":"payload_too_large"} the result has more than 4194304 bytes`},
				{"host.messages.list", `{"before":"x"}`, `-32602 {"reason":"invalid_params","path":"before"} params: before is "x", required the member "next" of a page`},
			} {
				if got := c.ask(e.method, e.params); got != e.want {
					t.Errorf("%s %.80s:\n got %s\nwant %s", e.method, e.params, got, e.want)
				}
			}
		})
	})
}

// check sends a body and compares the answer.
func (c *child) check(t *testing.T, body, want string) {
	t.Helper()
	if body != "" {
		_ = c.Send([]byte(body))
	}
	for {
		m := c.read()
		if c.healthy(m) {
			continue
		}
		got := string(m.ID) + " " + string(m.Result)
		if m.Error != nil {
			got = fmt.Sprintf("%s %d %s %s", m.ID, m.Error.Code, m.Error.Data, m.Error.Message)
		}
		if m.ID == nil {
			got = "null" + got
		}
		if got != want {
			t.Errorf("%.80s:\n got %s\nwant %s", body, got, want)
		}
		return
	}
}

// failing is a provider whose failure depends on the destination.
type failing struct{ none }

func (failing) Send(ctx context.Context, m Outgoing) (Sent, error) {
	switch m.Destination {
	case "none":
		return Sent{}, ErrUnavailable
	case "slow":
		<-ctx.Done()
		return Sent{}, ctx.Err()
	case "large":
		return Sent{MessageID: strings.Repeat("x", maxSent)}, nil
	}
	return Sent{}, errors.New("the password is hunter2")
}

func (failing) Messages(context.Context, MessageQuery) (MessagePage, error) {
	return MessagePage{}, &CursorError{"before", "x"}
}

// TestOrder: if a request has several faults, the host reports the first in the fixed order.
func TestOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := parsed(t, `"maxRequestsPerSecond":20`, `"maxRequestsPerSecond":2`, `"maxConcurrentRequests":4`, `"maxConcurrentRequests":1`)
		m.Permissions, m.Events = []string{manifest.MessagesSend}, nil
		newer := append(methods(), method{name: "host.new", permission: manifest.Notify, since: 1})
		launcher := &memory{run: []func(c *child){func(c *child) {
			c.read()
			// Before the answer to sep.initialize. A bad id is reported even for an unknown method.
			c.check(t, `{"jsonrpc":"2.0","id":1.5,"method":"nothing"}`, `null -32600 {"reason":"invalid_request"} the id of a request is not a string or an integer of 64 bits`)
			c.check(t, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, `1 -32010 {"reason":"not_initialized"} "nothing" before sep.initialize was answered`)
			c.write(`{"jsonrpc":"2.0","id":1,"result":%s}`, welcome)
			slow := `{"jsonrpc":"2.0","id":"slow","method":"host.messages.send","params":{"destination":"slow","content":""}}`
			_ = c.Send([]byte(slow))
			c.check(t, slow, `"slow" -32600 {"reason":"invalid_request"} a request with the id "slow" is not answered yet`)
			for range 2 { // one token is left, and one request is open
				c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.new"}`, `1 -32601 {"reason":"method_not_found"} method not found: "host.new"`)
				c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.contacts.list","params":7}`,
					`1 -32001 {"reason":"permission_denied","permission":"contacts.read","method":"host.contacts.list","cause":"not_declared"} host.contacts.list requires the permission contacts.read`)
			}
			c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.messages.send","params":7}`, `1 -32014 {"reason":"too_many_concurrent"} 1 requests are not answered yet, which is the largest number`)
			c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.messages.send","params":7}`, `1 -32013 {"reason":"rate_limited","retryAfterMs":500} more than 2 requests a second`)
			time.Sleep(500 * time.Millisecond)
			c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.messages.send","params":7}`, `1 -32014 {"reason":"too_many_concurrent"} 1 requests are not answered yet, which is the largest number`)
			c.check(t, ``, `"slow" -32016 {"reason":"timeout"} the request took longer than 10s`)
			c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.messages.send","params":7}`, `1 -32602 {"reason":"invalid_params","path":""} params: expected an object with "destination" and "content", got a number`)
			for m := c.read(); m.Method != "sep.shutdown"; m = c.read() {
				c.healthy(m)
			}
			c.hang()
		}}}
		x, err := start(t.Context(), Options{Manifest: m, Launcher: launcher, Provider: failing{}}, APIVersion, newer)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		x.Close()
		launcher.alive.Wait()
	})
}

// TestShuttingDown: a request after sep.shutdown is refused before a restart. At the end of bento it is
// answered, since an extension may show a message for the last event.
func TestShuttingDown(t *testing.T) {
	refused := `1 -32017 {"reason":"shutting_down"} the extension is being shut down`
	for name, want := range map[string]string{"restart": refused, "host_exit": "1 {}"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				first := true
				x, m := begun(t, Options{}, func(c *child) {
					c.greet()
					last := c.read()
					if first {
						first = false
						c.check(t, `{"jsonrpc":"2.0","id":1,"method":"host.notifications.toast","params":{"level":"info","message":"m"}}`, want)
						c.check(t, `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, `1 -32601 {"reason":"method_not_found"} method not found: "nothing"`)
					}
					c.reply(last, "{}")
				})
				synctest.Wait()
				if name == "restart" {
					x.Reload(t.Context())
					synctest.Wait()
				}
				x.Close()
				m.alive.Wait()
			})
		})
	}
}

// TestRateEdges: the host accepts as many requests at once as the rate allows, and one more after each new
// token.
func TestRateEdges(t *testing.T) {
	b := newBucket(4, time.Unix(0, 0))
	at := func(ms int) time.Time { return time.Unix(0, int64(ms)*1e6) }
	for i, c := range []struct{ ms, wait int }{
		{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 250}, {249, 1}, {250, 0}, {250, 250}, {2000, 0}, {2000, 0}, {2000, 0}, {2000, 0}, {2000, 250}, {1000, 250}, {2250, 0},
	} {
		if got := b.take(at(c.ms)); got != time.Duration(c.wait)*time.Millisecond {
			t.Errorf("%d: got %v, want %d ms", i, got, c.wait)
		}
	}
}

// TestVersions checks which versions an extension may choose.
func TestVersions(t *testing.T) {
	for _, c := range []struct{ host, manifest, chosen, want string }{
		{"1.2.0", "1.2.0", "1.2.0", ""},
		{"1.2.0", "1.0.0", "1.0.0", ""},
		{"1.2.0", "1.9.0", "1.2.0", ""},
		{"1.2.0", "1.9.0", "1.1.7", ""},
		{"1.2.0", "1.1.0", "1.2.0", "above 1.1.0 of the manifest"},
		{"1.2.0", "1.9.0", "1.3.0", "above 1.2.0 of the host"},
		{"1.2.0", "1.9.0", "1.2.1", "above 1.2.0 of the host"},
		{"1.2.0", "1.2.0", "2.0.0", "required a version 1"},
		{"1.2.0", "1.2.0", "0.9.0", "required a version 1"},
		{"1.2.0", "1.2.0", "", "three numbers"},
		{"1.2.0", "1.2.0", "1.2", "three numbers"},
		{"1.2.0", "1.2.0", "1.2.0.0", "three numbers"},
		{"1.2.0", "1.2.0", "1.2.x", "three numbers"},
		{"1.2.0", "1.2.0", "1.+2.0", "three numbers"},
		{"1.2.0", "1.2.0", "1.99999999999999999999.0", "three numbers"},
		{"1.2.0", "1.99999999999999999999.0", "1.2.0", "of the manifest"},
	} {
		_, err := chosen(c.chosen, c.manifest, c.host)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// TestNegotiation: a method that is newer than the agreed version is unknown. Otherwise it is known.
func TestNegotiation(t *testing.T) {
	for chosen, want := range map[string]string{
		"1.0.0": `-32601 {"reason":"method_not_found"} method not found: "host.new"`,
		"1.1.0": `"new"`,
	} {
		bubble(t, func(t *testing.T) {
			newer := append(methods(), method{name: "host.new", since: 1, run: func(context.Context, *session, json.RawMessage) (any, *wire.RPCError) { return "new", nil }})
			launcher := &memory{run: []func(c *child){func(c *child) {
				c.reply(c.read(), strings.Replace(welcome, `apiVersion":"1.0.0`, `apiVersion":"`+chosen, 1))
				if got := c.ask("host.new", "{}"); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if got := c.ask("host.get_capabilities", "{}"); !strings.Contains(got, `{"apiVersion":"`+chosen+`"`) || strings.Contains(got, "host.new") != (chosen == "1.1.0") {
					t.Errorf("got %s", got)
				}
				c.loop(func(message) {})
			}}}
			x, err := start(t.Context(), Options{Manifest: parsed(t, `apiVersion":"1.0.0`, `apiVersion":"1.5.0`), Launcher: launcher}, "1.1.0", newer)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			x.Close()
			launcher.alive.Wait()
		})
	}
}

// TestCapabilities checks the exact answer.
func TestCapabilities(t *testing.T) {
	bubble(t, func(t *testing.T) {
		want := `{"apiVersion":"1.0.0","permissions":["events.subscribe","notifications.create"],"denied":["messages.read","messages.send","contacts.read","tools.register"],` +
			`"methods":["host.get_capabilities","host.notifications.toast"],"events":["run.started","run.finished"],` +
			`"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":20,"maxConcurrentRequests":4}}`
		talk(t, Options{Entry: &Entry{Enabled: true, Grant: []string{manifest.Notify, manifest.Subscribe}}}, func(c *child) {
			if got := c.ask("host.get_capabilities", "{}"); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	})
}

func TestToastsAndPanels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var toasts []Toast
		declared := strings.Replace(minimal, `"health":`, `"ui":{"toolPanels":[{"id":"own","title":"Own","slot":"tools.page.primary"}]},"health":`, 1)
		m, err := manifest.Parse("manifest.json", []byte(declared))
		if err != nil {
			t.Fatal(err)
		}
		events := make(chan string, 10)
		x, _ := begun(t, Options{Manifest: m, Toast: func(s Toast) { toasts = append(toasts, s) }}, func(c *child) {
			c.greet()
			c.ask("host.notifications.toast", `{"level":"warning","message":"red\u001b[31m","durationMs":1000}`)
			for i := range 31 {
				if got := c.ask("host.ui.register_tool_panel", fmt.Sprintf(`{"id":"p%d","title":"P","slot":"tools.page.advanced","action":"go"}`, i)); got != fmt.Sprintf(`{"panelId":"p%d"}`, i) {
					t.Errorf("got %s", got)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if got := c.ask("host.ui.register_tool_panel", `{"id":"more","title":"P","slot":"tools.page.advanced"}`); !strings.Contains(got, "32 panels are registered") {
				t.Errorf("got %s", got)
			}
			c.ask("host.ui.register_tool_panel", `{"id":"p0","title":"Again","slot":"tools.page.advanced","action":"go"}`)
			c.loop(func(m message) { events <- string(m.Params) })
		})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]Toast{{"acme.lint", "warning", "red[31m", 1000}}, toasts); diff != "" {
			t.Error(diff)
		}
		panels := x.Panels()
		if len(panels) != 32 || panels[0].ID != "own" || panels[1].Title != "Again" {
			t.Errorf("%d panels: %+v", len(panels), panels[:2])
		}
		if err := x.Invoke(t.Context(), "nothing", ""); err == nil {
			t.Error("an unknown panel was invoked")
		}
		for _, action := range []string{"", "other"} {
			if err := x.Invoke(t.Context(), "p0", action); err != nil {
				t.Error(err)
			}
		}
		x.Drain(t.Context())
		synctest.Wait()
		got := []string{<-events, <-events}
		if !strings.Contains(got[0], `"event":"tool.invoked","seq":1`) || !strings.Contains(got[0], `"data":{"action":"go","panelId":"p0"}`) || !strings.Contains(got[1], `"action":"other"`) {
			t.Errorf("got %q", got)
		}
	})
}
