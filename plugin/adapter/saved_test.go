package adapter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// TestSavedAnswers: the next invocation reuses an answer while the files that the module looked at are
// unchanged, and only for the same tool.
func TestSavedAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "build.zig")
	st := state.Open(t.TempDir())
	c := adapters.Candidate{ID: "zig", Path: "/plugins/bento-adapter-zig.wasm", Contract: adapters.ContractWasm, Exposed: true, SHA256: "ab"}
	o := func() Options { return Options{Version: "1", Notes: host.NewNotes(st)} }
	detect := host.Call{Method: wire.MethodDetect, Dir: "/ws/a"}
	resolved := host.Call{Method: wire.MethodResolved, Dir: "/ws/a"}

	first := o()
	p := newProcess(c, first)
	p.manifest, p.raw, p.text = &adapters.Manifest{AdapterID: "zig"}, json.RawMessage(`{"adapter_id":"zig"}`), []byte(`{"adapter_id":"zig"}`)
	p.identify("ab")
	for _, one := range []struct {
		call    host.Call
		request string
		looks   host.Observed
	}{
		{detect, `{"method":"detect","params":{"dir":"/ws/a"}}`, host.Observed{file: ""}},
		{resolved, `{"method":"resolvedToolchain","params":{"dir":"/ws/a","exec":{}}}`, host.Observed{}},
		{host.Call{Method: wire.MethodTasks, Dir: "/ws/a"}, `{"method":"tasks","params":{"dir":"/ws/a"}}`, nil},
		{host.Call{Method: wire.MethodDiagnostics, Dir: "/ws/a"}, `{"method":"parseDiagnostics","params":{"dir":"/ws/a"}}`, host.Observed{}},
	} {
		p.saved.see([]byte(one.request), one.looks)
		p.saved.answered(one.call, map[bool]string{true: "zig 1"}[one.call.Method == wire.MethodResolved], json.RawMessage(`{"matches":true}`))
	}
	set := &Set{notes: first.Notes, entries: []*entry{{process: p}}}
	if err := set.Remember(); err != nil {
		t.Fatal(err)
	}

	again := asleep(c, o())
	if again == nil || again.manifest.AdapterID != "zig" || again.manifest.Identity != p.manifest.Identity {
		t.Fatalf("asleep: %+v", again)
	}
	has := func(method, dir, tool string) bool {
		_, ok := again.saved.recall(questionOf(method, dir, tool))
		return ok
	}
	for _, q := range []struct {
		method, dir, tool string
		want              bool
	}{
		{wire.MethodDetect, "/ws/a", "", true}, {wire.MethodDetect, "/ws/b", "", false}, {wire.MethodTasks, "/ws/a", "", false}, {wire.MethodDiagnostics, "/ws/a", "", false},
		{wire.MethodResolved, "/ws/a", "zig 1", true}, {wire.MethodResolved, "/ws/a", "zig 2", false}, {wire.MethodResolved, "/ws/a", "", false},
	} {
		if got := has(q.method, q.dir, q.tool); got != q.want {
			t.Errorf("%s of %s with %q: saved %v, want %v", q.method, q.dir, q.tool, got, q.want)
		}
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if has(wire.MethodDetect, "/ws/a", "") {
		t.Error("an answer outlives a change")
	}
	c.SHA256 = "cd"
	if asleep(c, o()) != nil {
		t.Error("another module has the answers")
	}
	c.SHA256 = "ab"
	if _, err := startProcess(WithTrace(t.Context(), func(Frame) {}), c, o()); err == nil { // its file is missing
		t.Error("a trace misses the messages of a module whose answers are saved")
	}
}
