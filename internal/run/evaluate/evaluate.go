// Package evaluate works out what is known of the tasks of a plan without running
// them: the inputs of each, its key with every ingredient, whether the cache has
// its result, and if not, what has changed since the last good run.
package evaluate

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/contents"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/lockfile"
	"github.com/bentobuild/bento/internal/run/pin"
	"github.com/bentobuild/bento/internal/run/recall"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Status is what a task is found to be before anything runs.
type Status string

// The statuses. The values stand in plans.
const (
	Hit  Status = "cache_hit"
	Miss Status = "cache_miss"
)

// The reasons of a miss. The values stand in plans.
const (
	MissUncacheable  = "uncacheable"        // its result is never stored
	MissForced       = "force_rerun"        // --no-cache
	MissNeverCached  = "never_cached"       // no good run of it is known here
	MissChanged      = "changed"            // an ingredient differs from the last good run
	MissEvicted      = "evicted"            // nothing differs, but the cache has lost the result
	MissNotStored    = "not_stored"         // nothing differs, but the last result was not to be relied on
	MissPending      = "dependency_pending" // its key needs what another task has yet to make
	MissToolMissing  = "tool_missing"
	MissAdapterFails = "adapter_failed"
	MissUnreadable   = "unreadable_input"
)

// Result is what is known of a task without running it.
type Result struct {
	Task   *plan.Task
	Status Status
	Reason string   // of a Miss
	Notes  []string // what changed, or what is pending, in words

	Key         cache.Key
	Known       bool // the key could be made
	Ingredients []fingerprint.Ingredient
	Inputs      fingerprint.FileSet
	Record      *cache.Record  // of a Hit whose key was made anew; see Whole
	Outputs     []cache.Output // of a Hit, and of what was executed
	Toolchain   string         // the fingerprint of the toolchain
	Err         error          // why there is no key
	// InTheWay says what keeps a hit from being restored. A result that is made around
	// it is not that of the key.
	InTheWay string

	basis    recall.Basis // zero when it is not known
	recalled bool         // without ingredients and record
	stored   bool         // in this run

	sources []*sourceSet // what the ingredients refer to
	Entries []tree.Entry // of Inputs
	Behind  []tree.Entry // what links among Entries lead to
	// Lock is the lockfile that stands in the key by what the dish gets from it, and
	// so is not among Inputs.
	Lock []tree.Entry
}

// Evaluator makes keys. It is for one goroutine, but for the methods that say
// otherwise.
type Evaluator struct {
	o           Options
	plan        *plan.Plan
	tree        *tree.Tree
	contents    contents.Files
	gathered    map[*plan.Task][]tree.Entry // the inputs of those whose files were read ahead
	memory      *lastrun.Memory
	keys        *fingerprint.Builders
	territories map[*discovery.Dish]*territory.Territory
	compiled    map[*plan.Task]*territory.Globs
	circles     map[*discovery.Dish]*plan.Circle
	locks       *lockfile.Set
	sources     map[*plan.Circle]*sourceSet
	results     []*Result          // by plan.Task.Index
	made        []*made            // what tasks made in this run, by plan.Task.Index
	current     []bool             // by plan.Task.Index: what a task makes is in the workspace
	reaches     []*territory.Reach // by plan.Task.Index; nil when nobody asked
	recall      recaller
	recordings  *fingerprint.Recordings
}

// Options are what an Evaluator works with.
type Options struct {
	Root       string // of the workspace, absolute, without links
	Store      cache.Store
	State      *state.Dir
	Toolchains *fingerprint.Toolchains
	Environ    adapters.Environ // that bento was started with
	Inherit    bool             // tasks see all of it
	Force      bool             // nothing is a hit
	Program    string           // says which build of bento this is; what others remember does not count
	Warn       func(diagnostics.Diagnostic)
}

// New gives an Evaluator of a plan. The error is of a glob that cannot be used.
func New(o Options, p *plan.Plan) (*Evaluator, error) {
	e := &Evaluator{
		o: o, plan: p, tree: p.Workspace.Tree,
		contents:   contents.Files{Tree: p.Workspace.Tree, Warn: o.Warn},
		gathered:   make(map[*plan.Task][]tree.Entry),
		keys:       &fingerprint.Builders{Secret: fingerprint.LocalSecret(o.State)},
		compiled:   make(map[*plan.Task]*territory.Globs),
		circles:    plan.Circles(p.Workspace.Dishes),
		locks:      lockfile.New(p.Workspace),
		sources:    make(map[*plan.Circle]*sourceSet),
		results:    make([]*Result, len(p.Tasks)),
		made:       make([]*made, len(p.Tasks)),
		current:    make([]bool, len(p.Tasks)),
		reaches:    make([]*territory.Reach, len(p.Tasks)),
		recordings: fingerprint.NewRecordings(o.Store),
	}
	var memories sync.WaitGroup // they are read beside each other
	memories.Go(func() { e.memory = lastrun.Open(o.State) })
	memories.Go(func() { e.recall = newRecaller(&o, p) })
	var err error
	e.territories, err = territory.New(p.Workspace, p.TasksOf)
	memories.Wait()
	return e, err
}

// Reload looks at the whole workspace and at what is remembered again, because
// another bento has worked in it. Nothing of this run may have been noted yet.
func (e *Evaluator) Reload(ctx context.Context) {
	e.look(ctx, []string{"."})
	e.memory = lastrun.Open(e.o.State)
	clear(e.sources)
	for _, t := range e.territories {
		t.Forget()
	}
	e.recall.stale = true
}

// Installed looks again at what an install of the scope of d may have written.
func (e *Evaluator) Installed(ctx context.Context, d *discovery.Dish) {
	if err := e.locks.Installed(ctx, d); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}

// Memory gives what is remembered of earlier runs.
func (e *Evaluator) Memory() *lastrun.Memory { return e.memory }

// warn says something that does not stop anything.
func (e *Evaluator) warn(code, message, hint string) {
	e.o.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	})
}

// UpToDate notes that what t makes is in the workspace now, executed or restored.
func (e *Evaluator) UpToDate(t *plan.Task, outputs []cache.Output) {
	e.current[t.Index] = true
	ev := e.results[t.Index]
	if ev != nil && ev.Status == Hit && len(outputs) > 0 && len(outputs) == len(ev.Outputs) && &outputs[0] == &ev.Outputs[0] {
		return // it is known what it has made
	}
	e.made[t.Index] = &made{digest: recall.Made(outputs)}
	if ev != nil {
		ev.Outputs = outputs
	}
}

// isUpToDate tells whether what t makes is in the workspace.
func (e *Evaluator) isUpToDate(t *plan.Task) bool {
	r := e.results[t.Index]
	return e.current[t.Index] || r != nil && r.Status == Hit && e.InPlace(r.Outputs)
}

// All evaluates every task, dependencies first, and gives the results by
// plan.Task.Index. The error is that of ctx.
func (e *Evaluator) All(ctx context.Context) ([]*Result, error) {
	defer clear(e.gathered)
	read := e.readAhead(0)
	defer func() { read() }()
	for i, t := range e.plan.Tasks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i%ahead == 0 {
			read()
			read = e.readAhead(i + ahead)
		}
		e.Task(ctx, t)
		delete(e.gathered, t)
	}
	e.sketchAgain(ctx)
	return e.results, nil
}

// Of gives the last result for t, nil when it was not evaluated yet.
func (e *Evaluator) Of(t *plan.Task) *Result { return e.results[t.Index] }

// Task finds the key of t and whether the cache has its result.
func (e *Evaluator) Task(ctx context.Context, t *plan.Task) *Result {
	ev, before := &Result{Task: t, Status: Miss}, e.results[t.Index]
	e.results[t.Index] = ev
	if !e.recalled(ctx, t, ev) {
		e.evaluate(ctx, ev)
	}
	if before != nil && before.Known && before.Key == ev.Key && ev.Known && !ev.recalled {
		ev.basis = before.basis // which gives this key, whatever was written since
	}
	return ev
}

// evaluate makes the key of a task and looks it up.
func (e *Evaluator) evaluate(ctx context.Context, ev *Result) {
	t := ev.Task
	switch pending, err := e.key(ctx, t, ev); {
	case err != nil:
		ev.Err, ev.Reason = err, missOf(err)
	case len(pending) > 0:
		ev.Reason, ev.Notes = MissPending, pending
	case t.Uncached != "":
		ev.Reason, ev.Notes = MissUncacheable, []string{t.Uncached}
	case e.o.Force && !t.Held: // one that is left as it is can be up to date all the same
		ev.Reason = MissForced
	default:
		e.lookup(ev)
	}
}

func missOf(err error) string {
	var missing *adapters.MissingTool
	var failure *adapters.Failure
	switch {
	case errors.As(err, &missing):
		return MissToolMissing
	case errors.As(err, &failure):
		return MissAdapterFails
	}
	return MissUnreadable
}

// lookup asks the cache for the result of ev.
func (e *Evaluator) lookup(ev *Result) {
	record, err := e.o.Store.Lookup(ev.Key)
	if err == nil && record.Exit == 0 {
		ev.Status, ev.Record, ev.Outputs = Hit, record, record.Outputs
		e.made[ev.Task.Index] = &made{digest: recall.Made(record.Outputs)}
		return
	}
	if err != nil && !errors.Is(err, cache.ErrMiss) {
		e.warn("cache_unreadable", "the cache cannot be read: "+err.Error(), "see the directory that bento cache stats names; $BENTO_CACHE_DIR names another")
	}
	e.explainMiss(ev)
	e.noteTracked(ev)
}

// key makes the key of t, or says which dependencies have to run first.
func (e *Evaluator) key(ctx context.Context, t *plan.Task, ev *Result) (pending []string, err error) {
	if err := t.Fault(); err != nil {
		return nil, err
	}
	if pending = e.pending(t); len(pending) > 0 {
		return pending, nil
	}
	b := e.keys.New()
	describe(b, t)
	e.addEnv(b, t)
	if err := e.addToolchain(ctx, b, t, ev); err != nil {
		return nil, err
	}
	if err := e.addInputs(b, t, ev); err != nil {
		return nil, err
	}
	if err := e.addSources(b, t, ev); err != nil {
		return nil, err
	}
	e.addDeps(b, t)
	ev.Key, ev.Known, ev.Ingredients = b.Key(), true, b.Ingredients()
	return nil, nil
}

// describe adds what is known without looking at anything.
func describe(b fingerprint.Ingredients, t *plan.Task) {
	b.Text("platform", runtime.GOOS+"/"+runtime.GOARCH)
	b.Text("dish", t.Dish.Path)
	b.Text("task", t.Name)
	b.Text("command", t.Run)
	b.List("argv", t.Argv)
	b.List("arguments", t.Args)
	b.Text("cwd", t.Cwd)
	b.List("path", t.Path)
	outputs := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		outputs[i] = o.Glob
	}
	slices.Sort(outputs)
	b.List("outputs", outputs)
	b.Text("container", "")
}

func (e *Evaluator) addEnv(b fingerprint.Ingredients, t *plan.Task) {
	if e.o.Inherit {
		b.Text("environment", "inherit")
	}
	names := make([]string, 0, len(t.SetEnv))
	for name := range t.SetEnv {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Env("set "+name, t.SetEnv[name], true)
	}
	for _, name := range t.HashEnv {
		value, set := e.o.Environ.Lookup(name)
		b.Env(name, value, set)
	}
}

func (e *Evaluator) addToolchain(ctx context.Context, b fingerprint.Ingredients, t *plan.Task, ev *Result) error {
	a := t.Dish.Adapter
	if a == nil {
		b.Text("adapter", "")
		return nil
	}
	m := a.Manifest()
	b.Text("adapter", m.AdapterID)
	b.Text("adapter identity", m.Identity)
	for _, p := range pin.Of(e.o.Root, t.Dish) {
		b.Text("required toolchain", p.Tool+" "+p.Version)
	}
	found, err := e.o.Toolchains.Fingerprint(ctx, a, t.Dish.Dir)
	if err != nil {
		return err
	}
	ev.Toolchain = found
	b.Text("toolchain", found)
	return nil
}

func (e *Evaluator) addInputs(b *fingerprint.Builder, t *plan.Task, ev *Result) error {
	entries, err := e.inputsOf(t)
	if err != nil {
		return err
	}
	if !e.locks.Named(t) {
		entries, ev.Lock = e.locks.Take(b, t.Dish, entries)
	}
	ev.Entries = entries
	ev.Behind, _ = territory.Behind(e.tree, entries)
	if ev.Inputs, err = e.contents.Set(entries); err != nil {
		return err
	}
	b.Files("inputs", ev.Inputs.Digest())
	return nil
}

// pending names the dependencies whose result the key of t needs and that are not
// up to date yet.
func (e *Evaluator) pending(t *plan.Task) []string {
	var list []string
	for _, d := range t.Deps {
		keyed := e.results[d.Task.Index] != nil && e.results[d.Task.Index].Known
		if d.Via == plan.ViaKey && !keyed || e.needsOutputs(t, d) {
			list = append(list, d.Task.ID())
		}
	}
	return list
}

// needsOutputs tells whether the key of t speaks of what a dependency has yet to make.
func (e *Evaluator) needsOutputs(t *plan.Task, d plan.Dep) bool {
	return d.Via == plan.ViaOutputs && e.made[d.Task.Index] == nil ||
		e.reach(t).Reads(e.reach(d.Task)) && !e.isUpToDate(d.Task)
}

func (e *Evaluator) reach(t *plan.Task) *territory.Reach {
	if e.reaches[t.Index] == nil {
		e.reaches[t.Index] = territory.NewReach(t)
	}
	return e.reaches[t.Index]
}

func (e *Evaluator) addDeps(b fingerprint.Ingredients, t *plan.Task) {
	deps := slices.SortedFunc(slices.Values(t.Deps), func(x, y plan.Dep) int { return strings.Compare(x.Task.ID(), y.Task.ID()) })
	for _, d := range deps {
		i := d.Task.Index
		switch {
		case d.Via == plan.ViaOutputs && e.made[i].digest != (cache.Digest{}):
			b.Output(d.Task.ID(), e.made[i].digest)
		case d.Via != plan.ViaNothing: // what made nothing has not said what is new of it
			b.Task(d.Task.ID(), e.results[i].Key)
		}
	}
}
