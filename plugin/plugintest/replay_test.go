package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/trace"
	"github.com/bentobuild/bento/plugin/wire"
)

// askAbout asks a plugin many questions about a directory, and returns the answers.
func askAbout(t *testing.T, a adapters.Adapter, dir string) []any {
	t.Helper()
	ctx := t.Context()
	var logs []adapters.Log
	found, err := a.Detect(ctx, dir)
	tasks, err2 := adapters.Tasks(ctx, a, dir)
	err3 := a.Install(ctx, adapters.InstallRequest{DishDir: dir, DishName: "app"}, func(l adapters.Log) { logs = append(logs, l) })
	findings, err4 := a.ParseDiagnostics(ctx, adapters.ParseRequest{TaskName: "lint", Stdout: "x", DishDir: dir, WorkspaceRoot: dir})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Error(err)
	}
	if len(findings) != 1 || findings[0].Severity != diagnostics.Error || len(logs) != 1 {
		t.Errorf("findings %v, logs %v", findings, logs)
	}
	return []any{found, tasks, logs, findings}
}

// TestReplay: a trace of a plugin has the same answers as the plugin, in another directory too.
func TestReplay(t *testing.T) {
	var mu sync.Mutex
	var text bytes.Buffer
	ctx := adapter.WithTrace(t.Context(), func(f adapter.Frame) {
		mu.Lock()
		defer mu.Unlock()
		if err := trace.NewLine(f.ID, f.Time, 0, f.Sent, f.Body).Write(&text); err != nil {
			t.Error(err)
		}
	})
	c := adapters.Candidate{ID: "good", Path: install(t, t.TempDir(), "good"), Contract: adapters.ContractV1}
	want := recorded(ctx, t, c, adapter.Options{}, "/here/app")

	r, err := NewReplay(&text, ReplayOptions{Replace: map[string]string{"/here": "/there"}})
	if err != nil {
		t.Fatal(err)
	}
	launch := func(adapters.Candidate) host.Launcher { return r }
	got := recorded(t.Context(), t, c, adapter.Options{Launch: launch}, "/there/app")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	if unknown := r.Unknown(); unknown != nil {
		t.Errorf("the trace lacks %v", unknown)
	}
	set := started(t.Context(), t, c, adapter.Options{Launch: launch})
	var f *adapters.Failure
	if _, err := set.Adapters()[0].Detect(t.Context(), "/elsewhere"); !errors.As(err, &f) || f.Code != adapters.RPCError {
		t.Errorf("what the trace lacks: %v", err)
	}
	if diff := cmp.Diff([]string{`detect {"dir":"/elsewhere"}`}, r.Unknown()); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

func started(ctx context.Context, t *testing.T, c adapters.Candidate, o adapter.Options) *adapter.Set {
	t.Helper()
	set, err := adapter.Start(ctx, []adapters.Candidate{c}, o)
	if err != nil || len(set.Adapters()) != 1 {
		t.Fatal(err, set.Warnings())
	}
	t.Cleanup(set.Close)
	return set
}

func recorded(ctx context.Context, t *testing.T, c adapters.Candidate, o adapter.Options, dir string) []any {
	t.Helper()
	set := started(ctx, t, c, o)
	defer set.Close()
	return askAbout(t, set.Adapters()[0], dir)
}

// A trace with several answers to one request returns them in order, then repeats the last.
func TestReplayInOrder(t *testing.T) {
	var text bytes.Buffer
	for _, result := range []string{"1", `"two"`} {
		trace.NewLine("zig", time.Time{}, 0, true, []byte(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a": 1}}`)).Write(&text)
		trace.NewLine("zig", time.Time{}, 0, false, []byte(`{"jsonrpc":"2.0","id":7,"result":`+result+`}`)).Write(&text)
	}
	r, err := NewReplay(&text, ReplayOptions{ID: "zig"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		m, err := wire.ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`), maxDepth)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range r.answer(&m) {
			got = append(got, string(frame))
		}
	}
	want := []string{`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":1,"result":"two"}`, `{"jsonrpc":"2.0","id":1,"result":"two"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "{", `{"id":"zig","sent":true,"body":{"jsonrpc":"2.0","id":1,"method":"m"}}`} {
		if _, err := NewReplay(strings.NewReader(bad), ReplayOptions{}); err == nil {
			t.Errorf("the trace %q is taken", bad)
		}
	}
}

// TestRunReplay compares the answers of a plugin with the recorded ones, one process for each recorded
// process. It skips methods with effects. The first request without an answer ends a conversation.
func TestRunReplay(t *testing.T) {
	var text bytes.Buffer
	line := func(id, body string, sent bool) {
		if err := trace.NewLine(id, time.Now(), 0, sent, []byte(body)).Write(&text); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	exchange := func(id, method, params, answer string) {
		n++
		line(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params), true)
		line(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, n, answer), false)
	}
	hello := `{"protocol_version":1,"bento_version":"0"}`
	manifest := `"result":` + fmt.Sprintf(everything, "detect-dies")
	exchange("detect-dies", "initialize", hello, manifest)
	exchange("detect-dies", "detect", `{"dir":"/here/a"}`, `"result":{"matches":true}`)
	exchange("detect-dies", "install", `{"dish_dir":"/here/a","dish_name":"a"}`, `"error":{"code":2001,"message":"m"}`)
	exchange("detect-dies", "tasks", `{"dir":"/here/a"}`, `"result":{"tasks":[{"run":"true","name":"build"}]}`)
	exchange("detect-dies", "no", `{}`, `"error":{"code":-32601,"message":"unknown"}`)
	exchange("detect-dies 6.3", "initialize", hello, manifest)
	exchange("detect-dies 6.3", "detect", `{"dir":"/absent"}`, `"result":{"matches":false}`)
	exchange("detect-dies 6.3", "links", `{"dir":"/here/a"}`, `"result":{"links":[]}`)
	exchange("other", "initialize", hello, manifest)

	path := install(t, t.TempDir(), "detect-dies")
	o := ReplayOptions{ID: "detect-dies", Replace: map[string]string{"/here": "/there"}, Name: "frames"}
	r, err := RunReplay(t.Context(), path, Options{Setup: Setup{Within: ample, Exit: ample}}, bytes.NewReader(text.Bytes()), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range r.Axes {
		got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s %s %s: %s", a.Place, a.Status, a.Clause, a.Expected, a.Got), ": "))
	}
	want := []string{
		`frames:1 pass initialize as recorded`,
		`frames:3 fail detect as recorded, of "/there/a": result.matches: expected true, got false`,
		`frames:5 skip install as recorded, of "/there/a": it has effects`,
		`frames:7 pass tasks as recorded, of "/there/a"`,
		`frames:9 fail no as recorded: error.message: expected "unknown", got "method not found"`,
		`frames:11 pass initialize as recorded`,
		`frames:13 fail detect as recorded, of "/absent": detect: it exited (exit status 9)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for id, wrong := range map[string]string{"": "the trace has the plugins detect-dies, other: name one", "none": `no answer of the plugin "none", it has detect-dies, other`} {
		if _, err := RunReplay(t.Context(), path, Options{}, bytes.NewReader(text.Bytes()), ReplayOptions{ID: id}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %s", id, err, wrong)
		}
	}
}
