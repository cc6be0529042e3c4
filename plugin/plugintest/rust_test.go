package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter"
)

// rustNoop builds the example in Rust, without network access.
func rustNoop(t *testing.T) adapters.Candidate {
	t.Helper()
	need(t, "cargo")
	target := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "cargo", "build", "--offline", "--locked", "--target-dir", target)
	cmd.Dir = filepath.Join(repository, "examples", "bento-adapter-noop", "rust")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return adapters.Candidate{ID: "noop", Path: filepath.Join(target, "debug", "bento-adapter-noop"), Contract: adapters.ContractV1}
}

// TestRustNoop: a plugin in Rust passes every axis, and bento uses it as an adapter.
func TestRustNoop(t *testing.T) {
	c := rustNoop(t)
	r, err := Run(t.Context(), c.Path, Options{Setup: Setup{Stderr: t.Output()}})
	if err != nil {
		t.Fatal(err)
	}
	if got := failed(r); len(got) > 0 {
		t.Errorf("failed clauses: %v, of %+v", got, r.Axes)
	}
	testReference(t, c)
}

// testReference checks the answers of the protocol's reference plugin.
func testReference(t *testing.T, c adapters.Candidate) {
	a := started(t.Context(), t, c, adapter.Options{}).Adapters()[0]
	m := a.Manifest()
	lint := adapters.Hook{Rerun: adapters.Rerun{Kind: adapters.RerunReplace, Command: "false"}, Parser: adapters.ParserPlugin}
	want := []any{
		[]string{"noop.toml"},
		[]adapters.Task{{Name: "build", Run: "echo noop build", Inputs: []string{"**/*"}}, {Name: "test", Run: "true"}, {Name: "lint", Run: "true"}},
		map[string]adapters.Hook{"lint": lint},
		adapters.Capabilities{Detect: true, Install: true},
	}
	if diff := cmp.Diff(want, []any{m.FingerprintFiles, m.DefaultTasks, m.DiagnosticHooks, m.Capabilities}); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	dish := t.TempDir()
	for _, there := range []bool{false, true} {
		dir := t.TempDir()
		if there {
			dir = dish
			if err := os.WriteFile(filepath.Join(dir, "noop.toml"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := a.Detect(t.Context(), dir); found != there || err != nil {
			t.Errorf("detect where noop.toml is there %v: %v, %v", there, found, err)
		}
	}
	var logs []adapters.Log
	err := a.Install(t.Context(), adapters.InstallRequest{DishDir: dish, DishName: "dish"}, func(l adapters.Log) { logs = append(logs, l) })
	if diff := cmp.Diff([]adapters.Log{{Level: "info", Message: "noop install\n"}}, logs); err != nil || diff != "" {
		t.Errorf("install: %v, logs (-want +got):\n%s", err, diff)
	}
	found, err := a.ParseDiagnostics(t.Context(), adapters.ParseRequest{TaskName: "lint", Stdout: "x", ExitStatus: 1, DishDir: dish, WorkspaceRoot: dish})
	finding := diagnostics.Diagnostic{File: "noop.toml", Line: 1, Severity: diagnostics.Warning, Message: "this project does nothing", Rule: "noop-demo", Source: "noop"}
	if diff := cmp.Diff([]diagnostics.Diagnostic{finding}, found); err != nil || diff != "" {
		t.Errorf("parseDiagnostics: %v (-want +got):\n%s", err, diff)
	}
}
