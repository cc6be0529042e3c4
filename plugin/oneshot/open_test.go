package oneshot

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// TestInvalidOptions: an error in the options, before a process starts, is a *SpecError.
func TestInvalidOptions(t *testing.T) {
	for _, o := range []Options{
		{Argv: []string{"/bin/true"}}, {ID: " ", Argv: []string{"/bin/true"}}, {ID: "a"}, {ID: "a", Argv: []string{""}}, {ID: "a", Argv: []string{" ", "x"}},
		{ID: "a", Argv: []string{"x"}, Capabilities: []string{""}}, {ID: "a", Argv: []string{"x"}, Capabilities: []string{" b"}},
		{ID: "a", Argv: []string{"x"}, Capabilities: []string{"b", "c", "b"}},
	} {
		var spec *SpecError
		if _, err := Open(o); !errors.As(err, &spec) || spec.Problem == "" {
			t.Errorf("%+v: got %v", o, err)
		}
	}
	none := &stage{actor: &actor{}, err: errors.New("it was started")}
	tool, err := Open(Options{ID: "a", Launcher: none})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []adapters.ToolCall{
		{}, {Function: " "}, {Function: "f", Input: json.RawMessage("{")}, {Function: "f", Input: json.RawMessage("1 2")}, {Function: "f", Input: json.RawMessage("\"\xff\"")},
	} {
		var spec *SpecError
		if _, err := tool.Call(t.Context(), c); !errors.As(err, &spec) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// script writes a one-shot tool in sh with a line that prints the output.
func script(t *testing.T, dir, name, output string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	text := "#!/bin/sh\nread -r hello\necho '{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"s\",\"plugin_version\":\"1\",\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"f\"]}}'\n" +
		"read -r request\nid=${request#*'\"request_id\":\"'}\nid=${id%%'\"'*}\nprintf '{\"type\":\"response\",\"request_id\":\"%s\",\"status\":\"ok\",\"output\":\"%s\"}\\n' \"$id\" \"" + output + "\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func called(t *testing.T, o Options) (string, error) {
	t.Helper()
	o.ID, o.Timeout, o.Handshake, o.Teardown = "s", Ample, Ample, Ample
	tool, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := tool.Call(t.Context(), adapters.ToolCall{Function: "f"})
	return answer.Output, err
}

// TestCommand: where a command is searched, and what arguments and environment the process gets.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	path := script(t, dir, "tool-in-sh", "$(pwd) $HOME $EXTRA $1")
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("HOME", "/inherited")
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"EXTRA=x"}
	for name, o := range map[string]Options{
		"absolute": {Argv: []string{path, "arg"}, Dir: work, Env: env},
		"name":     {Argv: []string{"tool-in-sh", "arg"}, Dir: work, Env: env},
	} {
		if got, err := called(t, o); got != `"`+work+`  x arg"` || err != nil {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	if got, err := called(t, Options{Argv: []string{"./tool-in-sh"}, Dir: dir}); err != nil {
		t.Errorf("relative to Dir: %s, %v", got, err)
	}
}

// TestLaunchFailures: a command that is missing or is no program fails with launch_failed and the reason.
func TestLaunchFailures(t *testing.T) {
	dir := t.TempDir()
	good := script(t, dir, "good", "x")
	plain := filepath.Join(dir, "plain")
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "empty": 0o755, "binary": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.TrimPrefix(name, "empty")), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		o     Options
		says  string
		cause error
	}{
		"missing":            {Options{Argv: []string{dir + "/none"}}, "no such file", fs.ErrNotExist},
		"a directory":        {Options{Argv: []string{dir}}, "is a directory", fs.ErrInvalid},
		"not executable":     {Options{Argv: []string{plain}}, "is not executable", fs.ErrPermission},
		"not in PATH":        {Options{Argv: []string{"bento-no-such-command"}}, "not found in PATH", nil},
		"a name in Dir only": {Options{Argv: []string{"good"}, Dir: dir}, "not found in PATH", nil},
		"not a program":      {Options{Argv: []string{dir + "/binary"}}, `begins with "#!"`, nil},
		"no directory":       {Options{Argv: []string{good}, Dir: dir + "/none"}, "none: no such file", fs.ErrNotExist},
		"a file as Dir":      {Options{Argv: []string{good}, Dir: plain}, "not a directory", nil},
	} {
		_, err := called(t, c.o)
		var f *adapters.Failure
		if !errors.As(err, &f) || f.Code != adapters.LaunchFailed || !strings.Contains(f.Message, c.says) || f.Adapter != "s" {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
		if c.cause != nil && !errors.Is(err, c.cause) {
			t.Errorf("%s: the cause is %v, want %v", name, f.Cause, c.cause)
		}
	}
}

// TestPinned: a file with another digest is not started, even if it changes between two calls.
func TestPinned(t *testing.T) {
	path := script(t, t.TempDir(), "pinned", "x")
	right := (*host.Digests)(nil).Executable(path)
	if got, err := called(t, Options{Argv: []string{path}, SHA256: right}); got != `"x"` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	tool, err := Open(Options{ID: "s", Argv: []string{path}, SHA256: right, Timeout: Ample, Handshake: Ample, Teardown: Ample})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"", "# changed\n"} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(text, change...), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = tool.Call(t.Context(), adapters.ToolCall{Function: "f"})
		var f *adapters.Failure
		if changed := errors.As(err, &f) && f.Code == adapters.NotTrusted; changed != (change != "") || err != nil && f == nil {
			t.Errorf("after the change %q: %v", change, err)
		}
	}
}

// TestManifest: Manifest makes one handshake and sends no request. The exit of the process is ignored.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	want := Manifest{Version: "1.0", Protocol: Protocol, Functions: []string{"check", "fix"}}
	for id, capabilities := range map[string][]string{"good": nil, "subset": {"fs.write"}, "outlives-its-input": nil, "other-functions": nil} {
		b := Behaviour{ID: id, Granted: []string{"fs.read", "fs.write"}[:2*len(capabilities)], Short: true}
		var sent []string
		o := b.options(Install(t, dir, id))
		o.Trace = func(out bool, body []byte) {
			if out {
				sent = append(sent, string(body))
			}
		}
		o.Timeout, o.Handshake = Ample, Ample
		tool, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tool.Manifest(context.Background())
		want.ID, want.Capabilities = id, capabilities
		if id == "other-functions" {
			got.Functions = want.Functions
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", id, err, diff)
		}
		if len(sent) != 1 {
			t.Errorf("%s: sent %q", id, sent)
		}
	}
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestResultHasTheManifest: a call returns the manifest of its own handshake.
func TestResultHasTheManifest(t *testing.T) {
	tool, err := Open(Options{ID: "subset", Argv: []string{Install(t, t.TempDir(), "subset")}, Capabilities: []string{"fs.read", "fs.write"}, Timeout: Ample, Handshake: Ample, Teardown: Ample})
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.Invoke(t.Context(), adapters.ToolCall{Function: "fix"})
	if err != nil || string(r.Output) != `{"bytes":2}` || len(r.Manifest.Capabilities) != 1 || r.Audit.Outcome != "ok" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestFailureText: a failure names the tool, the function and the code, and has a hint.
func TestFailureText(t *testing.T) {
	_, err := called(t, Options{Argv: []string{"/none"}})
	var f *adapters.Failure
	if !errors.As(err, &f) || f.Error() != "tool s: f: the command: stat /none: no such file or directory (launch_failed)" || !strings.Contains(f.Hint, "bento tool test s") {
		t.Errorf("got %v, hint %q", err, f.Hint)
	}
}

// bare starts a program and waits for it, with the least work that a caller can do.
func bare(b *testing.B, path string) {
	cmd := exec.Command(path)
	cmd.Stdin = strings.NewReader("{}\n{}\n")
	if out, err := cmd.Output(); err != nil || len(out) == 0 {
		b.Fatalf("%s, %v", out, err)
	}
}

// BenchmarkCall alternates a call of a tool in sh with a bare start of the same program. The limits for
// call/bare are 1.5 and one millisecond more.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "tool")
	text := "#!/bin/sh\nread -r hello\necho '{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"s\",\"plugin_version\":\"1\",\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"f\"]}}'\n" +
		"read -r request\nid=${request#*'\"request_id\":\"'}\nid=${id%%'\"'*}\nprintf '{\"type\":\"response\",\"request_id\":\"%s\",\"status\":\"ok\"}\\n' \"$id\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		b.Fatal(err)
	}
	tool, err := Open(Options{ID: "s", Argv: []string{path}})
	if err != nil {
		b.Fatal(err)
	}
	compare(b, func() {
		if _, err := tool.Call(b.Context(), adapters.ToolCall{Function: "f"}); err != nil {
			b.Fatal(err)
		}
	}, func() { bare(b, path) })
}
