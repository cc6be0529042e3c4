package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// fake is an adapter with every ability, with answers from data.
type fake struct {
	Defaults
	manifest adapters.Manifest
	detect   func(ctx context.Context) error // nil: at once
	install  func(ctx context.Context, log adapters.LogFunc) error
	err      error
}

func (f *fake) Manifest() *adapters.Manifest { return &f.manifest }

func (f *fake) Detect(ctx context.Context, dir string) (bool, error) {
	if f.detect != nil && dir == "/slow" {
		return false, f.detect(ctx)
	}
	return dir == "/yes", f.err
}

func (f *fake) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) {
	return &adapters.Toolchain{Tool: "zig", Version: "0.15"}, f.err
}

func (f *fake) ToolchainFingerprint(context.Context, string) (string, error) {
	return "zig 0.15.2", f.err
}

func (f *fake) Install(ctx context.Context, _ adapters.InstallRequest, log adapters.LogFunc) error {
	if f.install == nil {
		return f.err
	}
	return f.install(ctx, log)
}

func (f *fake) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	return adapters.TasksAnswer{Tasks: []adapters.Task{{Name: "build", Run: "zig build"}}, Reads: adapters.ReadsOf(dir)}, f.err
}

// bare is an adapter without optional abilities.
type bare struct{ Defaults }

func (bare) Manifest() *adapters.Manifest { return &adapters.Manifest{AdapterID: "bare"} }

func (bare) Detect(context.Context, string) (bool, error) { return false, nil }

func (bare) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return []diagnostics.Diagnostic{{File: "a.zig", Line: 1, Severity: diagnostics.Error, Message: "m", Source: "zig"}}, nil
}

type session struct {
	*wire.Peer
	logs []string
	done chan error
}

// serve serves a over pipes and returns the host's side.
func serve(t *testing.T, a adapters.Adapter) *session {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{done: make(chan error, 1)}
	go func() { s.done <- Serve(context.Background(), a, &Options{In: inR, Out: outW}) }()
	s.Peer = wire.NewPeer(wire.NewConn(outR, inW, wire.Limits{}), wire.PeerOptions{
		Notify: func(_ string, params json.RawMessage) { s.logs = append(s.logs, string(params)) },
	})
	t.Cleanup(func() { s.Peer.Close() })
	return s
}

func (s *session) ask(t *testing.T, method string, params any) string {
	t.Helper()
	a := <-s.send(t, method, params).Answered()
	var rpc *wire.RPCError
	if errors.As(a.Err, &rpc) {
		return rpc.Error() + " " + string(rpc.Data)
	}
	return string(a.Result)
}

func (s *session) send(t *testing.T, method string, params any) *wire.Question {
	t.Helper()
	q, err := s.Ask(method, params)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestManifestIsComplete(t *testing.T) {
	got := serve(t, bare{}).ask(t, "initialize", wire.Initialize{ProtocolVersion: 1, BentoVersion: "0"})
	want := `{"protocol_version":1,"adapter_id":"bare","display_name":"bare","fingerprint_files":[],"default_tasks":[],` +
		`"capabilities":{"detect":true,"required_toolchain":true,"resolved_toolchain_fingerprint":true,"install":true,"cancel":true}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	f := &fake{manifest: adapters.Manifest{AdapterID: "zig", Capabilities: adapters.Capabilities{Detect: true}}}
	if got := serve(t, f).ask(t, "initialize", nil); !strings.Contains(got, `"install":false,"tasks":true,"cancel":true`) {
		t.Errorf("manifest: got %s, want the capabilities it names and those of its type", got)
	}
}

// adder can add packages.
type adder struct{ bare }

func (adder) Add(_ context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	log(adapters.Log{Level: "info", Message: strings.Join(req.Packages, " ")})
	if req.Dev {
		return &adapters.InstallError{Command: "zig fetch", ExitStatus: 1}
	}
	return nil
}

func TestAdd(t *testing.T) {
	s := serve(t, adder{})
	if got := s.ask(t, "initialize", nil); !strings.Contains(got, `"add":true`) {
		t.Errorf("manifest: got %s", got)
	}
	for params, want := range map[string]string{
		`{"dish_dir":"/yes","dish_name":"api","packages":["a","b"]}`:    `null`,
		`{"dish_dir":"/yes","dish_name":"api","packages":[]}`:           `error -32602: params.packages: expected at least one `,
		`{"dish_dir":"yes","dish_name":"api","packages":["a"]}`:         `error -32602: params.dish_dir: expected an absolute path, got "yes" `,
		`{"dish_dir":"/d","dish_name":"d","packages":["c"],"dev":true}`: `error 2001: "zig fetch" exited with status 1 {"exit_status":1,"command":"zig fetch"}`,
	} {
		if got := s.ask(t, "add", json.RawMessage(params)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", params, got, want)
		}
	}
	s.Close()
	if len(s.logs) != 2 {
		t.Errorf("logs %v, want one of each that ran", s.logs)
	}
	if got := serve(t, bare{}).ask(t, "add", json.RawMessage(`{}`)); got != `error -32601: method not found: add ` {
		t.Errorf("without the ability: %s", got)
	}
}

func TestMethods(t *testing.T) {
	s := serve(t, &fake{})
	dir := wire.Dir{Dir: "/yes"}
	for _, c := range []struct {
		method string
		params any
		want   string
	}{
		{"detect", dir, `{"matches":true}`},
		{"detect", wire.Dir{Dir: "/no"}, `{"matches":false}`},
		{"detect", wire.Dir{Dir: "no"}, `error -32602: params.dir: expected an absolute path, got "no" `},
		{"detect", nil, `error -32602: params.dir: expected an absolute path, got "" `},
		{"requiredToolchain", dir, `{"tool":"zig","version":"0.15"}`},
		{"resolvedToolchainFingerprint", nil, `"zig 0.15.2"`},
		{"install", map[string]string{"dish_dir": "/yes", "dish_name": "api"}, `null`},
		{"tasks", dir, `{"tasks":[{"name":"build","run":"zig build"}],"reads":["/yes"]}`},
		{"parseDiagnostics", map[string]any{"task_name": "lint"}, `{"diagnostics":[]}`},
		{"links", dir, `error -32601: method not found: links `},
		{"nonsense", nil, `error -32601: method not found: nonsense `},
	} {
		if got := s.ask(t, c.method, c.params); got != c.want {
			t.Errorf("%s %v:\n got %s\nwant %s", c.method, c.params, got, c.want)
		}
	}
	s = serve(t, bare{})
	for method, want := range map[string]string{
		"requiredToolchain":            `null`,
		"resolvedToolchainFingerprint": `null`,
		"parseDiagnostics":             `{"diagnostics":[{"file":"a.zig","line":1,"severity":"error","message":"m","source":"zig"}]}`,
	} {
		if got := s.ask(t, method, dir); got != want {
			t.Errorf("%s:\n got %s\nwant %s", method, got, want)
		}
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	_, statErr := os.Stat(absent)
	for _, c := range []struct {
		method string
		err    error
		want   string
	}{
		{"install", &adapters.InstallError{Command: "zig fetch", ExitStatus: 3, Detail: "no network"}, `error 2001: no network {"exit_status":3,"command":"zig fetch"}`},
		{"install", &adapters.InstallError{Command: "zig fetch", ExitStatus: 3}, `error 2001: "zig fetch" exited with status 3 {"exit_status":3,"command":"zig fetch"}`},
		{"requiredToolchain", errors.New("no version"), `error 2002: no version {"file":"","reason":"no version"}`},
		{"requiredToolchain", statErr, "error 2003: stat " + absent + `: no such file or directory {"path":"` + absent + `","errno":2}`},
		{"detect", errors.New("odd"), `error 2099: odd {"detail":"odd"}`},
		{"resolvedToolchainFingerprint", &adapters.MissingTool{Tool: "zig", Hint: "get it"}, `error 2099: zig is not installed {"detail":"zig is not installed","missing_tool":"zig","hint":"get it"}`},
	} {
		s := serve(t, &fake{err: c.err})
		if got := s.ask(t, c.method, map[string]string{"dir": "/yes", "dish_dir": "/yes"}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.method, got, c.want)
		}
	}
}

func TestInstallStreamsLogs(t *testing.T) {
	s := serve(t, &fake{install: func(_ context.Context, log adapters.LogFunc) error {
		log(adapters.Log{Level: "info", Stream: "stdout", Message: "==> Fetching\n"})
		log(adapters.Log{Level: "warn", Message: "slow"})
		return nil
	}})
	s.ask(t, "install", map[string]string{"dish_dir": "/yes"})
	want := []string{`{"level":"info","stream":"stdout","message":"==> Fetching\n"}`, `{"level":"warn","message":"slow"}`}
	if diff := cmp.Diff(want, s.logs); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
}

// slow returns an install that reports its start and runs until it is cancelled.
func slow(started chan<- struct{}) func(context.Context, adapters.LogFunc) error {
	return func(ctx context.Context, _ adapters.LogFunc) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestCancelReachesARunningInstall(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, &fake{install: slow(started)})
	go func() {
		<-started
		s.Notify(wire.NotifyCancel, wire.Cancel{ID: 1})
	}()
	if got := s.ask(t, "install", map[string]string{"dish_dir": "/yes"}); !strings.Contains(got, "context canceled") {
		t.Errorf("got %s, want a cancelled call", got)
	}
}

func TestShutdown(t *testing.T) {
	s := serve(t, &fake{})
	if got := s.ask(t, "shutdown", nil); got != "null" {
		t.Errorf("shutdown: got %s, want null", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestShutdownEndsARunningInstall(t *testing.T) {
	started := make(chan struct{})
	s := serve(t, &fake{install: slow(started)})
	s.send(t, "install", map[string]string{"dish_dir": "/yes"})
	<-started
	if got := s.ask(t, "shutdown", nil); got != "null" {
		t.Errorf("shutdown: got %s, want null", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestEndOfInputEndsServe(t *testing.T) {
	s := serve(t, &fake{})
	s.Peer.Close()
	if err := <-s.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestDoneContextEndsServe(t *testing.T) {
	inR, _ := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Serve(ctx, bare{}, &Options{In: inR, Out: io.Discard}); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestWrongParams: the error names the invalid member of params.
func TestWrongParams(t *testing.T) {
	s := serve(t, &fake{})
	for _, c := range []struct{ method, params, want string }{
		{"detect", `{"dir":7}`, "error -32602: params: dir: expected a string, or null, got a number "},
		{"detect", `{"Dir":"/yes"}`, `error -32602: params.dir: expected an absolute path, got "" `},
		{"detect", `[1]`, "error -32602: params: expected an object, got an array "},
		{"install", `{"dish_dir":"/yes","dish_name":[]}`, "error -32602: params: dish_name: expected a string, or null, got an array "},
		{"parseDiagnostics", `{"exit_status":"1"}`, "error -32602: params: exit_status: expected an integer from -2147483648 to 2147483647, or null, got a string "},
	} {
		if got := s.ask(t, c.method, json.RawMessage(c.params)); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.method, c.params, got, c.want)
		}
	}
}

// TestUnknownMembers: a request of a later bento may have members that this version does not know.
func TestUnknownMembers(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(context.Background(), &fake{}, &Options{In: inR, Out: outW}) }()
	conn := wire.NewConn(outR, inW, wire.Limits{})
	if err := conn.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"detect","params":{"dir":"/yes","depth":1,"Dir":"/no","DIR":7},"trace":"x","Method":"m"}`)); err != nil {
		t.Fatal(err)
	}
	got, err := conn.Recv()
	if want := `{"jsonrpc":"2.0","id":1,"result":{"matches":true}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	conn.Close()
	<-done
}
