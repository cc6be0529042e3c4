package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wasm"
	"github.com/bentobuild/bento/plugin/wire"
)

// Options are the options of Run. An answer has 30 s, of install too, and an exit has 2 s.
type Options struct {
	Setup
	// ID is the id that the manifest must have; "" means the id in the file name. If that is not
	// bento-adapter-<id>, any id is accepted.
	ID string
	// Launcher launches the plugin in place of the executable; may be nil.
	Launcher host.Launcher
}

// Run tests the adapter at path, an executable or a module of WebAssembly, on all axes. The error is that of
// ctx, or reports that no temporary directory could be made or that the module cannot be read. The faults of
// a plugin are in the Report.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	began := time.Now()
	s, err := newSuite(path, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.greet(ctx)
	return s.report(s.try(ctx, s.axes()), began), ctx.Err()
}

// axes returns the table of docs/PROTOCOL.md. It depends on the manifest, which greet reads.
func (s *suite) axes() []axis {
	return slices.Concat(s.messageAxes(), s.lifeAxes(), s.answerAxes(), s.additionAxes())
}

func (s *suite) messageAxes() []axis {
	return []axis{
		{"2.1", Must, "standard output holds frames of JSON and nothing else", nil},
		{"2.2", Should, "header lines end with CR LF", nil},
		{"2.3", Must, "a frame that arrives in pieces is answered", s.greeted(s.inPieces)},
		{"2.4", Should, "two frames that arrive at once are both answered", s.greeted(s.atOnce(2))},
		{"2.5", Should, "LF, a header name in another case and unknown headers are accepted",
			s.greeted(s.framed("Content-Length: %d\n\n"), s.framed("content-length:%d\r\n\r\n"), s.framed("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"))},
		{"2.6", Must, "Content-Length counts bytes, also of text beyond ASCII",
			// A plugin that counts characters would miss the start of the second request.
			s.greeted(asks(wire.MethodDetect, wire.Dir{Dir: s.empty + strings.Repeat("/弁当", 10)}), s.ping)},
		{"2.7", Must, "1 MiB of params is answered",
			s.greeted(asks(wire.MethodDetect, map[string]any{"dir": s.empty, "padding": strings.Repeat("0123456789abcdef", 1<<16)}))},

		{"3.1", Must, "a response is a JSON-RPC 2.0 message with the id of its request", nil},
		{"3.2", Must, "a request gets one response", nil},
		{"3.3", Must, "an unknown method is answered with error -32601", s.greeted(refuses("bento/unknown", nil, wire.CodeMethodNotFound), s.ping)},
		{"3.4", Must, "an unknown notification is ignored", s.greeted(notes("bento/unknown", wire.Dir{Dir: s.empty}), s.cancelsNothing)},
		{"3.5", Must, "unknown members are ignored", s.greeted(s.unknownMembers)},
		{"3.6", Should, "params of the wrong type are answered with an error, and it keeps running",
			s.greeted(wrongParams(map[string]any{"dir": 7}), wrongParams(map[string]any{}), wrongParams([]any{1}), s.ping)},
		{"3.7", Must, "it sends no requests", nil},
		{"3.8", Should, "it sends no notifications but valid notifications/log", nil},
	}
}

func (s *suite) lifeAxes() []axis {
	return []axis{
		{"4.1", Must, "initialize is answered in time", of(s.initialized())},
		{"4.2", Must, "shutdown is answered with null, also right after initialize", s.greeted(shutsDownWithNull)},
		{"4.3", Must, "it exits within 2 s of shutdown", s.greeted(s.ping, shutsDown, exits(responseToShutdown))}, // an idle plugin ends more easily
		{"4.4", Should, "it exits with status 0", s.greeted(shutsDown, exits(responseToShutdown), exitsWith0)},
		{"4.5", Should, "it exits at the end of its standard input", s.greeted(closesInput, exits("the end of its standard input"))},
		{"4.6", Should, "SIGTERM ends it", s.greeted(terminates, exits("SIGTERM"))},

		{"5.1", Must, "protocol_version is 1", of(s.accepted(adapters.ProtocolVersionMismatch))},
		{"5.2", Must, "adapter_id is that of the file name", of(s.accepted(adapters.AdapterIDMismatch))},
		{"5.3", Must, "the manifest has all members, of their types and within bounds", of(s.accepted(""))},
		{"5.4", Should, "every diagnostic hook and derived path can be used", s.greeted(s.usableHooks)},
		{"5.5", Must, "every start returns the same manifest", s.unlessRefused(s.started(s.sameManifest))},
		{"5.12", Should, "the manifest and the answers have no members that the protocol lacks", nil},
	}
}

func (s *suite) answerAxes() []axis {
	c := s.manifest.Capabilities
	return []axis{
		{"6.1", Must, `detect answers {"matches": true or false}`, s.offered(c.Detect, s.inBoth(wire.MethodDetect))},
		{"6.2", Should, "detect returns false for an empty directory", s.offered(c.Detect, s.detectsNothing)},
		{"6.3", Should, "detect of a missing directory is answered", s.offered(c.Detect, asks(wire.MethodDetect, wire.Dir{Dir: filepath.Join(s.scratch, "absent")}))},
		{"6.4", Must, "requiredToolchain answers {tool, version} or null", s.offered(c.RequiredToolchain, s.inBoth(wire.MethodToolchain), s.again)},
		{"6.5", Must, "resolvedToolchainFingerprint, without params, answers a string or null", s.offered(c.ResolvedToolchainFingerprint, s.fingerprints("1.0.0\n", ""), s.again)},
		{"6.8", Must, "resolvedToolchain answers {fingerprint, version} or null", s.offered(c.ResolvedToolchain, s.resolves("1.0.0\n", ""), s.again)},
		{"6.10", Should, "with resolved_toolchain, bento can compare the versions", s.offered(c.ResolvedToolchain, s.versionsCompare)},

		{"7.1", Must, "install is answered with a result or an error", s.offered(c.Install, replies(wire.MethodInstall, s.installation()))},
		{"7.2", Should, "the result of install is null or {commands}, its error 2001 with {exit_status, command}", s.offered(c.Install, s.installsWell)},
		{"7.3", Should, "no log of an install comes after its response", s.offered(c.Install, s.logsInTime)},
		{"8.1", Must, `parseDiagnostics answers {"diagnostics": [{file, line, severity, message, source}]}`, s.greeted(s.diagnoses(answer.Check), s.again)},
		{"8.2", Should, "a severity is error, warning, info or hint, a file relative to the workspace", s.greeted(s.diagnoses(wellFormed))},
	}
}

func (s *suite) additionAxes() []axis {
	c := s.manifest.Capabilities
	parallel := min(s.manifest.Parallel, 64)
	exec := len(s.manifest.Exec) > 0 && (c.ResolvedToolchain || c.ResolvedToolchainFingerprint)
	return []axis{
		{"9.1", Must, `tasks answers {"tasks": [{name, run}]}`, s.offered(c.Tasks, s.inBoth(wire.MethodTasks), s.again)},
		{"9.2", Must, `links answers {"links": [{dir or package, file}]}`, s.offered(c.Links, s.inBoth(wire.MethodLinks), s.again)},
		{"9.3", Must, `install_scope answers {"dir": …}`, s.offered(c.InstallScope, s.inBoth(wire.MethodInstallScope), s.again)},
		{"9.5", Must, "add is answered with a result or an error", s.offered(c.Add, replies(wire.MethodAdd, s.addition()), s.again)},
		{"9.6", Must, "a cancelled request is answered too", s.offered(c.Cancel && c.Install, s.cancelsInstall, s.ping)},
		{"9.7", Must, "as many requests at once as parallel allows are answered", s.offered(parallel > 1, described(s.atOnce(parallel), ", of %d at once", parallel))},
		{"9.11", Must, "with exec, the questions about the toolchain are answered whatever the command printed", s.offered(exec, s.takesOutput, s.again)},
		{"9.13", Must, `the commands of an install are [[program, argument, …], …]`, s.offered(c.Install, s.plansInstall)},
		{"9.15", Must, "with options, questions are answered as without", s.offered(c.Options, s.takesOptions)},
		{"9.16", Must, `scaffold answers {"files": [{path, text}]}`, s.offered(c.Scaffold, s.answers(wire.MethodScaffold, wire.Scaffold{Name: "plugin-test"}))},
		{"9.20", Must, "depends_on names tasks that exist", s.greeted(s.recipes(wrongOrder))},
		{"9.21", Must, "two tasks name the same output only if one depends on the other", s.greeted(s.recipes(sharedOutput))},
		{"9.22", Should, "what an install makes is no output of a task", s.offered(c.InstallScope, s.installsNoOutput)},
	}
}

// suite is one test of an adapter.
type suite struct {
	*lab
	path, id string
	o        Options
	module   *wasm.Tool   // nil for an executable
	engine   *wasm.Engine // of the module
	empty    string       // an empty directory whose name is not ASCII
	project  string       // a directory with files of a project; "" if the handshake failed

	// Results of the first handshake.
	text     json.RawMessage
	manifest *adapters.Manifest // empty if it is refused
	dropped  []string
	refused  error
}

func newSuite(path string, o Options) (*suite, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l, err := newLab(o.Setup, 30*time.Second, 2*time.Second)
	if err != nil {
		return nil, err
	}
	s := &suite{lab: l, path: path, id: cmp.Or(o.ID, idOf(path)), o: o, empty: filepath.Join(l.scratch, "plättchen"), manifest: &adapters.Manifest{}}
	l.launch, l.frames = s.launchAdapter, &frames{}
	if err = os.Mkdir(s.empty, 0o755); err == nil && filepath.Ext(path) == ".wasm" && o.Launcher == nil {
		s.engine = wasm.NewEngine(wasm.EngineOptions{})
		s.module, err = s.engine.OpenAdapter(wasm.Options{ID: cmp.Or(s.id, "adapter"), Path: path})
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *suite) close() {
	if s.engine != nil {
		s.engine.Close()
	}
	s.lab.close()
}

// idOf returns the id in the name of a file, or "".
func idOf(path string) string {
	id, ok := strings.CutPrefix(filepath.Base(path), "bento-adapter-")
	if !ok {
		return ""
	}
	id, _, _ = strings.Cut(id, ".") // .py, .exe
	return id
}

func (s *suite) report(results []Result, began time.Time) *Report {
	return newReport(s.manifest.AdapterID, s.path, results, began)
}

// lastWords is how many bytes of standard error are kept of a process.
const lastWords = 1 << 10

// launchAdapter starts the executable, or the module.
func (s *suite) launchAdapter(ctx context.Context, clause string) (*talk, error) {
	launcher := s.o.Launcher
	if s.module != nil {
		launcher = &wasm.Launcher{Tool: s.module, Root: s.scratch}
	} else if launcher == nil {
		launcher = &host.Command{Argv: []string{s.path}, Dir: s.scratch, Env: s.Env}
	}
	stderr := host.NewTail(lastWords, s.Stderr)
	t, err := s.begin(ctx, clause, launcher, stderr)
	if err != nil {
		return nil, err
	}
	t.stderr = stderr
	t.atEnd = func() {
		if t.conn.BareLF() {
			t.note("2.2", "a header line that ends with LF alone")
		}
	}
	t.read(wire.Limits{}, "2.1", func(m *wire.Message) { judge(t, m) })
	return t, nil
}

// judge notes the faults of a message that is no answer.
func judge(t *talk, m *wire.Message) {
	last := t.lastID()
	switch number, ok := m.Number(); {
	case m.Kind == wire.Response && ok && 0 < number && number <= last:
		t.note("3.2", "a second response with the id %d", number)
	case m.Kind == wire.Response:
		t.note("3.1", "a response with the id %.40s, the last request had %d", m.ID, last)
	case m.Kind == wire.Notification:
		judgeLog(t, m)
	case m.Kind == wire.Request:
		t.note("3.7", "a request %.60q", m.Method)
	default:
		t.note("3.1", "%s", m.Why)
	}
}

// judgeLog notes the fault of a notification, of which logs are the only kind.
func judgeLog(t *talk, m *wire.Message) {
	var l adapters.Log
	switch err := wire.Decode(m.Params, &l); {
	case m.Method != wire.NotifyLog:
		t.note("3.8", "a notification %.60q", m.Method)
	case err != nil:
		t.note("3.8", "params of a log that are not {level, message, stream}: %v", err)
	case !slices.Contains(logLevels, l.Level):
		t.note("3.8", "a log with the level %.40q", l.Level)
	case l.Stream != "" && l.Stream != "stdout" && l.Stream != "stderr":
		t.note("3.8", "a log with the stream %.40q", l.Stream)
	}
}

// greet does the first handshake, whose result the tests need.
func (s *suite) greet(ctx context.Context) {
	t, err := s.launch(ctx, "")
	if err != nil {
		s.refused = err
		return
	}
	defer t.end()
	if s.text, s.refused = t.result(ctx, wire.MethodInitialize, hello()); s.refused != nil {
		s.text = nil
		return
	}
	s.members(wire.MethodInitialize, s.text)
	m, dropped, err := answer.ReadManifest(s.text, cmp.Or(s.id, announced(s.text)))
	if m != nil {
		s.manifest = m
	}
	if s.dropped, s.refused = dropped, err; err == nil {
		s.refused = s.fill(ctx, t)
	}
}

func hello() wire.Initialize {
	return wire.Initialize{ProtocolVersion: adapters.ProtocolVersion, BentoVersion: "0.0.0"}
}

func announced(manifest json.RawMessage) string {
	var m struct {
		ID string `json:"adapter_id"`
	}
	_ = wire.Decode(manifest, &m) // ReadManifest refuses a malformed one
	return m.ID
}

// The reasons of skipped tests.
const (
	notAsked   = "bento refuses the plugin, see above"
	notOffered = "the manifest does not offer it"
)

func (s *suite) unlessRefused(t test) test {
	if s.refused != nil {
		return of(skip(notAsked))
	}
	return t
}

// greeted returns the test that makes steps after the handshake.
func (s *suite) greeted(steps ...step) test {
	greet := func(ctx context.Context, t *talk) outcome {
		_, err := t.result(ctx, wire.MethodInitialize, hello())
		return without(err)
	}
	return s.unlessRefused(s.started(greet, do(steps...)))
}

// offered is greeted for what a manifest may offer.
func (s *suite) offered(ok bool, steps ...step) test {
	if !ok {
		return s.unlessRefused(of(skip(notOffered)))
	}
	return s.greeted(steps...)
}

// initialized judges the first handshake.
func (s *suite) initialized() outcome {
	if s.text == nil {
		return without(s.refused)
	}
	return pass()
}

// accepted judges the manifest, which is refused for at most one reason: a code, or "" for a reason without
// a code.
func (s *suite) accepted(code adapters.Code) outcome {
	var f *adapters.Failure
	errors.As(s.refused, &f)
	switch {
	case s.text == nil:
		return skip("there is no manifest")
	case s.refused == nil:
		return pass()
	case f == nil && code != "":
		return skip("the manifest cannot be read")
	case f == nil:
		return without(s.refused)
	}
	return when(f.Code != code, "%s", f.Message)
}
