package plugintest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wasm"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

const modulePage = repository + "/docs/TOOL-PROTOCOL-WASM.md"

var moduleClause = regexp.MustCompile(`(?m)^\*\*(W\d+\.\d+)\*\* \((module|bento), (MUST|SHOULD)\) (.*)$`)

// TestModuleAxesAreClauses: each clause that binds modules is an axis of the suite, in the same order.
// Every clause names a test.
func TestModuleAxesAreClauses(t *testing.T) {
	text, err := os.ReadFile(modulePage)
	if err != nil {
		t.Fatal(err)
	}
	var doc, suite []string
	for _, m := range moduleClause.FindAllStringSubmatch(string(text), -1) {
		if m[2] == "module" {
			doc = append(doc, m[1]+" "+m[3])
		}
		if !testName.MatchString(m[4]) {
			t.Errorf("clause %s names no test", m[1])
		}
	}
	if n := len(regexp.MustCompile(`(?m)^\*\*W`).FindAll(text, -1)); n != len(moduleClause.FindAll(text, -1)) {
		t.Errorf("%d clauses cannot be read", n)
	}
	for _, a := range new(moduleSuite).axes() {
		suite = append(suite, a.clause+" "+string(a.level))
	}
	if diff := cmp.Diff(doc, suite); diff != "" {
		t.Errorf("%s and the suite differ (-page +suite):\n%s", modulePage, diff)
	}
}

// runModule returns the clauses that a module breaks.
func runModule(t *testing.T, o ModuleOptions) (broken []string) {
	t.Helper()
	e := wasm.NewEngine(wasm.EngineOptions{})
	defer e.Close()
	if o.Module.ID == "" {
		o.Module.ID = "probe"
	}
	r, err := RunModule(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Passed+r.Failed+r.Missed == 0 || len(r.Axes) != len(new(moduleSuite).axes()) {
		t.Errorf("the report has %d results of %d axes", r.Passed+r.Failed+r.Missed, len(r.Axes))
	}
	for _, a := range r.Axes {
		if a.Status == Fail {
			broken = append(broken, a.Clause)
			if a.Got == "" || a.Expected == "" {
				t.Errorf("%s: expected %q, got %q", a.Clause, a.Expected, a.Got)
			}
		}
	}
	return broken
}

// Each module breaks exactly the clauses in its row.
func TestModuleAxes(t *testing.T) {
	replaced := func(name, typ string, body ...[]byte) *Module {
		m := Answering(Good)
		m.Rename(name, "")
		m.Func(name, typ, body...)
		return m
	}
	execute := func(body ...[]byte) *Module { return replaced("az_tool_execute", "i32,i32->i64", body...) }
	alloc := func(body ...[]byte) *Module { return replaced("az_alloc", "i32->i32", body...) }
	with := func(change func(m *Module)) *Module {
		m := roomy(Good)
		change(m)
		return m
	}
	importing := func(module, name, typ string) *Module {
		m := &Module{}
		m.Import(module, name, typ)
		m.Func("az_alloc", "i32->i32", I32(8192))
		m.Func("az_tool_execute", "i32,i32->i64", Packed(1024, uint32(len(Good))))
		m.Memory(20, -1)
		m.Data(1024, Good)
		return m
	}
	v1 := &Module{}
	v1.Func("run", "->i32", I32(7))
	component := []byte("\x00asm\x0d\x00\x01\x00")
	every := []string{"W6.2", "W6.3", "W6.4", "W6.5", "W6.6"}
	and := func(clauses ...string) []string { return append(clauses, every...) }
	for name, tt := range map[string]struct {
		m    *Module
		o    wasm.Options
		want []string
	}{
		"good":                 {m: roomy(Good)},
		"an error":             {m: roomy(`{"output":"","error":"no"}`)},
		"a warning":            {m: roomy(`{"output":"done","error":"careful","privacy_boundary":"any"}`)},
		"a component":          {o: wasm.Options{Bytes: component}, want: []string{"W1.1"}},
		"text":                 {o: wasm.Options{Bytes: []byte("hello")}, want: []string{"W1.1"}},
		"v1":                   {m: v1, want: []string{"W1.2", "W1.3", "W1.4", "W1.5"}},
		"no-alloc":             {m: with(func(m *Module) { m.Rename("az_alloc", "") }), want: []string{"W1.3"}},
		"no-execute":           {m: with(func(m *Module) { m.Rename("az_tool_execute", "x") }), want: []string{"W1.4"}},
		"no-memory":            {m: with(func(m *Module) { m.Rename("memory", "") }), want: []string{"W1.5"}},
		"odd-initialize":       {m: with(func(m *Module) { m.Func("_initialize", "i32->") }), want: []string{"W1.6"}},
		"odd-start":            {m: with(func(m *Module) { m.Start(0) }), want: []string{"W1.6"}},
		"api-3":                {m: roomy(Good), o: wasm.Options{Manifest: &wasm.Manifest{MinAPI: 3, MaxAPI: 3}}, want: []string{"W1.7"}},
		"imports-a-global":     {m: with(func(m *Module) { m.ImportOther("env", "g", 3) }), want: []string{"W2.1"}},
		"imports-env":          {m: importing("env", "now", "->i64"), want: []string{"W2.2"}},
		"imports-odd-wasi":     {m: importing("wasi_snapshot_preview1", "fd_fly", "->i32"), want: []string{"W2.3"}},
		"imports-odd-type":     {m: importing("wasi_snapshot_preview1", "fd_close", "->i32"), want: []string{"W2.3"}},
		"imports-odd-az":       {m: importing("az", "az_exec", "->i32"), want: []string{"W2.4"}},
		"imports-az-log-twice": {m: importing("az", "az_log", "i32->"), want: []string{"W2.4"}},
		"not-granted":          {m: importing("az", "az_http_get", "i32,i32->i64"), want: []string{"W2.5"}},
		"not-declared":         {m: importing("az", "az_http_get", "i32,i32->i64"), o: wasm.Options{Capabilities: []string{"az_http_get"}, Manifest: &wasm.Manifest{}}, want: []string{"W2.6"}},
		"asks-for-more":        {m: roomy(Good), o: wasm.Options{Manifest: &wasm.Manifest{Capabilities: []string{"wasi:filesystem/read"}}}, want: []string{"W2.7"}},
		"large":                {m: roomy(Good), o: wasm.Options{Limits: wasm.Limits{Memory: 1 << 16}}, want: []string{"W3.2"}},
		"not-valid":            {m: with(func(m *Module) { m.Func("x", "->i32") }), want: and("W3.3")},
		"start-traps":          {m: with(func(m *Module) { m.Start(m.Func("", "->", Op(Unreachable))) }), want: and("W4.1")},
		"initialize-loops":     {m: with(func(m *Module) { m.Func("_initialize", "->", Forever()) }), o: short, want: and("W4.1")},
		"alloc-traps":          {m: alloc(Op(Unreachable)), want: and("W4.2")},
		"alloc-out-of-range":   {m: alloc(I32(-1)), want: and("W4.2")},
		"alloc-loops":          {m: alloc(Forever(), I32(0)), o: short, want: and("W4.2")},
		"alloc-has-no-room":    {m: Answering(Good), want: []string{"W6.5"}},
		"execute-traps":        {m: execute(Op(Unreachable)), want: and("W4.3")},
		"execute-loops":        {m: execute(Forever(), I64(0)), o: short, want: and("W4.3")},
		"out-of-bounds":        {m: execute(Packed(1<<30, 1)), want: and("W4.4")},
		"too-much-output":      {m: execute(Packed(0, 60000)), o: wasm.Options{Limits: wasm.Limits{Output: 50000}}, want: and("W4.4")},
		"empty":                {m: with(func(m *Module) { m.Rename("az_tool_execute", ""); m.Func("az_tool_execute", "i32,i32->i64", I64(0)) }), want: []string{"W4.5"}},
		"not-utf8":             {m: roomy("{\"output\":\"\xff\"}"), want: and("W5.1")},
		"not-json":             {m: roomy("done"), want: and("W5.2")},
		"a-list":               {m: roomy("[]"), want: and("W5.2")},
		"no-output":            {m: roomy(`{"error":null}`), want: and("W5.3")},
		"output-is-a-number":   {m: roomy(`{"output":7}`), want: and("W5.3")},
		"error-is-a-number":    {m: roomy(`{"output":"x","error":7}`), want: and("W5.4")},
		"schema-is-a-list": {m: with(func(m *Module) {
			m.Data(2048, "[]")
			m.Func("az_tool_schema", "->i64", Packed(2048, 2))
		}), want: []string{"W6.7"}},
		"more-members": {m: roomy(`{"output":"x","status":"ok"}`), want: []string{"W5.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.m != nil {
				tt.o.Bytes = tt.m.Bytes()
			}
			if got := runModule(t, ModuleOptions{Module: tt.o}); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestModuleLinks: a module is refused if it is a link or lies below one.
func TestModuleLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "a.wasm"), Answering(Good).Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"file.wasm": "real/a.wasm", "below": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"file.wasm": "W1.8", "below/a.wasm": "W1.8", "real/a.wasm": "W6.5"} {
		o := ModuleOptions{Module: wasm.Options{Dir: dir, Path: filepath.Join(dir, path)}}
		if got := runModule(t, o); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

var short = wasm.Options{Timeout: 50 * time.Millisecond}

// roomy returns a tool that answers with out and has memory for an input of 1 MiB.
func roomy(out string) *Module {
	m := Answering(out)
	m.Memory(20, -1)
	return m
}

// A module of the real toolchain passes every axis. With another input it breaks the clauses that its
// action breaks.
func TestModuleOfGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a large module")
	}
	path := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", path, "../wasm/testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for input, want := range map[string][]string{"echo x": nil, "panic x": {"W4.3"}, "exit": {"W4.3"}} {
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		got := runModule(t, ModuleOptions{Module: wasm.Options{Path: path}, Call: adapters.ToolCall{Input: raw}})
		if want != nil {
			want = append(want, "W6.6")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
	}
}

// A module whose answer depends on random bytes fails the clause about stored answers.
func TestModuleChanges(t *testing.T) {
	m := &Module{}
	random := m.Import("wasi_snapshot_preview1", "random_get", "i32,i32->i32")
	m.Func("az_alloc", "i32->i32", I32(8192))
	// The lower four bits of each of eight random bytes make a letter from @ to O.
	body := [][]byte{I32(2048), I32(8), Call(random), Op(Drop)}
	for i := range int32(8) {
		body = append(body, I32(1035+i), I32(2048+i), []byte{0x2d, 0, 0}, I32(15), []byte{0x71}, I32(64), []byte{0x72, 0x3a, 0, 0})
	}
	m.Func("az_tool_execute", "i32,i32->i64", append(body, Packed(1024, 21))...)
	m.Memory(20, -1)
	m.Data(1024, `{"output":"--------"}`)
	if got := runModule(t, ModuleOptions{Module: wasm.Options{Bytes: m.Bytes()}}); !slices.Equal(got, []string{"W6.1"}) {
		t.Errorf("got %q, want W6.1", got)
	}
}

// The module of an adapter that declares its commands passes the same axes as the executable.
func TestAdapterModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a large module")
	}
	path := filepath.Join(t.TempDir(), "bento-adapter-zig.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", path, "../../examples/bento-adapter-zig")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, err := Run(t.Context(), path, Options{Setup: Setup{Stderr: t.Output(), Within: ample, Exit: ample}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Axes {
		needed := slices.Contains([]string{"6.8", "9.11", "9.13"}, a.Clause)
		if a.Status == Fail || needed && a.Status != Pass {
			t.Errorf("%s %s: expected %s, got %s", a.Clause, a.Level, a.Expected, a.Got)
		}
	}
	if r.ID != "zig" || r.Passed < 20 {
		t.Errorf("got the id %q and %d passes", r.ID, r.Passed)
	}
}
