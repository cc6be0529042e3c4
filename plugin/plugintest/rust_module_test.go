package plugintest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wasm"
)

// rustTarget is the target of modules in Rust. Since some installations lack it, no run requires it.
const rustTarget = "wasm32-wasip1"

// rustModule builds the example in Rust, without network access.
func rustModule(t *testing.T) string {
	t.Helper()
	need(t, "cargo")
	out, err := exec.CommandContext(t.Context(), "rustc", "--print", "target-libdir", "--target", rustTarget).Output()
	if libs, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "libstd-*")); err != nil || len(libs) == 0 {
		t.Skipf("the target %s of Rust is not installed: rustup target add %s, or libstd-rust-dev-wasm32 of Debian", rustTarget, rustTarget)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "cargo", "build", "--release", "--offline", "--locked", "--target", rustTarget, "--target-dir", dir)
	cmd.Dir = filepath.Join(repository, "examples", "tools", "json-rust")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, rustTarget, "release", "json_rust.wasm")
}

// TestRustModule: the formatter in Rust passes every axis, and formats like the one in Go.
func TestRustModule(t *testing.T) {
	path, root, out := rustModule(t), t.TempDir(), t.TempDir()
	const text, want = `{"b":[1.50,{}],"a":"x\u00e9"}`, "{\n  \"b\": [\n    1.50,\n    {}\n  ],\n  \"a\": \"x\\u00e9\"\n}\n"
	for name, text := range map[string]string{"a.json": text, "good.json": want, "bad.json": "{]"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := wasm.NewEngine(wasm.EngineOptions{})
	defer e.Close()
	o := wasm.Options{ID: "json-rust", Path: path, ReadWorkspace: true, Timeout: ample}
	r, err := RunModule(t.Context(), e, ModuleOptions{Module: o, Call: adapters.ToolCall{Input: json.RawMessage(`{"paths":["good.json"]}`), Root: root}})
	if err != nil {
		t.Fatal(err)
	}
	if got := failed(r); len(got) > 0 {
		t.Errorf("failed clauses: %v, of %+v", got, r.Axes)
	}
	tool, err := e.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		`{"paths":["a.json","good.json"],"out":"OUT/made"}`: `{"formatted":2}`,
		`{"paths":["good.json"]}`:                           `{"formatted":1}`,
		`{"paths":["good.json","a.json"]}`:                  "1 of 2 files are not formatted:\na.json",
		`{"paths":["bad.json"]}`:                            "bad.json: invalid character ']' at byte 1",
		`{"paths":"a.json"}`:                                "the input is no request: paths is no list",
		`{"paths":["../x"]}`:                                "../x: ",
	} {
		c := adapters.ToolCall{Input: json.RawMessage(strings.ReplaceAll(input, "OUT", out)), Root: root, Out: out}
		a, err := tool.Call(t.Context(), c)
		got := a.Output
		var own *adapters.ToolError
		if errors.As(err, &own) {
			got = own.Message
		}
		if !strings.HasPrefix(got, want) || got == "" {
			t.Errorf("%s: got %q, %v, want %q", input, got, err, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(out, "made", "a.json")); string(got) != want {
		t.Errorf("a.json: got %q, %v, want %q", got, err, want)
	}
}
