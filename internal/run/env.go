// Package run runs a plan: it asks package key for hits and misses, restores hits and
// executes misses, in the order of the graph and with a bounded number of workers. A Reporter
// receives the events; nothing here prints.
package run

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Env is the environment of evaluations and runs, which they share with the rest of the invocation.
type Env struct {
	Root       string     // of the workspace, absolute, without links
	Tree       *tree.Tree // its walk
	Store      cache.Store
	State      *state.Dir
	History    *key.History // as it was read when the workspace was opened, for the first evaluation; may be nil
	Toolchains *key.Toolchains
	Environ    adapters.Environ // the environment that bento was started with
	Snapshot   Snapshot         // the files that the adapters read; an install changes them
	Inherit    bool             // tasks see all of Environ
	Color      action.Color     // whether tasks print colours
	Program    string           // identifies this build of bento
	Installs   InstallSettings
	Parse      diagnostics.ParseFunc // of the output of tasks
	Executor   action.Executor       // of commands; nil: processes of this machine
	Observer   action.Executor       // of the commands that are observed; nil: none is
	Sandbox    Sandbox               // of the commands that are sandboxed
	Containers Containers            // of the commands that run in containers
	Reporter   Reporter
	Elsewhere  Elsewhere // executes the tasks that want it
	// Remote has results that Store lacks, and gets those that a run stores. It may be nil.
	Remote Remote
	// Executing is called before the execution of a task or an install. The files of hold must stay
	// open until all its processes have ended, even if this process is killed. Executing may be nil.
	Executing func(hold []*os.File)

	once sync.Once
	cmds *action.Commands

	// Moves watches directories while tasks run, for all runs of this process. If it is nil, no
	// directory is watched.
	Moves *record.Moves

	held []*os.File // the lock that keeps other runs out of the workspace

	warnings warningList
	mu       sync.Mutex // held while the Reporter receives one event
}

// Snapshot is the files of the workspace as adapters read them, a *snapshot.Snapshot of package adapters/snapshot.
type Snapshot interface {
	Acts()    // is called before tasks and installs may make files
	Changed() // is called after files have changed, such as by an install
}

// commands returns the Commands that start the processes of tasks.
func (e *Env) commands() *action.Commands {
	e.once.Do(func() {
		e.cmds = &action.Commands{Root: e.Root, Environ: e.Environ, Inherit: e.Inherit, Color: e.Color, Chain: e.chain()}
	})
	return e.cmds
}

// Command returns the command of a task, for a caller that executes it without a run.
func (e *Env) Command(t *plan.Task) (*action.Command, error) { return e.commands().Command(t) }

// Lacking returns the programs that the tasks of a plan start by their names and that PATH lacks.
func (e *Env) Lacking(p *plan.Plan) []key.Lacking { return key.LackingOf(p, e.commands().Lacks) }

// pruneToBounds keeps the store within its bounds, if it has any, after an addition. If that fails,
// the end of the run tries again.
func (e *Env) pruneToBounds(ctx context.Context) {
	store := cache.DiskOf(e.Store)
	if store != nil && store.Crowded() {
		_ = store.PruneToBounds(ctx)
	}
}

// executing calls Executing, with the files that must stay open.
func (e *Env) executing() {
	if e.Executing == nil {
		return
	}
	hold := e.held
	if e.Moves != nil {
		if f := e.Moves.File(); f != nil {
			hold = append(slices.Clone(hold), f)
		}
	}
	e.Executing(hold)
}

// report passes an event to the reporter, one at a time.
func (e *Env) report(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Reporter != nil {
		e.Reporter.Report(ev)
	}
}

// unobserved returns the reason why no task can be observed, "" if tasks can.
func (e *Env) unobserved() string {
	if e.Observer == nil {
		return "this system observes no tasks"
	}
	return ""
}

// Evaluator returns the evaluator of a plan. view may be nil, see key.Options.
func (e *Env) Evaluator(p *plan.Plan, force bool, view key.View) (*key.Evaluator, error) {
	history := e.History
	e.History = nil
	return key.New(key.Options{
		History: history, Root: e.Root, Tree: e.Tree, Store: e.Store, State: e.State, Toolchains: e.Toolchains, Environ: e.Environ, Inherit: e.Inherit,
		Force: force, Program: e.Program, Unobserved: e.unobserved(), Warn: e.Warn, Lacks: e.commands().Lacks, View: view, ImageOf: e.Containers.ImageOf,
	}, p)
}
