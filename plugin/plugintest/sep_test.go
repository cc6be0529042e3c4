package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/extension"
	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

const sepPage = repository + "/docs/EXTENSION-PROTOCOL-SEP.md"

// sepClause is a clause of docs/EXTENSION-PROTOCOL-SEP.md.
var sepClause = regexp.MustCompile(`(?m)^\*\*(S\d+\.\d+)\*\* \((extension|bento), (MUST|SHOULD)\) (.*)$`)

// TestSEPClauses: every clause names a test. Each clause that binds extensions is an axis of the suite, at
// the same level and in the same order.
func TestSEPClauses(t *testing.T) {
	text, err := os.ReadFile(sepPage)
	if err != nil {
		t.Fatal(err)
	}
	var doc, suite, numbers []string
	for _, m := range sepClause.FindAllStringSubmatch(string(text), -1) {
		if slices.Contains(numbers, m[1]) {
			t.Errorf("there are two clauses %s", m[1])
		}
		numbers = append(numbers, m[1])
		if !testName.MatchString(m[4]) {
			t.Errorf("clause %s names no test", m[1])
		}
		if m[2] == "extension" {
			doc = append(doc, m[1]+" "+m[3])
		}
	}
	if n := strings.Count(string(text), "\n**S"); n != len(numbers) {
		t.Errorf("%d of %d clauses can be read", len(numbers), n)
	}
	for _, a := range (&sepSuite{o: SEPOptions{Manifest: &manifest.Manifest{}}}).axes() {
		suite = append(suite, a.clause+" "+string(a.level))
	}
	if diff := cmp.Diff(doc, suite); diff != "" {
		t.Errorf("docs/EXTENSION-PROTOCOL-SEP.md and the suite differ (-page +suite):\n%s", diff)
	}
}

// companion is a good extension on the SDK.
type companion struct{}

func (companion) Info() extension.Info {
	return extension.Info{Name: "companion", ID: "acme.companion", Version: "1.2.3"}
}

func (companion) Start(ctx context.Context, c *extension.Client) error {
	if !c.Granted(manifest.RegisterTools) {
		return nil
	}
	return c.Register(ctx, extension.Panel{ID: "deploy", Title: "Deploy", Slot: "tools.page.primary", Action: "go"})
}

func (companion) Event(ctx context.Context, c *extension.Client, e extension.Event) error {
	if e.Topic == "run.finished" {
		return c.Toast(ctx, "info", "done")
	}
	return nil
}

// sepTalker is a good extension that does not use the SDK, apart from the changes of a test.
type sepTalker struct {
	*wire.Conn
	raw   net.Conn
	ready bool
}

func (k *sepTalker) write(format string, args ...any) { _ = k.Send(fmt.Appendf(nil, format, args...)) }

func (k *sepTalker) greet() {
	k.write(`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":%q}}`, os.Getenv("SEP_TOKEN"))
}

// wholeReads takes a read that does not begin with a header for the end of the stream.
type wholeReads struct{ net.Conn }

func (w *wholeReads) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 && !strings.HasPrefix(string(b[:n]), "Content-Length: ") {
		return 0, io.EOF
	}
	return n, err
}

func (k *sepTalker) reply(id json.RawMessage, result string) {
	k.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (k *sepTalker) refuse(id json.RawMessage, code int, reason string) {
	k.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no","data":{"reason":%q}}}`, id, code, reason)
}

// sepBreak changes one thing in a talker: hello replaces the first message. The function before receives
// every message first and returns whether it has handled it. The function body receives the bytes of every
// body.
type sepBreak struct {
	breaks string // the clauses, separated by spaces
	hello  func(k *sepTalker)
	before func(k *sepTalker, m *wire.Message) bool
	body   func(k *sepTalker, body []byte) bool
	end    func()
	atEnd  func()
}

func sepKid(name string) {
	if name == "sdk" {
		extension.Main(companion{})
		leave()
	}
	b := sepBreaks()[name]
	network, path, _ := strings.Cut(os.Getenv("SEP_ENDPOINT"), ":")
	conn, err := net.Dial(network, path)
	if err != nil {
		leave()
	}
	k := &sepTalker{Conn: wire.NewConn(conn, conn, wire.Limits{}), raw: conn}
	if b.hello != nil {
		b.hello(k)
	} else {
		k.greet()
	}
	for {
		body, err := k.Recv()
		if err != nil {
			break
		}
		if b.body != nil && b.body(k, body) {
			continue
		}
		m, err := wire.ParseMessage(body, 1000)
		switch {
		case err != nil:
			k.refuse(json.RawMessage("null"), -32700, "parse_error")
		case m.Kind == wire.Invalid:
			k.refuse(json.RawMessage("null"), -32600, "invalid_request")
		case b.before != nil && b.before(k, &m):
		case m.Kind == wire.Request && k.serve(&m):
			if b.end != nil {
				b.end()
			}
			leave()
		}
	}
	if b.atEnd != nil {
		b.atEnd()
	}
	leave()
}

// serve answers a request correctly, and reports whether it was the last one.
func (k *sepTalker) serve(m *wire.Message) (last bool) {
	var p struct {
		API string          `json:"apiVersion"`
		Seq json.RawMessage `json:"seq"`
	}
	_ = json.Unmarshal(m.Params, &p)
	switch {
	case m.Method == "sep.initialize" && k.ready:
		k.refuse(m.ID, -32011, "already_initialized")
	case m.Method == "sep.initialize" && !strings.HasPrefix(p.API, "1."):
		k.refuse(m.ID, -32012, "version_unsupported")
	case m.Method == "sep.initialize":
		k.ready = true
		k.reply(m.ID, `{"extensionId":"acme.companion","version":"1.2.3","apiVersion":"1.0.0"}`)
	case !k.ready:
		k.refuse(m.ID, -32010, "not_initialized")
	case m.Method == "sep.health":
		k.reply(m.ID, `{"seq":`+string(p.Seq)+`,"status":"ok"}`)
	case m.Method == "sep.shutdown":
		k.reply(m.ID, "{}")
		return true
	default:
		k.refuse(m.ID, -32601, "method_not_found")
	}
	return false
}

// on changes how a talker handles messages of a method.
func (b sepBreak) on(method string, f func(k *sepTalker, m *wire.Message)) sepBreak {
	b.before = func(k *sepTalker, m *wire.Message) bool {
		if m.Method != method {
			return false
		}
		f(k, m)
		return true
	}
	return b
}

func calls(method, params string) func(k *sepTalker, m *wire.Message) {
	return func(k *sepTalker, _ *wire.Message) {
		k.write(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params)
	}
}

// sepBreaks returns the extensions that break one clause or a few, by name.
func sepBreaks() map[string]sepBreak {
	wait := func() { time.Sleep(time.Hour) }
	breaks := func(clauses string) sepBreak { return sepBreak{breaks: clauses} }
	initialize := func(clauses, answer string) sepBreak {
		return breaks(clauses).on("sep.initialize", func(k *sepTalker, m *wire.Message) {
			if k.ready || !strings.Contains(string(m.Params), `"apiVersion":"1.`) {
				k.serve(m)
				return
			}
			k.ready = true
			k.reply(m.ID, answer)
		})
	}
	return map[string]sepBreak{
		"good": {},
		"bad-token": {
			breaks: "S1.1 S1.2", hello: func(k *sepTalker) { k.write(`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":"x"}}`) },
		},
		"prints-frames":  breaks("S2.1").on("sep.event", func(k *sepTalker, _ *wire.Message) { _, _ = k.raw.Write([]byte("noise\r\n")) }),
		"small-buffer":   {breaks: "S2.3", body: func(_ *sepTalker, body []byte) bool { return len(body) > 1<<19 }},
		"no-version":     breaks("S3.1").on("sep.health", func(k *sepTalker, m *wire.Message) { k.write(`{"id":99,"result":{}}`); k.serve(m) }),
		"answers-twice":  breaks("S3.2").on("sep.health", func(k *sepTalker, m *wire.Message) { k.serve(m); k.serve(m) }),
		"knows-all":      breaks("S2.3 S3.3").on("sep.unknown", func(k *sepTalker, m *wire.Message) { k.replyIf(m) }),
		"dies-of-notice": breaks("S3.4").on("sep.unknown", func(k *sepTalker, m *wire.Message) { k.dieIf(m, m.ID == nil) }),
		"strict-members": {breaks: "S3.5", body: func(k *sepTalker, body []byte) bool {
			return strings.Contains(string(body), `"later":[1]`) && !strings.Contains(string(body), "sep.event")
		}},
		"number-ids":    {breaks: "S3.6", body: func(k *sepTalker, body []byte) bool { return strings.Contains(string(body), `"a b"`) }},
		"dies-of-noise": {breaks: "S3.7 S3.8", body: func(k *sepTalker, body []byte) bool { return (body[0] == '[' || body[len(body)-1] == ':') && leaves() }},
		"null-ids": breaks("S3.1").on("sep.event", func(k *sepTalker, _ *wire.Message) {
			k.write(`{"jsonrpc":"2.0","id":null,"method":"host.get_capabilities"}`)
		}),
		"fraction-ids": breaks("S3.9").on("sep.event", func(k *sepTalker, _ *wire.Message) {
			k.write(`{"jsonrpc":"2.0","id":1.5,"method":"host.get_capabilities"}`)
		}),
		"notifies":      breaks("S3.10").on("sep.event", func(k *sepTalker, _ *wire.Message) { k.write(`{"jsonrpc":"2.0","method":"log"}`) }),
		"other-id":      initialize("S4.2", `{"extensionId":"acme.x","version":"1.2.3","apiVersion":"1.0.0"}`),
		"other-version": initialize("S4.2", `{"extensionId":"acme.companion","version":"1.2.4","apiVersion":"1.0.0"}`),
		"later-api":     initialize("S4.3 S4.4", `{"extensionId":"acme.companion","version":"1.2.3","apiVersion":"1.9.0"}`),
		"any-major":     breaks("S4.5").on("sep.initialize", func(k *sepTalker, m *wire.Message) { m.Params = []byte(`{"apiVersion":"1.0.0"}`); k.serve(m) }),
		"asks-early": breaks("S4.6").on("sep.initialize", func(k *sepTalker, m *wire.Message) {
			calls("host.get_capabilities", "{}")(k, m)
			k.serve(m)
		}),
		"greets-twice": breaks("S4.7").on("sep.initialize", func(k *sepTalker, m *wire.Message) { k.ready = false; k.serve(m) }),
		"never-early":  breaks("S4.8").on("sep.health", func(k *sepTalker, m *wire.Message) { was := k.ready; k.ready = true; k.serve(m); k.ready = was }),
		"no-seq":       breaks("S2.2 S2.4 S3.4 S3.5 S3.6 S3.7 S3.8 S5.1 S5.2 S5.3 S6.1 S6.2 S7.1").on("sep.health", func(k *sepTalker, m *wire.Message) { k.reply(m.ID, `{"status":"ok"}`) }),
		"float-seq": breaks("S5.2").on("sep.health", func(k *sepTalker, m *wire.Message) {
			var p struct{ Seq float64 }
			_ = json.Unmarshal(m.Params, &p)
			k.reply(m.ID, fmt.Sprintf(`{"seq":%.0f,"status":"ok"}`, p.Seq))
		}),
		"dies-of-event":  breaks("S6.1 S7.1").on("sep.event", func(k *sepTalker, m *wire.Message) { k.dieIf(m, strings.Contains(string(m.Params), `"later":[1,`)) }),
		"dies-of-others": breaks("S6.2").on("sep.event", func(k *sepTalker, m *wire.Message) { k.dieIf(m, strings.Contains(string(m.Params), "later.unknown")) }),
		"needs-grants": breaks("S7.1").on("sep.event", func(k *sepTalker, m *wire.Message) {
			calls("host.notifications.toast", `{"level":"info","message":"m"}`)(k, m)
		}).andDiesOf(-32001),
		"asks-unknown": breaks("S7.2").on("sep.event", calls("host.files.read", "{}")),
		"asks-others":  breaks("S7.2").on("sep.event", calls("host.contacts.list", "{}")),
		"asks-often": breaks("S7.3").on("sep.event", func(k *sepTalker, m *wire.Message) {
			for range 300 {
				calls("host.get_capabilities", "{}")(k, m)
			}
		}),
		"odd-panel":     breaks("S7.4").on("sep.event", calls("host.ui.register_tool_panel", `{"id":"A","title":"t","slot":"tools.page.primary"}`)),
		"shutdown-null": breaks("S8.1").on("sep.shutdown", func(k *sepTalker, m *wire.Message) { k.reply(m.ID, "null"); leave() }),
		"stays":         {breaks: "S8.2 S8.3", end: wait},
		"exit-status":   {breaks: "S8.3", end: func() { os.Exit(3) }},
		"outlives":      {breaks: "S8.4", atEnd: wait},
		"deaf-to-term":  {breaks: "S8.5", hello: func(k *sepTalker) { signal.Ignore(syscall.SIGTERM); k.greet() }},
		"silent":        breaks("S4.1").on("sep.initialize", func(*sepTalker, *wire.Message) {}),
		"no-pieces": {breaks: "S2.2", hello: func(k *sepTalker) {
			k.Conn = wire.NewConn(&wholeReads{Conn: k.raw}, k.raw, wire.Limits{})
			k.greet()
		}},
	}
}

func leaves() bool { leave(); return true }

func (k *sepTalker) replyIf(m *wire.Message) {
	if m.ID != nil {
		k.reply(m.ID, "{}")
	}
}

func (k *sepTalker) dieIf(m *wire.Message, die bool) {
	if die {
		leave()
	}
	if m.Kind == wire.Request {
		k.serve(m)
	}
}

// andDiesOf makes a talker exit at an error with this code.
func (b sepBreak) andDiesOf(code int) sepBreak {
	before := b.before
	b.before = func(k *sepTalker, m *wire.Message) bool {
		if m.Error != nil && m.Error.Code == code {
			leave()
		}
		return before(k, m)
	}
	return b
}

func sepManifest(t *testing.T, name string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse("manifest.json", fmt.Appendf(nil, `{"schemaVersion":"1.0.0","id":"acme.companion","name":"Companion","version":"1.2.3","apiVersion":"1.0.0","trustLevel":"trusted_third_party",
"entrypoint":{"command":%q,"args":["sep:%s"]},"permissions":["events.subscribe","tools.register","notifications.create"],
"events":{"subscribe":["run.started","run.finished"]},
"health":{"startupTimeoutMs":60000,"heartbeatIntervalMs":60000,"unhealthyAfterMissedHeartbeats":2},
"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":100,"maxConcurrentRequests":4}}`, testrun.Kid(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// axesFor returns whether an axis checks the clauses of breaks, of which none means all.
func axesFor(breaks string) func(axis) bool {
	clauses := strings.Fields(breaks)
	return func(a axis) bool {
		return len(clauses) == 0 || slices.Contains(clauses, a.clause) || slices.Contains([]string{"S5.1", "S5.3", "S6.1"}, a.clause)
	}
}

// TestSEPAxes runs the suite on good extensions and on those that break a clause.
func TestSEPAxes(t *testing.T) {
	names := []string{"sdk"}
	all := sepBreaks()
	for name := range all {
		names = append(names, name)
	}
	var tests sync.WaitGroup
	slots := make(chan struct{}, 4)
	slices.Sort(names)
	for _, name := range sampling.Short(t, 6, names) {
		tests.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			m := sepManifest(t, name)
			o := SEPOptions{Manifest: m, Dir: t.TempDir()}
			if name == "bad-token" || name == "silent" {
				m.Health.StartupTimeoutMs = 1000
			}
			if slices.Contains([]string{"small-buffer", "strict-members", "number-ids", "dies-of-noise", "stays", "outlives", "deaf-to-term"}, name) {
				o.Within, o.Exit = time.Second, time.Second
			}
			r, err := runSEP(t.Context(), o, axesFor(all[name].breaks))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			broken := failed(r)
			for _, clause := range strings.Fields(all[name].breaks) {
				if !slices.Contains(broken, clause) {
					t.Errorf("%s: clause %s passed", name, clause)
				}
			}
			if len(broken) > 0 && all[name].breaks == "" {
				t.Errorf("%s: broken %v: %+v", name, broken, r.Axes)
			}
		})
	}
	tests.Wait()
}
