package run

import (
	"context"
	"errors"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// AddPackages adds packages to a dish with the command of its ecosystem. It locks the workspace, so
// that no run of another bento reads half-written manifests.
func AddPackages(ctx context.Context, env *Env, d *dish.Dish, packages []string, dev bool, log adapters.LogFunc) error {
	release, _ := env.lockWorkspace(ctx)
	defer release()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	env.executing()
	return (&installer{Env: env}).Add(ctx, d, packages, dev, log)
}

// errInterrupted is the error of an install that the interrupt has ended.
var errInterrupted = errors.New("ended by the interrupt")

// scopeInstall is the install of one scope in this run.
type scopeInstall struct {
	first  *plan.Task // the task whose turn has started it
	done   bool
	err    error
	report *Install // nil if no install was needed
}

// executeInstalled executes a task once its dependencies are installed.
func (e *engine) executeInstalled(ctx context.Context, ev *key.Evaluation) {
	d := ev.Task.Dish
	if !e.mayExecute(ev.Task) {
		e.end(&Result{Task: ev.Task, Outcome: Failed, Reason: ReasonNotConfirmed, Message: "it asks before it runs, and was a cache hit when the run began", Key: ev.Key, ExitCode: -1})
		return
	}
	if !ev.Task.AwaitsInstall() {
		e.execute(ctx, ev, "")
		return
	}
	if e.opts.SkipInstall {
		unsure := ""
		if !(&installer{Env: e.env, Tree: e.tree}).UpToDate(ctx, d) {
			unsure = "its dependencies are not installed as the manifests say"
		}
		e.execute(ctx, ev, unsure)
		return
	}
	id := d.ScopeID()
	s := e.installs[id]
	switch {
	case s == nil:
		e.node(ev.Task).to(inInstall)
		s = &scopeInstall{first: ev.Task}
		e.installs[id] = s
		e.job(func() func() {
			i := (&installer{Env: e.env, Tree: e.tree, Force: e.opts.ForceInstall}).Ensure(ctx, d)
			return func() { e.installed(ctx, s, i, ev) }
		})
	case !s.done:
		e.node(ev.Task).to(inInstall)
		// Until then other tasks can use its workers.
		e.queue.Release(ev.Task)
	case s.err != nil:
		e.end(installFailure(ev, s.err))
	default:
		e.execute(ctx, ev, "")
	}
}

// installFor returns the install that a task has waited for, nil for none.
func (e *engine) installFor(t *plan.Task) *Install {
	if !t.AwaitsInstall() {
		return nil
	}
	if s := e.installs[t.Dish.ScopeID()]; s != nil {
		return s.report
	}
	return nil
}

// installed handles the end of an install.
func (e *engine) installed(ctx context.Context, s *scopeInstall, i *Install, first *key.Evaluation) {
	s.done = true
	if i != nil {
		i.first, s.report = first.Task.Index, i
		e.installReports = append(e.installReports, i)
		s.err = i.Err
		e.keys.NoteWritten(ctx, key.Written{Installed: first.Task.Dish})
	}
	for _, n := range e.nodes {
		if n.phase == inInstall && n.task != first.Task && e.installs[n.task.Dish.ScopeID()] == s {
			n.to(ready)
			e.queue.Add(n.task)
		}
	}
	e.begin(ctx, first.Task)
}

func installFailure(ev *key.Evaluation, err error) *Result {
	if errors.Is(err, errInterrupted) {
		return interrupted(ev)
	}
	r := &Result{Task: ev.Task, Outcome: Failed, Reason: ReasonInstallFailed, Key: ev.Key, ExitCode: 1, Message: "its dependencies could not be installed: " + err.Error()}
	errors.As(err, &r.Failure)
	return r
}

// InstallAll installs the dependencies of dishes, each scope once, one after the
// other, while no other bento runs in the workspace. It continues after a failure.
func InstallAll(ctx context.Context, env *Env, t *tree.Tree, dishes []*dish.Dish, force bool) ([]*Install, error) {
	env.Snapshot.Acts()
	release, _ := env.lockWorkspace(ctx)
	defer release()
	env.Toolchains.LetRun()
	in := &installer{Env: env, Tree: t, Force: force}
	seen := make(map[string]bool)
	var installs []*Install
	var lacking, left []diagnostics.Diagnostic
	for _, d := range dishes {
		if ctx.Err() != nil {
			return installs, ctx.Err()
		}
		if !d.Installs() || seen[d.ScopeID()] {
			continue
		}
		seen[d.ScopeID()] = true
		i := in.Ensure(ctx, d)
		var missing *adapters.MissingTool
		switch {
		case i == nil:
		case !errors.As(i.Err, &missing):
			installs = append(installs, i)
		case d.Toolchain.SkipMissing:
			left = append(left, key.MissingTool(d, missing))
		default:
			lacking = append(lacking, key.MissingTool(d, missing))
		}
	}
	env.warnAll(left)
	if err := diagnostics.AsError(lacking); err != nil {
		return installs, err
	}
	return installs, env.Toolchains.Save()
}
