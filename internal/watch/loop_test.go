package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
)

// reporter drops the events of runs.
type reporter struct{}

func (reporter) Report(run.Event) {}

// opener returns a function that opens the workspace at root, with the tasks build.
func opener(t *testing.T, root string) func(context.Context) (*Workspace, error) {
	environ := adapters.NewEnviron([]string{"PATH=" + os.Getenv("PATH"), "BENTO_CACHE_DIR=" + filepath.Join(root, "..", "cache")})
	host := &workspace.Host{Environ: environ, Version: "test", Stderr: t.Output()}
	t.Cleanup(host.Close)
	return func(ctx context.Context) (*Workspace, error) {
		env := &run.Env{Root: root, Environ: environ, Program: "test", Reporter: reporter{}}
		ws, err := host.Open(ctx, workspace.Options{Root: root, Warn: func(_, message, _ string) { t.Log(message) }, Damaged: func(err error) { t.Error(err) }})
		if err != nil {
			return nil, err
		}
		env.Tree, env.State, env.Store, env.Snapshot, env.History = ws.Tree, ws.State, ws.Store, ws.Snapshot, ws.History
		env.Toolchains = key.OpenToolchains(ws.State, state.OpenShared(host.AnswersDir(root)))
		return &Workspace{
			Env: env, Close: ws.Close,
			Plan: func(context.Context) (*plan.Plan, error) {
				p, problems := plan.Build(ws.Workspace, plan.Request{Tasks: []string{"build"}})
				return p, diagnostics.AsError(append(ws.Problems, problems...))
			},
			Run: func(ctx context.Context, p *plan.Plan, cancel <-chan string, again func(*plan.Task) bool) (*run.Report, error) {
				return run.Run(ctx, env, p, run.Options{Workers: 1, KeepGoing: true, Cancel: cancel, Again: again})
			},
		}, nil
	}
}

// TestLoop: the loop runs a task again after a change of its input and on request, not after other changes, and it
// survives an error of the workspace.
func TestLoop(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, "w")
	if err := os.MkdirAll(filepath.Join(root, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("bento.toml", "")
	put("d/in", "good")
	const dish = "language = \"none\"\n[tasks.build]\nrun = \"echo x >> ../../runs; grep -q good in\"\ninputs = [\"in\"]\n"
	put("d/dish.toml", dish)

	ctx, cancel := context.WithCancel(t.Context())
	rests, events := make(chan State), make(chan string, 100)
	send := func(name string) func() { return func() { events <- name } }
	loop := New(Options{
		Root: root, Open: opener(t, root), Unread: func() bool { return false }, Changed: func([]string) {},
		Serve:      func(context.Context, string, func(run.Event) bool) error { return errors.New("no task is persistent") },
		Restarting: func(id, _ string) { t.Errorf("%s restarts", id) },
		Corrected:  send("corrected"), NoneFailed: send("none failed"), Failed: func(err error) { events <- "failed" },
		Warn: func(code, _, _ string) { events <- code },
		Rest: func(ran bool, state func() State) {
			select {
			case rests <- state():
			case <-ctx.Done():
			}
		},
	})
	ended := make(chan error)
	go func() { ended <- loop.Run(ctx) }()
	// until waits until the loop rests in a state and the task has run this often.
	until := func(want State, runs int) {
		t.Helper()
		for deadline := time.After(5 * time.Minute); ; {
			select {
			case now := <-rests:
				if data, _ := os.ReadFile(filepath.Join(root, "..", "runs")); now == want && len(data) == 2*runs {
					return
				}
			case err := <-ended:
				t.Fatalf("the loop ended: %v", err)
			case <-deadline:
				t.Fatalf("the loop does not rest in %+v after %d runs", want, runs)
			}
		}
	}
	until(State{Tasks: 1}, 1)
	put("d/in", "bad")
	until(State{Tasks: 1, Failed: 1}, 2)
	loop.Request(RunFailed)
	until(State{Tasks: 1, Failed: 1}, 3)
	if last, _ := loop.Latest(); last == nil || last.Outcome != run.Failed {
		t.Errorf("the latest result is %+v", last)
	}
	put("d/in", "good again")
	until(State{Tasks: 1}, 4)
	loop.RunTask("d:build") // a hit otherwise
	until(State{Tasks: 1}, 5)
	put("d/other", "x")
	loop.Request(RunFailed)
	until(State{Tasks: 1}, 5)
	loop.Request(RunAll)
	until(State{Tasks: 1}, 6)
	put("d/dish.toml", "language = 1\n")
	until(State{Tasks: 1, Broken: true}, 6)
	put("d/dish.toml", dish)
	until(State{Tasks: 1}, 6)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	close(events)
	seen := make(map[string]bool)
	for e := range events {
		seen[e] = true
	}
	for _, want := range []string{"none failed", "failed", "corrected"} {
		if !seen[want] {
			t.Errorf("not reported: %s", want)
		}
	}
}
