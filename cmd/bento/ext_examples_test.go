package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// exampleExtensions are the examples that have to be built.
var exampleExtensions = []string{"notify", "flaky"}

// extended is a workspace with the three extensions of examples/extensions, approved.
type extended struct {
	t      *testing.T
	root   string
	env    []string
	bento  string
	mu     sync.Mutex
	posted []string // requests to the webhook
}

func newExtended(t *testing.T) *extended {
	t.Helper()
	adaptertest.Need(t, "go", "python3")
	w := &extended{t: t, root: filepath.Join(t.TempDir(), "ws"), bento: builtBento(t)}
	server := httptest.NewServer(http.HandlerFunc(w.hook))
	t.Cleanup(server.Close)
	home := t.TempDir()
	w.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "BENTO_CACHE_DIR="+filepath.Join(home, "cache"), "GITHUB_ACTIONS=")
	source := filepath.Join("..", "..", "examples", "extensions")
	if err := os.CopyFS(filepath.Join(w.root, "tools"), os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	for _, name := range exampleExtensions {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", filepath.Join(w.root, "tools", name, name), "./examples/extensions/"+name)
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	write(t, w.root, "bento.toml", `[extensions.'bento.notify']
path = "tools/notify"
grant = ["events.subscribe", "notifications.create"]
wait = "5m"
env = { NOTIFY_WEBHOOK = "`+server.URL+`", NO_PROXY = "*" }
[extensions.flaky]
path = "tools/flaky"
grant = ["event_bus"]
[extensions.budget]
path = "tools/budget"
grant = ["event_bus"]
config = { seconds = 3600, hits_percent = 0 }
`)
	write(t, w.root, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo built\"\n[tasks.once]\nretry = 1\nrun = \"test -e ../seen || { touch ../seen; exit 1; }\"\n")
	return w
}

func (w *extended) hook(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.posted = append(w.posted, string(body))
}

// run runs bento in the workspace.
func (w *extended) run(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	var out, said strings.Builder
	cmd := exec.Command(w.bento, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.root, w.env, &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		w.t.Fatalf("bento %q: %v, want code %d\n%s%s", args, err, code, &out, &said)
	}
	return out.String(), said.String()
}

func (w *extended) approve() {
	w.t.Helper()
	for _, id := range []string{"bento.notify", "flaky", "budget"} {
		w.run(0, "ext", "approve", id)
	}
}

// result returns the part of a run's document that does not depend on extensions.
func result(t *testing.T, stdout string) string {
	t.Helper()
	var doc struct {
		Summary map[string]any
		Bentos  []struct {
			Dishes []struct {
				Name  string
				Tasks []struct {
					Name    string
					Key     string
					Outcome map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	delete(doc.Summary, "duration_ms")
	text, _ := json.Marshal(doc)
	return string(text)
}

// TestExampleExtensions: the three examples get the events of a run, show a message, answer commands, and
// change no result.
func TestExampleExtensions(t *testing.T) {
	t.Parallel()
	w := newExtended(t)
	without, _ := w.run(0, "run", "build", "once", "--json", "--force")
	w.approve()
	if err := os.Remove(filepath.Join(w.root, "seen")); err != nil {
		t.Fatal(err)
	}
	with, said := w.run(0, "run", "build", "once", "--json", "--force")
	if result(t, with) != result(t, without) {
		t.Errorf("with extensions:\n%s\nwithout:\n%s", result(t, with), result(t, without))
	}
	if !strings.Contains(said, "bento: bento.notify: 2 tasks are done in ") || !strings.Contains(said, "flaky: d:once") {
		t.Errorf("stderr: %s", said)
	}
	w.mu.Lock()
	if len(w.posted) != 1 || !strings.Contains(w.posted[0], `{"text":"bento: 2 tasks are done in `) {
		t.Errorf("posted: %q", w.posted)
	}
	w.mu.Unlock()
	if out, _ := w.run(0, "x", "flaky", "list"); !strings.Contains(out, "d:once                         1 of 1 runs were flaky") {
		t.Errorf("flaky: %s", out)
	}
	if out, _ := w.run(0, "x", "budget", "check"); !strings.Contains(out, " s, 0 % hits: within the budget") {
		t.Errorf("budget: %s", out)
	}
	if out, _ := w.run(2, "--json", "x", "budget", "spend"); !strings.Contains(out, `"stderr": "usage: bento x budget check\n"`) {
		t.Errorf("budget: %s", out)
	}
	if out, _ := w.run(0, "ext", "audit", "budget"); !strings.Contains(out, "allow host/snapshot/get event_bus") {
		t.Errorf("audit: %s", out)
	}
	if out, _ := w.run(0, "ext", "audit", "bento.notify"); !strings.Contains(out, "allow host.notifications.toast notifications.create granted") {
		t.Errorf("audit: %s", out)
	}
	w.overBudget()
	for _, name := range exampleExtensions {
		if out, _ := w.run(0, "ext", "test", "./tools/"+name, "--within", "1m"); !strings.Contains(out, " 0 MUST and 0 SHOULD failed") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// overBudget checks that the guard extension fails a run over its budget.
func (w *extended) overBudget() {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.root, "bento.toml"))
	if err != nil {
		w.t.Fatal(err)
	}
	write(w.t, w.root, "bento.toml", strings.Replace(string(text), "hits_percent = 0", "hits_percent = 90", 1))
	if _, said := w.run(1, "x", "budget", "check"); !strings.Contains(said, "budget: 0 % of the tasks were cache hits, the budget is 90 %") {
		w.t.Errorf("budget: %s", said)
	}
}

// TestExtensionScreen: the screen of an extension is shown in a terminal, takes keys and the mouse,
// follows its size, and leaves the terminal as it was.
func TestExtensionScreen(t *testing.T) {
	t.Parallel()
	tmux := needTool(t, "tmux")
	w := newExtended(t)
	w.approve()
	dish := "language = \"none\"\n"
	for _, task := range []string{"one", "two", "last"} {
		dish += "[tasks." + task + "]\nretry = 1\nrun = \"test -e ../" + task + " || { touch ../" + task + "; exit 1; }\"\n"
	}
	write(t, w.root, "d/dish.toml", dish)
	w.run(0, "run", "one", "two", "last")
	p := openPane(t, tmux, 80, 24)
	var env []string
	for _, kv := range w.env[len(os.Environ()):] {
		env = append(env, "'"+kv+"'")
	}
	p.run("stty -a | sed 1d > before; echo at first; cd '" + w.root + "'; env " + strings.Join(env, " ") + " " + w.bento + " x flaky --screen; echo code $?; cd - >/dev/null; stty -a | sed 1d > after; cmp before after && echo unchanged; exec cat")
	p.untilText("flaky tasks", "d:last", "d:one", "d:two", "up and down select")
	screen := p.until("24 rows", func(screen []string) bool { return len(screen) == 24 })
	if !strings.HasPrefix(screen[23], " up and down") || strings.Contains(strings.Join(screen, "\n"), "at first") {
		t.Errorf("the screen is\n%s", strings.Join(screen, "\n"))
	}
	rows := func(n int) func([]string) bool {
		return func(screen []string) bool { return strings.Count(strings.Join(screen, "\n"), "d:") == n }
	}
	p.keys("Down", "d") // forgets the second row
	p.until("two rows", rows(2))
	if first := p.until("the first row", rows(2))[2]; !strings.Contains(first, "d:last") {
		t.Errorf("left is %q", first)
	}
	p.keys("-l", "\x1b[<0;5;3M") // a click on the first row; the second was selected
	p.until("the first row selected", func([]string) bool {
		first := strings.Split(p.tmux("capture-pane", "-e", "-p", "-t", "pane"), "\n")[2]
		return strings.Contains(first, "d:last") && strings.Contains(first, "\x1b[7m")
	})
	p.keys("d")
	if left := p.until("one row", rows(1))[2]; !strings.Contains(left, "d:two") {
		t.Errorf("left is %q", left)
	}
	p.tmux("resize-window", "-t", "pane", "-x", "60", "-y", "12")
	p.until("12 rows", func(screen []string) bool { return len(screen) == 12 && strings.HasPrefix(screen[11], " up and down") })
	p.keys("q")
	p.untilText("at first", "code 0", "unchanged")
}
