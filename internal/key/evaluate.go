// Package key works out what is known of the tasks of a plan without running them. Its one
// function for keys hashes the ingredients of a task, in order and with their names: the
// command, the environment, the toolchain, the input files, the sources of linked dishes, and
// the keys or outputs of other tasks. Sets of files, the costly ingredients, are remembered
// across invocations; keys are not. The package also asks the cache for results, and explains
// a miss by what differs from the last good run.
package key

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// status is what a task is found to be before anything runs.
type status string

// The statuses. The values stand in plans.
const (
	Hit     status = "cache_hit"
	Miss    status = "cache_miss"
	LeftOut status = "skipped_tool_missing" // on_missing = "skip", for it or for what it depends on
)

// The reasons of a miss. The values stand in plans.
const (
	MissUncacheable  = "uncacheable"        // its result is never stored
	MissForced       = "force_rerun"        // --no-cache
	MissNeverCached  = "never_cached"       // no good run of it is known here
	MissChanged      = "changed"            // an ingredient differs from the last good run
	MissEvicted      = "evicted"            // nothing differs, but the cache has lost the result
	MissNotStored    = "not_stored"         // nothing differs, but the last result was not to be relied on
	MissPending      = "dependency_pending" // its key needs the outputs of another task, which must run first
	MissToolchain    = "toolchain_pending"  // its key needs what only a program of the project can tell
	MissToolMissing  = "tool_missing"
	MissAdapterFails = "adapter_failed"
	MissUnreadable   = "unreadable_input"
)

// Result is what is known of a task without running it.
type Result struct {
	Task   *plan.Task
	Status status
	Reason string   // "" of a Hit
	Notes  []string // what changed, or what is pending, in words

	Key         cache.Key
	Known       bool           // the key could be made
	Ingredients []ingredient   // nil of a Hit whose files were not read
	Record      *cache.Record  // of a Hit; nil when what it consists of is remembered, see Recorded
	Outputs     []cache.Output // of a Hit, and of what was executed
	Toolchain   string         // the fingerprint of the toolchain
	Err         error          // why there is no key
	// InTheWay says what keeps a hit from being restored. A result that is made around
	// it is not that of the key.
	InTheWay string

	stored       bool         // in this run
	sources      []*sourceSet // what the ingredients refer to
	inputsDigest cache.Digest
	lock         lockPart

	// loaded says that the files were read, or are to be read, and are in the fields
	// below. Those of a hit, and of a miss whose files are as they were, are not.
	loaded  bool
	Inputs  fileSet
	Entries []tree.Entry    // of Inputs
	Dirs    []tree.DirStamp // that Entries lie in, as they were when the key was made
	Behind  []tree.Entry    // what links among Entries lead to
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
	contents    fileReader
	memory      *History
	keys        *builders
	nodes       []node // by plan.Task.Index
	territories map[*discovery.Dish]*ownership
	circles     map[*discovery.Dish]*plan.Circle
	locks       *locks
	sources     map[*plan.Circle]*sourceSet
	remembered  *remembered
	recordings  *recordings
}

// node is what is known of one task.
type node struct {
	result  *Result      // the last one; nil before the first
	made    cache.Digest // of its outputs
	isMade  bool         // made is known
	current bool         // its outputs are in the workspace

	globs  *globs       // compiled; nil until they are needed
	reach  *reach       // nil until it is needed
	inputs []tree.Entry // that were read ahead; nil for none
	sketch rangeDigest  // see sketcher.task
	// recent is when the remembered result was last used, in nanoseconds since 1970. It is
	// 0 until the cache is asked, and then asked until, and unless, the cache has the result.
	recent atomic.Int64
}

func (e *Evaluator) node(t *plan.Task) *node { return &e.nodes[t.Index] }

// Options are what an Evaluator works with.
type Options struct {
	Root       string // of the workspace, absolute, without links
	Store      cache.Store
	State      *state.Dir
	Toolchains *Toolchains
	Environ    adapters.Environ // that bento was started with
	Inherit    bool             // tasks see all of it
	Force      bool             // nothing is a hit
	Program    string           // says which build of bento this is; what others remember does not count
	Warn       func(diagnostics.Diagnostic)
}

// New returns an Evaluator of a plan. The error is of a glob that cannot be used.
func New(o Options, p *plan.Plan) (*Evaluator, error) {
	e := &Evaluator{
		o: o, plan: p, tree: p.Workspace.Tree,
		contents:   fileReader{Tree: p.Workspace.Tree, Warn: o.Warn},
		keys:       &builders{Secret: LocalSecret(o.State)},
		nodes:      make([]node, len(p.Tasks)),
		circles:    plan.Circles(p.Workspace.Dishes),
		locks:      newLocks(p.Workspace),
		sources:    make(map[*plan.Circle]*sourceSet, len(p.Workspace.Dishes)),
		recordings: newRecordings(o.Store),
	}
	var memories sync.WaitGroup // they are read beside each other
	memories.Go(func() { e.memory = OpenHistory(o.State) })
	memories.Go(func() { e.remembered = newRemembered(&o, p, e.nodes) })
	var err error
	e.territories, err = newOwnership(p.Workspace, p.TasksOf)
	memories.Wait()
	return e, err
}

// Reload looks at the whole workspace and at what is remembered again, because
// another bento has worked in it. Nothing of this run may have been noted yet.
func (e *Evaluator) Reload(ctx context.Context) {
	e.look(ctx, []string{"."})
	e.memory = OpenHistory(e.o.State)
	clear(e.sources)
	for _, t := range e.territories {
		t.Forget()
	}
	e.remembered.stale = true
}

// Installed looks again at what an install of the scope of d may have written.
func (e *Evaluator) Installed(ctx context.Context, d *discovery.Dish) {
	if err := e.locks.Installed(ctx, d); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}

// Memory returns what is remembered of earlier runs.
func (e *Evaluator) Memory() *History { return e.memory }

// warn says something that does not stop anything.
func (e *Evaluator) warn(code, message, hint string) {
	e.o.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	})
}

// UpToDate notes that what t makes is in the workspace now, executed or restored.
func (e *Evaluator) UpToDate(t *plan.Task, outputs []cache.Output) {
	n := e.node(t)
	n.current = true
	ev := n.result
	if ev != nil && ev.Status == Hit && len(outputs) > 0 && len(outputs) == len(ev.Outputs) && &outputs[0] == &ev.Outputs[0] {
		return // it is known what it has made
	}
	n.setMade(outputsDigest(outputs))
	if ev != nil {
		ev.Outputs = outputs
	}
}

// isUpToDate reports whether what t makes is in the workspace.
func (e *Evaluator) isUpToDate(t *plan.Task) bool {
	n := e.node(t)
	return n.current || n.result != nil && n.result.Status == Hit && e.InPlace(n.result.Outputs)
}

func (n *node) setMade(d cache.Digest) { n.made, n.isMade = d, true }

// All evaluates every task, dependencies first, and gives the results by
// plan.Task.Index. The error is that of ctx.
func (e *Evaluator) All(ctx context.Context) ([]*Result, error) {
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
		e.node(t).inputs = nil
	}
	e.remembered.enough.Store(true)
	e.remembered.asking.Wait()
	e.sketchAgain()
	return e.results(), nil
}

// Of returns the last result for t, nil when it was not evaluated yet.
func (e *Evaluator) Of(t *plan.Task) *Result { return e.node(t).result }

// results returns the last results by plan.Task.Index.
func (e *Evaluator) results() []*Result {
	list := make([]*Result, len(e.nodes))
	for i := range e.nodes {
		list[i] = e.nodes[i].result
	}
	return list
}

// Task finds the key of t and whether the cache has its result.
func (e *Evaluator) Task(ctx context.Context, t *plan.Task) *Result {
	ev := &Result{Task: t, Status: Miss}
	e.node(t).result = ev
	e.evaluate(ctx, ev)
	return ev
}

// evaluate makes the key of a task and looks it up.
func (e *Evaluator) evaluate(ctx context.Context, ev *Result) {
	t := ev.Task
	for _, d := range t.Deps {
		if on := e.Of(d.Task); on != nil && on.Status == LeftOut {
			ev.Status, ev.Reason, ev.Notes = LeftOut, MissToolMissing, on.Notes
			return
		}
	}
	var late *adapters.KnownAtRun
	switch pending, err := e.key(ctx, t, ev); {
	case errors.As(err, &late):
		ev.Reason, ev.Notes = MissToolchain, []string{late.Why}
	case err != nil:
		ev.Err, ev.Reason = err, missOf(err)
		if missing := ev.missingTool(); missing != nil && t.Dish.Toolchain.SkipMissing {
			ev.Status, ev.Notes = LeftOut, []string{missing.Error()}
		}
	case len(pending) > 0:
		ev.Reason, ev.Notes = MissPending, pending
	case t.Uncached != "":
		ev.Reason, ev.Notes = MissUncacheable, []string{t.Uncached}
	case e.o.Force && !t.Held: // one that is left as it is can be up to date all the same
		ev.Reason = MissForced
	default:
		e.lookup(ctx, ev)
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
func (e *Evaluator) lookup(ctx context.Context, ev *Result) {
	if k := e.remembered.memory.Of(ev.Task.Place()); k != nil && !ev.loaded && k.Result.Key == ev.Key && e.has(ev.Task, &k.Result) {
		ev.Status, ev.Outputs = Hit, k.Result.Outputs
		e.keys.Free(ev.Ingredients)
		ev.Ingredients = nil
		e.node(ev.Task).setMade(k.Result.Made)
		return
	}
	record, err := e.o.Store.Lookup(ev.Key)
	if err == nil && record.Exit == 0 {
		ev.Status, ev.Record, ev.Outputs = Hit, record, record.Outputs
		e.node(ev.Task).setMade(outputsDigest(record.Outputs))
		return
	}
	if err != nil && !errors.Is(err, cache.ErrMiss) {
		e.warn("cache_unreadable", "the cache cannot be read: "+err.Error(), "see $BENTO_CACHE_DIR, and cache.dir in your own configuration or in bento.toml")
	}
	e.explainMiss(ctx, ev)
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
	e.describe(b, t)
	if err := e.addToolchain(ctx, b, t, ev); err != nil {
		return nil, err
	}
	if err := e.addInputs(b, ev); err != nil {
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
func (e *Evaluator) describe(b *builder, t *plan.Task) {
	b.Text("platform", runtime.GOOS+"/"+runtime.GOARCH)
	b.Text("dish", t.Dish.Path)
	b.Text("task", t.Name)
	b.Text("command", t.Run)
	b.List("argv", t.Argv)
	b.List("arguments", t.Args)
	b.Text("cwd", t.Cwd)
	b.List("path", t.Path)
	outputs := make([]string, 0, 8) // few have more
	for _, o := range t.Outputs {
		outputs = append(outputs, o.Glob)
	}
	slices.Sort(outputs)
	b.List("outputs", outputs)
	b.Text("container", "")
	e.addEnv(b, t)
}

func (e *Evaluator) addEnv(b *builder, t *plan.Task) {
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

func (e *Evaluator) addToolchain(ctx context.Context, b *builder, t *plan.Task, ev *Result) error {
	a := t.Dish.Adapter
	if a == nil {
		b.Text("adapter", "")
		return nil
	}
	m := a.Manifest()
	b.Text("adapter", m.AdapterID)
	b.Text("adapter identity", m.Identity)
	for _, p := range PinsOf(e.o.Root, t.Dish) {
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

func (e *Evaluator) addInputs(b *builder, ev *Result) error {
	if k := e.rememberedInputs(ev.Task); k != nil && !ev.loaded {
		ev.inputsDigest, ev.lock = k.Digest, k.Lock
	} else if err := e.load(ev); err != nil {
		return err
	}
	if ev.lock.Path != "" {
		b.Lock(ev.lock.Path, ev.lock.Digest)
	}
	b.Files("inputs", ev.inputsDigest)
	return nil
}

// loadAll reads the files that the key of ev was made from, where that was not done yet.
func (e *Evaluator) loadAll(ctx context.Context, ev *Result) error {
	if ev.loaded {
		return nil
	}
	ev.loaded, ev.sources = true, nil
	_, err := e.key(ctx, ev.Task, ev)
	return err
}

// load reads the inputs of ev, and remembers them.
func (e *Evaluator) load(ev *Result) error {
	t := ev.Task
	entries, err := e.inputsOf(t)
	if err != nil {
		return err
	}
	if !e.locks.Named(t) {
		entries, ev.Lock, ev.lock = e.locks.Take(t.Dish, entries)
	}
	ev.loaded, ev.Entries, ev.Dirs = true, entries, e.tree.DirsOf(entries)
	ev.Behind, _ = Behind(e.tree, entries)
	if ev.Inputs, err = e.contents.Set(entries); err != nil {
		return err
	}
	ev.inputsDigest = ev.Inputs.Digest()
	e.keepInputs(ev)
	return nil
}

// pending names the dependencies whose result the key of t needs and that are not
// up to date yet.
func (e *Evaluator) pending(t *plan.Task) []string {
	var list []string
	for _, d := range t.Deps {
		ev := e.Of(d.Task)
		keyed := ev != nil && ev.Known
		if d.Via == plan.ViaKey && !keyed || e.needsOutputs(t, d) {
			list = append(list, d.Task.ID())
		}
	}
	return list
}

// needsOutputs reports whether the key of t needs the outputs of a dependency that must run first.
func (e *Evaluator) needsOutputs(t *plan.Task, d plan.Dep) bool {
	return d.Via == plan.ViaOutputs && !e.node(d.Task).isMade ||
		e.reach(t).Reads(e.reach(d.Task), d.Inner) && !e.isUpToDate(d.Task)
}

func (e *Evaluator) reach(t *plan.Task) *reach {
	n := e.node(t)
	if n.reach == nil {
		n.reach = newReach(t)
	}
	return n.reach
}

func (e *Evaluator) addDeps(b *builder, t *plan.Task) {
	deps, byID := t.Deps, func(x, y plan.Dep) int { return strings.Compare(x.Task.ID(), y.Task.ID()) }
	if !slices.IsSortedFunc(deps, byID) {
		deps = slices.SortedFunc(slices.Values(deps), byID)
	}
	for _, d := range deps {
		n := e.node(d.Task)
		switch {
		case d.Via == plan.ViaOutputs && n.made != (cache.Digest{}):
			b.Output(d.Task.ID(), e.outputsAfter(d.Task))
		case d.Via != plan.ViaNothing: // what made nothing has not said what is new of it
			b.Task(d.Task.ID(), n.result.Key)
		}
	}
}
