package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	bentomcp "github.com/bentobuild/bento/internal/mcp"
)

// agent is a client of bento mcp in a workspace.
type agent struct {
	*mcp.ClientSession
	root  string
	heard chan string  // messages of progress
	end   func() error // closes stdin of bento, and returns its result
}

// agentFiles is a workspace with a task that succeeds, one that fails and one that runs until it is ended.
var agentFiles = map[string]string{
	"bento.toml": "",
	"api/src":    "one",
	"api/dish.toml": `language = "none"
[tasks.build]
run = "cat src; echo built > out"
inputs = ["src"]
outputs = ["out"]
[tasks.test]
run = "echo src:3:1: error: wrong; exit 1"
[tasks.args]
run = ["sh", "-c", "echo args: $*", "sh"]
cache = false
[tasks.sleep]
run = "echo $$ > pid; echo sleeps; sleep 600"
cache = false
[tasks.talk]
run = "yes a line of a long log | head -n 20000"
cache = false
`,
}

// newAgent starts bento mcp in a workspace, and connects the client of the official library to it.
func newAgent(t *testing.T, files map[string]string, args ...string) *agent {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, root, name, text)
	}
	return agentIn(t, root, args...)
}

// agentIn is newAgent for a directory that is a workspace.
func agentIn(t *testing.T, root string, args ...string) *agent {
	t.Helper()
	home := t.TempDir()
	a := &agent{root: root, heard: make(chan string, 1000)}
	cmd := exec.Command(builtBento(t), append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+home, "BENTO_CACHE_DIR="+filepath.Join(home, "cache"))
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { a.heard <- r.Params.Message },
	})
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.end = sync.OnceValue(func() error { return errors.Join(stdin.Close(), cmd.Wait()) })
	t.Cleanup(func() {
		if err := a.end(); err != nil {
			t.Errorf("bento mcp ended with %v", err)
		}
	})
	a.ClientSession, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: stdout, Writer: stdin}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask calls a tool and returns the texts of its answer.
func (a *agent) ask(t *testing.T, tool string, args map[string]any) (texts []string, failed bool) {
	t.Helper()
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		texts = append(texts, c.(*mcp.TextContent).Text)
	}
	if len(texts) == 0 {
		t.Fatalf("%s: no text", tool)
	}
	if err := conforms([]byte(texts[0])); err != nil {
		t.Errorf("%s: %v", tool, err)
	}
	return texts, r.IsError
}

// want checks members of the document that a tool returns.
func (a *agent) want(t *testing.T, tool string, args map[string]any, members ...string) string {
	t.Helper()
	texts, _ := a.ask(t, tool, args)
	for _, m := range members {
		path, want, _ := strings.Cut(m, "=")
		if got, err := lookup([]byte(texts[0]), path); err != nil || got != want {
			t.Errorf("%s %v: %s is %q, %v, want %q in\n%s", tool, args, path, got, err, want, texts[0])
		}
	}
	return texts[0]
}

// wantError checks the message and the hint of the error that a tool returns.
func (a *agent) wantError(t *testing.T, tool string, args map[string]any, message, hint string) {
	t.Helper()
	texts, failed := a.ask(t, tool, args)
	var doc struct{ Schema, Message, Hint string }
	if err := json.Unmarshal([]byte(texts[0]), &doc); err != nil || !failed || doc.Schema != "bento.error/1" || !strings.Contains(doc.Message, message) || !strings.Contains(doc.Hint, hint) {
		t.Errorf("%s %v: failed %v, %v, %+v; want %q with the hint %q", tool, args, failed, err, doc, message, hint)
	}
}

// TestAgentLooks: an agent that may not run tasks gets the documents of the commands, and resources.
func TestAgentLooks(t *testing.T) {
	t.Parallel()
	a := newAgent(t, agentFiles)
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		schema, _ := tool.InputSchema.(map[string]any)
		for name, p := range schema["properties"].(map[string]any) {
			if about, _ := p.(map[string]any)["description"].(string); about == "" {
				t.Errorf("%s: %s has no description", tool.Name, name)
			}
		}
		if !tool.Annotations.ReadOnlyHint || tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	if want := strings.Fields("plan why last findings logs graph explain doctor dishes tasks query owners"); !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	a.want(t, "plan", nil, "schema=bento.plan/1", "summary.tasks=2")
	a.want(t, "plan", map[string]any{"tasks": []string{"api:build"}}, "summary.tasks=1")
	a.want(t, "why", map[string]any{"task": "api:build"}, "schema=bento.why/1")
	a.want(t, "graph", nil, "schema=bento.graph/1")
	a.want(t, "dishes", map[string]any{"targets": []string{"./api"}}, "schema=bento.dish.list/1", "entries.#=1")
	a.want(t, "tasks", nil, "schema=bento.tasks/1", "entries.#=5")
	a.want(t, "doctor", nil, "schema=bento.doctor/1", "root="+a.root)
	a.want(t, "explain", map[string]any{"code": "no_log"}, "schema=bento.explain/1", "entries.0.code=no_log")
	a.want(t, "query", map[string]any{"what": "tags"}, "schema=bento.query.tags/1")
	a.want(t, "query", map[string]any{"what": "dependents", "of": []string{"api:build"}}, "schema=bento.query.dependents/1")
	a.want(t, "query", map[string]any{"what": "paths", "of": []string{"api/gone.go"}}, "schema=bento.query.paths/1")
	a.want(t, "owners", map[string]any{"paths": []string{"api"}}, "schema=bento.owners/1")
	a.wantError(t, "query", map[string]any{"what": "anything"}, "anything", "")
	a.wantError(t, "query", map[string]any{"what": "paths", "of": []string{"/etc/passwd"}}, "/etc/passwd", "")
	a.wantError(t, "owners", nil, "the argument paths is missing", "")
	a.wantError(t, "last", nil, "no run is recorded", "bento run build")
	a.wantError(t, "findings", nil, "no run is recorded", "bento run build")
	a.wantError(t, "logs", map[string]any{"task": "api:build"}, "api:build has no log", "")
	a.wantError(t, "why", map[string]any{"task": "api:biuld"}, "biuld", `did you mean "build"?`)
	if _, err := os.Stat(filepath.Join(a.root, "api", "out")); err == nil {
		t.Error("a task was executed")
	}

	resources, err := a.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) < 60 {
		t.Fatalf("%v, %d resources", err, len(resources.Resources))
	}
	for _, r := range resources.Resources {
		if got, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI}); err != nil || len(got.Contents) != 1 || got.Contents[0].Text == "" {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	if _, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "bento://schema/plna"}); err == nil || !strings.Contains(err.Error(), "bento://schema/plan") {
		t.Errorf("an unknown resource: %v", err)
	}
}

// TestAgentIsRefused: what an agent may not do, or asks for wrongly, is an error that names what was expected.
func TestAgentIsRefused(t *testing.T) {
	t.Parallel()
	a := newAgent(t, agentFiles)
	a.wantError(t, "run", map[string]any{"tasks": []string{"api:build"}}, "executes no task", "--allow run")
	if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "paln"}); err == nil || !strings.Contains(err.Error(), `did you mean "plan"`) {
		t.Errorf("an unknown tool: %v", err)
	}
	for _, c := range []struct {
		tool      string
		args      map[string]any
		want, how string
	}{
		{"plan", map[string]any{"tasks": "api:build"}, "tasks is a string, want a list of strings", "plan takes tasks (a list of strings)"},
		{"plan", map[string]any{"tasks": []any{1}}, "tasks is a list with other elements, want a list of strings", ""},
		{"plan", map[string]any{"task": []string{"build"}}, `no argument is named "task"`, "tasks (a list of strings)"},
		{"plan", map[string]any{"targets": []string{"-C/"}}, `targets is "-C/", want a name`, ""},
		{"plan", map[string]any{"targets": []string{""}}, `targets is "", want a name`, ""},
		{"plan", map[string]any{"since": 3}, "since is a number, want a string", ""},
		{"plan", map[string]any{"since": "a\x00b"}, "no NUL", ""},
		{"plan", map[string]any{"since": strings.Repeat("x", 5000)}, "5000 bytes, want at most 4096", ""},
		{"plan", map[string]any{"tasks": slices.Repeat([]string{"x"}, 1001)}, "1001 strings, want at most 1000", ""},
		{"plan", map[string]any{"targets": []string{"nobody"}}, `"nobody"`, ""},
		{"why", nil, "the argument task is missing", "why takes task (a string, required)"},
		{"why", map[string]any{"task": "--help"}, "does not start with -", ""},
		{"doctor", map[string]any{"fix": true}, `no argument is named "fix"`, "doctor takes no arguments"},
		{"last", map[string]any{"workspace": "/"}, `no argument is named "workspace"`, ""},
	} {
		a.wantError(t, c.tool, c.args, c.want, c.how)
	}
	if out, err := exec.Command(builtBento(t), "mcp", "-C", a.root, "--allow", "everything").CombinedOutput(); err == nil || !strings.Contains(string(out), `--allow "everything" is not known`) {
		t.Errorf("%v, %s", err, out)
	}
}

// TestAgentRuns: with --allow run an agent runs tasks, and reads what they have printed and found.
func TestAgentRuns(t *testing.T) {
	t.Parallel()
	a := newAgent(t, agentFiles, "--allow", "run")
	list, err := a.ListTools(t.Context(), nil)
	if last := list.Tools[len(list.Tools)-1]; err != nil || last.Name != "run" || last.Annotations.ReadOnlyHint {
		t.Errorf("%v, %+v", err, last)
	}
	a.want(t, "run", map[string]any{"tasks": []string{"api:build"}}, "schema=bento.run/1", "summary.built=1", "command=bento run --json api:build")
	a.want(t, "run", map[string]any{"tasks": []string{"build"}, "dishes": []string{"api"}}, "summary.hits=1")
	a.want(t, "run", map[string]any{"tasks": []string{"build"}, "force": true, "keep_going": true}, "summary.built=1")
	a.want(t, "plan", map[string]any{"tasks": []string{"api:build"}}, "summary.hits=1")
	texts, failed := a.ask(t, "logs", map[string]any{"task": "api:build"})
	if failed || len(texts) != 2 || texts[1] != "one" {
		t.Errorf("logs: %v, %q", failed, texts)
	}
	a.want(t, "run", map[string]any{"tasks": []string{"api:args"}, "arguments": []string{"-run", "--json", "Test One"}}, "summary.built=1")
	if texts, _ := a.ask(t, "logs", map[string]any{"task": "api:args"}); len(texts) != 2 || texts[1] != "args: -run --json Test One\n" {
		t.Errorf("logs: %q", texts)
	}
	if _, failed := a.ask(t, "run", map[string]any{"tasks": []string{"api:test"}}); !failed {
		t.Error("a failed run is no error")
	}
	a.want(t, "last", nil, "summary.failed=1")
	a.want(t, "findings", nil, "schema=bento.findings/1")
	a.wantError(t, "run", nil, "the argument tasks is missing", "tasks (a list of strings, required)")

	texts, failed = a.ask(t, "run", map[string]any{"tasks": []string{"api:talk"}})
	if failed || len(texts) != 1 {
		t.Errorf("run: %v, %d texts", failed, len(texts))
	}
	texts, _ = a.ask(t, "logs", map[string]any{"task": "api:talk"})
	if len(texts) != 3 || len(texts[1]) > bentomcp.MaxText || !strings.HasPrefix(texts[1], "a line") || !strings.Contains(texts[2], "the last 65536 bytes of 420000") {
		t.Errorf("%d texts, the second has %d bytes: %.200q", len(texts), len(texts[1]), texts[len(texts)-1])
	}
}

// TestAgentCancels: a cancelled call ends the run and its processes, and so does the end of the stream.
func TestAgentCancels(t *testing.T) {
	t.Parallel()
	a := newAgent(t, agentFiles, "--allow", "run")
	pidFile := filepath.Join(a.root, "api", "pid")
	begin := func(ctx context.Context) (ended chan error) {
		ended = make(chan error, 1)
		params := &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"tasks": []string{"api:sleep"}}}
		params.SetProgressToken("p")
		go func() {
			_, err := a.CallTool(ctx, params)
			ended <- err
		}()
		return ended
	}
	awaitPid := func() string {
		for {
			if pid, err := os.ReadFile(pidFile); err == nil && len(pid) > 1 && pid[len(pid)-1] == '\n' {
				os.Remove(pidFile)
				return strings.TrimSpace(string(pid))
			}
			if t.Context().Err() != nil {
				t.Fatal("the task has not begun")
			}
			time.Sleep(time.Millisecond)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := begin(ctx)
	first := awaitPid()
	waiting, give := context.WithCancel(t.Context())
	other := begin(waiting) // it waits for the first one
	give()
	<-other
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call has a result")
	}
	a.want(t, "tasks", nil, "entries.#=5") // the next call runs after the end of the cancelled one
	if alive(first) {
		t.Errorf("process %s is left", first)
	}
	ended = begin(t.Context())
	second := awaitPid()
	if err := a.end(); err != nil {
		t.Error(err)
	}
	<-ended
	if alive(second) {
		t.Errorf("process %s is left after the end of the stream", second)
	}
	if _, err := os.Stat(pidFile); err == nil {
		t.Error("a call that was cancelled while it waited has run")
	}
}

// alive reports whether a process runs.
func alive(pid string) bool { return exec.Command("kill", "-0", pid).Run() == nil }

// TestAgentHearsProgress: a client that passes a token hears of the tasks while they run.
func TestAgentHearsProgress(t *testing.T) {
	t.Parallel()
	a := newAgent(t, agentFiles, "--allow", "run")
	params := &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"tasks": []string{"api:build"}}}
	params.SetProgressToken(7)
	if _, err := a.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if first := <-a.heard; first == "" || len(first) > 200 {
		t.Errorf("progress: %q", first)
	}
}

// TestAgentGetsBoundedText: an answer about very many tasks is cut, and says how to get less.
func TestAgentGetsBoundedText(t *testing.T) {
	t.Parallel()
	files := map[string]string{"bento.toml": ""}
	for i := range 600 {
		files[fmt.Sprintf("d%03d/dish.toml", i)] = "language = \"none\"\n[tasks.build]\nrun = \"true\"\n"
	}
	a := newAgent(t, files)
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "plan"})
	if err != nil || r.IsError || len(r.Content) != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	text, cut := r.Content[0].(*mcp.TextContent).Text, r.Content[1].(*mcp.TextContent).Text
	if len(text) > bentomcp.MaxText || len(text) < bentomcp.MaxText/2 || !strings.HasSuffix(text, "\n") || !strings.Contains(cut, "Name fewer tasks or targets") {
		t.Errorf("%d bytes, %q", len(text), cut)
	}
	a.want(t, "plan", map[string]any{"targets": []string{"d001"}}, "summary.tasks=1")
}

// TestAgentStaysInside: the server serves the workspace in which it was started and no other one, even if that
// workspace vanishes inside of another.
func TestAgentStaysInside(t *testing.T) {
	t.Parallel()
	files := map[string]string{"bento.toml": "", "outer/dish.toml": "language = \"none\"\n[tasks.build]\nrun = \"true\"\n"}
	for name, text := range agentFiles {
		files["inner/"+name] = text
	}
	a := newAgent(t, files, "-C", "inner", "--allow", "run")
	a.want(t, "dishes", nil, "entries.#=1", "entries.0.name=api")
	for _, target := range []string{"../outer", filepath.Join(a.root, "outer"), "outer"} {
		texts, failed := a.ask(t, "dishes", map[string]any{"targets": []string{target}})
		if !failed || strings.Contains(texts[0], "entries") {
			t.Errorf("%s: %s", target, texts[0])
		}
	}
	if err := os.Remove(filepath.Join(a.root, "inner", "bento.toml")); err != nil {
		t.Fatal(err)
	}
	a.wantError(t, "plan", nil, "is no workspace any more", "start bento again")
	a.wantError(t, "run", map[string]any{"tasks": []string{"outer:build"}}, "is no workspace any more", "")
	if err := os.RemoveAll(filepath.Join(a.root, "inner")); err != nil {
		t.Fatal(err)
	}
	a.wantError(t, "tasks", nil, "no such file or directory", "")
	write(t, a.root, "inner/bento.toml", "")
	a.want(t, "dishes", nil, "entries.#=0")
	out, err := exec.Command(builtBento(t), "mcp", "-C", t.TempDir()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no workspace at or above") {
		t.Errorf("outside of a workspace: %v, %s", err, out)
	}
}

// TestAgentInspector: a client of others, the inspector of the Model Context Protocol, lists the tools and calls one. It is
// optional: npm install --global @modelcontextprotocol/inspector installs it.
func TestAgentInspector(t *testing.T) {
	t.Parallel()
	inspector, err := exec.LookPath("mcp-inspector")
	if err != nil {
		t.Skip("mcp-inspector is not installed")
	}
	root := t.TempDir()
	for name, text := range agentFiles {
		write(t, root, name, text)
	}
	ask := func(args ...string) (answer struct {
		Tools   []struct{ Name string }
		Content []struct{ Text string }
	}) {
		t.Helper()
		out, err := exec.Command(inspector, append([]string{"--cli", builtBento(t), "mcp", "-C", root, "--method"}, args...)...).Output()
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return answer
	}
	if list := ask("tools/list"); len(list.Tools) != 12 || list.Tools[0].Name != "plan" {
		t.Errorf("%+v", list.Tools)
	}
	if got := ask("tools/call", "--tool-name", "why", "--tool-arg", "task=api:build"); len(got.Content) != 1 || !strings.Contains(got.Content[0].Text, `"bento.why/1"`) {
		t.Errorf("%+v", got.Content)
	}
}
