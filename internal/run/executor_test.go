package run_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/workspace"
)

// afar is an Executor that runs a command in a directory with copies of its inputs and nothing else, and
// copies back what matches its outputs, as an engine on another machine does.
type afar struct{ root string }

func (a afar) Start(ctx context.Context, c *action.Command) (action.Execution, error) {
	if strings.HasSuffix(c.Argv[len(c.Argv)-1], "# nowhere") {
		return action.Execution{}, errors.New("no worker")
	}
	dir, err := os.MkdirTemp("", "afar")
	if err != nil {
		return action.Execution{}, err
	}
	inputs := c.Inputs
	if inputs == nil {
		inputs = func(func(key.File) bool) {}
	}
	for f := range inputs {
		data, err := os.ReadFile(filepath.Join(a.root, f.Path))
		if sum := cache.Sum(data); err == nil && f.Target == "" && sum != f.Sum {
			err = errors.New(f.Path + " has other content than the command says")
		}
		if err := cmp.Or(err, copyTo(filepath.Join(dir, f.Path), data)); err != nil {
			return action.Execution{}, err
		}
	}
	rel, _ := filepath.Rel(a.root, c.Dir)
	spec := c.Spec
	spec.Dir = filepath.Join(dir, rel)
	spec.Env = adapters.Environ(c.Env).With(map[string]string{"PWD": spec.Dir})
	if err := os.MkdirAll(spec.Dir, 0o755); err != nil {
		return action.Execution{}, err
	}
	child, err := proc.Start(spec)
	if err != nil {
		return action.Execution{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	return action.Execution{Cancel: cancel, Wait: func() (proc.Result, error) {
		defer cancel()
		defer os.RemoveAll(dir)
		res := child.Wait(ctx)
		if res.ExitCode != 0 || c.Outputs == nil {
			return res, nil
		}
		if err := a.fetch(dir, c.Outputs); err != nil {
			return res, &action.OutputError{Err: err}
		}
		return res, nil
	}}, nil
}

// fetch copies the outputs of a command from a directory to the workspace.
func (a afar) fetch(dir string, outputs *tree.Set) error {
	made, err := tree.Expand(dir, outputs)
	for _, e := range made {
		if e.Kind != tree.File || err != nil {
			continue
		}
		var data []byte
		if data, err = os.ReadFile(filepath.Join(dir, e.Path)); err == nil {
			err = copyTo(filepath.Join(a.root, e.Path), data)
		}
	}
	return err
}

func copyTo(name string, data []byte) error {
	return cmp.Or(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644))
}

const tasks = `language = "none"
depends_on = ["lib"]
[tasks.gen]
run = "cat ../lib/words > gen.txt"
inputs = ["//lib/words"]
outputs = ["gen.txt"]
[tasks.build]
run = "mkdir out && cat src.c gen.txt ../lib/more > out/all && echo made && echo slowly >&2"
depends_on = ["gen"]
outputs = ["out/*"]
[tasks.lint]
run = "test ! -e ../undeclared && echo src.c:1:2: error: misspelt && exit 3"
[tasks.undeclared]
run = "cat ../undeclared"
[tasks.long]
run = "echo begun; exec sleep 1000"
[tasks.server]
run = "echo up; exec sleep 1000"
persistent = true
ready = { log = "up" }
[tasks.asks]
run = "echo up; exec sleep 1000"
depends_on = ["late"]
[tasks.late]
run = "exec sleep 1000"
persistent = true
ready = { cmd = "test -e /none", timeout = "1s" }
[tasks.after]
run = "true"
depends_on = ["server"]
[tasks.missing]
run = "true"
outputs = ["none"]
[tasks.nowhere]
run = "exit 0 # nowhere"
`

// bench is a workspace whose commands are executed afar.
type bench struct {
	*testing.T
	root  string
	env   adapters.Environ
	stop  context.CancelFunc // called at the first output of a task; nil for none
	late  *late              // the remote cache; nil for none
	local bool               // commands are processes of this machine
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, root: t.TempDir()}
	home := t.TempDir()
	b.env = adapters.NewEnviron([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BENTO_CACHE_DIR=" + filepath.Join(home, "cache")})
	for name, text := range map[string]string{"bento.toml": "", "lib/dish.toml": "language = \"none\"\n", "lib/words": "some words\n", "lib/more": "more\n", "undeclared": "x", "d/src.c": "source\n", "d/dish.toml": tasks} {
		if err := copyTo(filepath.Join(b.root, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) Report(e run.Event) {
	_, printed := e.(run.TaskOutput)
	if printed && b.stop != nil {
		b.stop()
	}
	if printed && b.late != nil && b.late.printed != nil {
		close(b.late.printed)
		b.late.printed = nil
	}
}

// run runs a task, and returns the results by name and the log of the task.
func (b *bench) run(task string) (results map[string]*run.Result, log string) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	if b.stop != nil {
		b.stop = cancel
	}
	h := &workspace.Host{Environ: b.env, Stderr: b.Output()}
	defer h.Close()
	ws, err := h.Open(ctx, workspace.Options{Root: b.root, Warn: func(_, message, _ string) { b.Log(message) }, Damaged: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	p, problems := plan.Build(ws.Workspace, plan.Request{Tasks: []string{task}})
	if err := diagnostics.AsError(problems); err != nil {
		b.Fatal(err)
	}
	for _, t := range p.Tasks {
		t.Hook = &adapters.Hook{Parser: "gnu"}
	}
	env := &run.Env{
		Root: b.root, Tree: ws.Tree, Environ: b.env, Program: "test", Reporter: b, State: ws.State, Store: ws.Store, Snapshot: ws.Snapshot, History: ws.History,
		Toolchains: key.OpenToolchains(ws.State, state.OpenShared("")), Executor: afar{b.root}, Parse: parse.Parse,
	}
	if b.local {
		env.Executor = nil
	}
	if b.late != nil {
		env.Remote = b.late.tier(ws)
	}
	report, err := run.Run(ctx, env, p, run.Options{Workers: 2, Output: true})
	if err != nil {
		b.Fatal(err)
	}
	results = make(map[string]*run.Result)
	for _, r := range report.Results {
		if results[r.Task.Name] = r; r.Task.Name == task {
			err = r.ReplayLog(ws.Store, func(_ action.Stream, p []byte) { log += string(p) })
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return results, log
}

// An Executor that knows nothing but the Command runs a task as this machine does: with its inputs, the sources of
// a linked dish and the outputs of its dependency. Its outputs are stored, its log is kept, and a hit restores it.
func TestExecutorElsewhere(t *testing.T) {
	b := newBench(t)
	results, log := b.run("build")
	for name, r := range results {
		if r.Outcome != run.Built || !r.Stored {
			t.Errorf("%s: %s, %s %s, stored: %v", name, r.Outcome, r.Reason, r.Message, r.Stored)
		}
	}
	made := filepath.Join(b.root, "d/out/all")
	if text, err := os.ReadFile(made); string(text) != "source\nsome words\nmore\n" {
		t.Errorf("made %q, %v", text, err)
	}
	if !strings.Contains(log, "made\n") || !strings.Contains(log, "slowly\n") {
		t.Errorf("the log is %q", log)
	}
	os.RemoveAll(filepath.Dir(made))
	results, again := b.run("build")
	if text, _ := os.ReadFile(made); results["build"].Outcome != run.CacheHit || string(text) != "source\nsome words\nmore\n" || again != log {
		t.Errorf("%s, restored %q, log %q", results["build"].Outcome, text, again)
	}
}

// The ends of a command are those of a task, wherever it runs.
func TestExecutorEnds(t *testing.T) {
	for task, want := range map[string]struct {
		outcome run.Outcome
		reason  string
		exit    int
		log     string
	}{
		"lint":       {run.Failed, "exit_status", 3, "src.c:1:2: error: misspelt\n"},
		"undeclared": {run.Failed, "exit_status", 1, "cat: ../undeclared: No such file or directory\n"},
		"missing":    {run.Failed, "missing_output", 0, ""},
		"nowhere":    {run.Failed, "launch_failed", 127, ""},
		"after":      {run.Built, "", 0, ""},
		"asks":       {run.Skipped, run.ReasonDependencyFailed, 0, ""},
	} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			results, log := newBench(t).run(task)
			r := results[task]
			if r.Outcome != want.outcome || r.Reason != want.reason || r.ExitCode != want.exit || log != want.log {
				t.Errorf("got %s, %q (%s), exit code %d, log %q; want %+v", r.Outcome, r.Reason, r.Message, r.ExitCode, log, want)
			}
			if task == "lint" && (len(r.Diagnostics) != 1 || r.Diagnostics[0].File != "d/src.c") {
				t.Errorf("findings %v", r.Diagnostics)
			}
			if late := results["late"]; late != nil && late.Reason != "not_ready" {
				t.Errorf("the server: %s, %s", late.Reason, late.Message)
			}
		})
	}
}

// An interrupt ends a command wherever it runs.
func TestExecutorCanceled(t *testing.T) {
	b := newBench(t)
	b.stop = func() {}
	results, log := b.run("long")
	if r := results["long"]; r.Outcome != run.Skipped || r.Reason != run.ReasonInterrupted || log != "begun\n" {
		t.Errorf("%s, %s, log %q", r.Outcome, r.Reason, log)
	}
}
