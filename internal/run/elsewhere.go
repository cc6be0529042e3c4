package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/state"
)

// Elsewhere executes tasks on other machines. The zero value is one without any.
type Elsewhere struct {
	// Execute returns the executor of one execution. Its error is an *action.UnavailableError if the task may be executed here.
	Execute func(Distant) action.Executor
	Jobs    int // tasks at once
	// Images says that a task can be executed in an image that it names.
	Images bool
	// Asks reports whether a worker can be asked for the toolchain of the adapter with an id.
	Asks func(adapter string) bool
	// Keeps reports whether the value of a variable must not leave this machine.
	Keeps func(name string) bool
}

// Distant describes one execution on another machine.
type Distant struct {
	Only  bool   // it cannot be executed here
	Fresh bool   // the result is not that of an earlier execution
	Dish  string // its directory, relative to the workspace
	Image string // NAME@DIGEST of its container; "": it has none
	// Variables returns those that the image sets.
	Variables func(context.Context) (adapters.Environ, error)
	// Adapter and Toolchain are the id of the task's adapter and the fingerprint of its toolchain; "" for none.
	Adapter, Toolchain string
	// Installed returns what the task needs of the install of its dish, and a text that is another one after another install.
	Installed func() (needs adapters.Portable, stamp string, err error)
	Placed    func(Stay) // is called once it was executed there
}

// Stay describes an execution on another machine.
type Stay struct {
	Queued time.Duration // the wait for a worker, as far as it is known
	Cached bool          // the result was there already
}

// PlaceRemote is the place of a Result that was executed on another machine.
const PlaceRemote = "remote"

// Unfit returns the reason why a task is executed here although it says otherwise, in words; "" if it can be executed elsewhere.
func (e *Elsewhere) Unfit(t *plan.Task, inherit bool) string {
	if e.Execute == nil {
		return "remote.exec is not set"
	}
	for _, c := range []struct {
		fails bool
		why   string
	}{
		{t.Tool != nil, "a tool runs in bento itself"},
		{t.Container != nil && !e.Images, "it runs in a container, and remote.image names no property for its image"},
		{t.Container != nil && t.Container.Dockerfile != "", "the image of its container is built on this machine"},
		{t.Container != nil && len(t.Container.Mounts) > 0, "its container has mounts of this machine"},
		{t.Container != nil && t.Container.User != "", "its container names a user"},
		{t.Persistent, "it is persistent"},
		{t.Interactive, "it is interactive"},
		{t.Uncached != "", "its result is not stored: " + t.Uncached},
		{t.SideEffects, "it has side effects"},
		{t.Network, "it uses the network"},
		{t.Fetches, "it fetches packages while it runs"},
		{t.FindsInputs(), `it is observed: inputs = "observed"`},
		{t.Incremental, "it is incremental: it continues with the outputs of its last run"},
		{len(t.Rewrites) > 0, "it writes its inputs: rewrites"},
		{len(t.HostInputs) > 0, "it reads files outside of the workspace: host_inputs"},
		{inherit, `it sees the whole environment: [defaults] env = "inherit"`},
		{t.Root != nil, "it is a script of the workspace's root, which may make any file"},
	} {
		if c.fails {
			return c.why
		}
	}
	return cmp.Or(e.unfitDish(t), e.unfitEnv(t), unfitOutputs(t))
}

// unfitDish is Unfit for what the dish of a task needs on a worker.
func (e *Elsewhere) unfitDish(t *plan.Task) string {
	a := t.Dish.Adapter
	if a == nil {
		return ""
	}
	if id := a.Manifest().AdapterID; t.Container == nil && !e.Asks(id) {
		return fmt.Sprintf("a worker cannot be asked for the toolchain of %s", id)
	}
	needs, err := portable(t)
	if err != nil {
		return "what its install makes is not known: " + err.Error()
	}
	return needs.Stays
}

// portable returns what a task needs of the install of its dish elsewhere.
func portable(t *plan.Task) (adapters.Portable, error) {
	switch a, ok := t.Dish.Adapter.(adapters.Porter); {
	case t.NoInstall || t.Dish.Adapter == nil:
		return adapters.Portable{}, nil
	case ok:
		scope := t.Dish.Scope
		scope.Dir = t.Dish.ScopeDir()
		return a.Portable(t.Dish.Dir, scope)
	case t.AwaitsInstall():
		return adapters.Portable{Stays: "its dish is installed on this machine, and its adapter cannot send that"}, nil
	}
	return adapters.Portable{}, nil
}

// unfitEnv is Unfit for the variables of a task: a worker gets those in its key.
func (e *Elsewhere) unfitEnv(t *plan.Task) string {
	for _, name := range t.HashEnv {
		if e.Keeps(name) {
			return fmt.Sprintf("its variable %s is a secret", name)
		}
	}
	return ""
}

// unfitOutputs is Unfit for the outputs of a task: a server sends whole directories.
func unfitOutputs(t *plan.Task) string {
	set, err := record.OutputSet(t)
	if err != nil {
		return "" // the execution reports it
	}
	if _, _, deep := set.Around(t.Dish.Path); deep != nil {
		return fmt.Sprintf("its outputs can be anywhere in its dish: %q", strings.TrimPrefix(path.Join(deep.Prefix, deep.Rest), t.Dish.Path+"/"))
	}
	return ""
}

// isFar reports whether a task is executed elsewhere, as far as that is known.
func (e *engine) isFar(t *plan.Task) bool {
	n := e.node(t)
	if t.Where == dish.PlaceHere || n.here || e.env.Elsewhere.Execute == nil {
		return false
	}
	if !n.judged {
		n.judged, n.unfit = true, e.env.Elsewhere.Unfit(t, e.env.Inherit)
	}
	return n.unfit == "" && !(n.ev != nil && n.ev.Status == key.Hit)
}

// bringHome has a task executed here although it could be executed elsewhere, and reports whether it may be.
func (e *engine) bringHome(t *plan.Task) bool {
	n := e.node(t)
	n.here = n.here || t.Where != dish.PlaceOnly
	return n.here
}

// setFar sets where a task is executed. It is for the goroutine of the engine.
func (e *engine) setFar(x *execution) {
	t := x.ev.Task
	if x.far = e.isFar(t); !x.far {
		n := e.node(t)
		if t.Where == dish.PlaceOnly {
			x.refused = cmp.Or(n.unfit, e.env.Elsewhere.Unfit(t, e.env.Inherit))
		}
		return
	}
	x.observe = false
	if t.Container != nil {
		x.image, x.reachErr = e.env.Containers.ImageOf(t.Container)
	}
}

// distant returns the executor of a task elsewhere.
func (x *execution) distant(t *plan.Task) action.Executor {
	d := Distant{
		Only: t.Where == dish.PlaceOnly, Fresh: x.opts.Force || x.result.Attempts > 1, Dish: t.Dish.Path, Toolchain: x.ev.Toolchain,
		Placed: func(s Stay) { x.result.Place, x.result.Stay = PlaceRemote, s },
	}
	if c := t.Container; c != nil {
		d.Image = dish.Repository(c.Image) + "@" + x.image
		d.Variables = func(ctx context.Context) (adapters.Environ, error) {
			return x.env.Containers.Variables(ctx, c, x.image)
		}
	}
	d.Installed = func() (needs adapters.Portable, stamp string, err error) {
		if t.Dish.Adapter == nil {
			return adapters.Portable{}, "", nil // nothing is installed
		}
		if needs, err = portable(t); err == nil && needs.Stays != "" {
			err = errors.New(needs.Stays) // an install has changed it
		}
		if at := x.env.State.Stamp("installs/" + cache.ShortSum(t.Dish.ScopeID())); at != (state.Stamp{}) {
			stamp = fmt.Sprint(at)
		}
		return needs, stamp, err
	}
	if t.Dish.Adapter != nil {
		d.Adapter = t.Dish.Adapter.Manifest().AdapterID
	}
	return x.env.Elsewhere.Execute(d)
}

// stays notes the error of an executor elsewhere, and reports whether the task is to be executed here in its place.
func (x *execution) stays(err error) bool {
	var unavailable *action.UnavailableError
	if x.far && errors.As(err, &unavailable) && x.ev.Task.Where != dish.PlaceOnly {
		x.unavailable = unavailable
		x.result.Outcome, x.result.Reason, x.result.Message = Skipped, ReasonInterrupted, "ended by the interrupt" // unless it comes back
	}
	return x.unavailable != nil
}

// comeBack puts a task that could not be executed elsewhere into the queue again, for a worker of this machine, and reports
// whether it is one.
func (e *engine) comeBack(ctx context.Context, x *execution) bool {
	if x.unavailable == nil || ctx.Err() != nil {
		return false
	}
	t := x.ev.Task
	n := e.node(t)
	e.keys.NoteWritten(context.WithoutCancel(ctx), key.Written{Executed: t})
	if left := x.kept.Left(); len(left) > 0 {
		e.keys.History().Leave(t.Place(), left)
	}
	if why := x.unavailable.Error(); !slices.Contains(e.toldFar, why) { // once for all tasks
		e.toldFar = append(e.toldFar, why)
		e.env.warn("remote_unavailable", fmt.Sprintf("remote execution: %s; %s was executed here", why, t.ID()), "bento doctor tries the server; docs/remote-execution.md")
	}
	n.here = true
	n.to(ready)
	e.queue.Release(t)
	e.queue.Add(t)
	return true
}

// RemoteExecutions counts the executions of a run on other machines.
type RemoteExecutions struct {
	Tasks  int // that were executed there
	Cached int // of these, the server had the results already
	Here   int // that were executed here in place of there
}

func (e *engine) countFar() (c RemoteExecutions) {
	for _, n := range e.nodes {
		switch {
		case n.here:
			c.Here++
		case n.result != nil && n.result.Place == PlaceRemote:
			c.Tasks++
			if n.result.Stay.Cached {
				c.Cached++
			}
		}
	}
	return c
}
