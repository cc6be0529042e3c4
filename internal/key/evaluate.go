// Package key evaluates the tasks of a plan without running them. Its one function for keys
// hashes the ingredients of a task, in order and with their names: the command, the
// environment, the toolchain, the input files, the sources of linked dishes, and the keys or
// outputs of other tasks. The digests of file sets, the costly ingredients, are remembered
// across invocations; keys are not. The package also asks the cache for results, and explains
// a miss by the difference from the last good run.
package key

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// status is the state of a task before anything runs.
type status string

// The statuses. Plans contain the values.
const (
	Hit     status = "cache_hit"
	Miss    status = "cache_miss"
	LeftOut status = "skipped_tool_missing" // on_missing = "skip", for it or a dependency
)

// The reasons of a miss. Plans contain the values.
const (
	MissUncacheable  = "uncacheable"        // its result is never stored
	MissForced       = "force_rerun"        // --no-cache
	MissNeverCached  = "never_cached"       // the history has no good run of it
	MissChanged      = "changed"            // an ingredient differs from the last good run
	MissEvicted      = "evicted"            // nothing differs, but the cache has lost the result
	MissNotStored    = "not_stored"         // nothing differs, but the last result was unreliable
	MissPending      = "dependency_pending" // its key needs the outputs of another task, which must run first
	MissToolchain    = "toolchain_pending"  // only a program of the project knows an ingredient of its key
	MissImage        = "image_pending"      // the digest of its image is not known
	MissToolMissing  = "tool_missing"
	MissAdapterFails = "adapter_failed"
	MissUnreadable   = "unreadable_input"
	MissTool         = "tool_unusable" // the tool that it calls cannot be used
)

// Evaluation is the result of evaluating a task: its key, and the cached result or the reason of
// the miss.
type Evaluation struct {
	Task   *plan.Task
	Status status
	Reason string   // "" for a Hit
	Notes  []string // the changes, or the pending dependencies, in words
	Failed string   // how the last execution of a miss failed, "" if it did not

	Key       cache.Key
	Known     bool           // Key is set
	Record    *cache.Record  // of a Hit; nil when its outputs are remembered, see Recorded
	Outputs   []cache.Output // of a Hit or an executed task
	Toolchain string         // the fingerprint of the toolchain
	Err       error          // why Known is false
	NoImage   *UnknownImage  // likewise, for MissImage
	// InTheWay is the reason why a hit could not be restored, such as a file that is in the way. A
	// result that is made beside that file does not belong to the key.
	InTheWay string
	// Aged is the reason why the tool may not see that an input has changed, "" for none.
	Aged string
	// FindsInputs says that the key has only the names of the inputs, and of their content what Discovered names.
	FindsInputs bool
	// Discovered are the discovered inputs that the key holds.
	Discovered []Discovered
	// Sources is set by OutdatedCompiled, for History.Executed.
	Sources cache.Digest

	ingredients  []rawIngredient // empty for a Hit whose files were not read
	stored       bool            // in this run
	undeclared   bool            // see leavesUndeclared
	sources      []*sourceSet    // of the linked dishes
	inputsDigest cache.Digest
	weak         cache.Key    // the key without Discovered; zero if there are none
	others       []cache.Key  // of results that the store lacks, see Others
	held         fileSet      // what Discovered held when the key was made
	heldEntries  []tree.Entry // by index of Discovered
	look         *look        // while Each evaluates it, else nil
	host         []string     // digests of the host inputs
	locks        []lockPart
	names        fileSet // of Inputs; only with FindsInputs
	at           int     // clock.now when the evaluation began
	visible

	// loaded says that the files were read, or are about to be, into the fields below. A hit,
	// or a miss whose files have not changed, does not need them.
	loaded  bool
	Inputs  fileSet
	Entries []tree.Entry    // of Inputs
	Dirs    []tree.DirStamp // the directories of Entries when the key was made
	Targets []tree.Entry    // of the links among Entries
	// Lock are the files, by path, that Inputs lacks: the key has the parts of them that the dish uses.
	Lock []tree.Entry
}

// visible is what dependents see of a task. Each evaluation takes it over from the one before.
type visible struct {
	lastKey  cache.Key    // the last known key
	made     cache.Digest // of the outputs
	isMade   bool         // made is known
	inPlace  bool         // the outputs were executed or restored
	executed bool         // in this run
	changed  int          // clock.now of the last change of lastKey or made
}

// View returns the last evaluation of a task, nil before the first.
type View func(*plan.Task) *Evaluation

// IsMissing reports whether the store lacks the result of the key, which may be found elsewhere.
func (ev *Evaluation) IsMissing() bool {
	switch ev.Reason {
	case MissNeverCached, MissChanged, MissEvicted, MissNotStored:
		return ev.Status == Miss && ev.Known
	}
	return false
}

// Evaluator makes keys. It has no state of a task: it reads the evaluations of dependencies through
// the View of its caller. It is for one goroutine, except for the methods whose comments say
// otherwise.
type Evaluator struct {
	o           Options
	plan        *plan.Plan
	tree        *tree.Tree
	files       fileReader
	history     *History
	builders    *builderPool
	tasks       []facts // by plan.Task.Index
	last        View
	ownerships  map[*dish.Dish]*ownership
	circles     map[*dish.Dish]*plan.Circle
	lockfiles   *lockfiles
	sources     map[*plan.Circle]*sourceSet
	withLinks   map[*plan.Circle]bool // see haveLinks
	unread      []*sourceSet          // for readUnread
	differing   bool                  // some sourceSet differs
	again       func(*plan.Task) bool // see Again
	memo        *memo
	provenances *provenanceReader
	manifests   map[*dish.Dish]*tree.Set // see Files.KeepsOf
	clock       clock
	lost        []cache.Key // of hits without their outputs, see DryRun
}

// Again sets a function that reports whether the cached results of a task are ignored. Nil means of none.
func (e *Evaluator) Again(task func(*plan.Task) bool) { e.again = task }

// facts holds what is computed once for a task from the plan and the snapshot.
type facts struct {
	globs     *globs       // compiled; nil until they are needed
	reach     *reach       // nil until it is needed
	inputs    []tree.Entry // read ahead; nil for none
	validator rangeDigest  // see validatorMaker.task
}

func (e *Evaluator) facts(t *plan.Task) *facts { return &e.tasks[t.Index] }

// Options are the settings of an Evaluator.
type Options struct {
	Root       string     // of the workspace, absolute, without links
	Tree       *tree.Tree // its walk
	Store      cache.Store
	State      *state.Dir
	Toolchains *Toolchains
	Environ    adapters.Environ // of bento itself
	Inherit    bool             // tasks see all of Environ
	Force      bool             // nothing is a hit
	Unobserved string           // why no task can be observed, "" if tasks can
	Program    string           // identifies this build of bento; state that another build saved is ignored
	Warn       func(diagnostics.Diagnostic)
	History    *History // as the caller has read it; nil: New reads it
	View       View     // nil if the caller only calls All
	// ImageOf returns the digest of the image of a container, or an *UnknownImage error. It may be nil if no task has one.
	ImageOf func(*dish.Container) (string, error)
	// Lacks returns the program that a task starts by name and that PATH lacks, "" for none.
	Lacks func(*plan.Task) string
}

// New returns an Evaluator of a plan. It returns an error for an invalid glob.
func New(o Options, p *plan.Plan) (*Evaluator, error) {
	e := &Evaluator{
		o: o, plan: p, tree: o.Tree,
		files:       fileReader{Tree: o.Tree, Warn: o.Warn},
		builders:    &builderPool{Secret: LocalSecret(o.State)},
		tasks:       make([]facts, len(p.Tasks)),
		last:        o.View,
		circles:     p.Circles(),
		lockfiles:   newLockfiles(p.Workspace, o.Tree),
		sources:     make(map[*plan.Circle]*sourceSet, len(p.Workspace.Dishes)),
		withLinks:   make(map[*plan.Circle]bool),
		provenances: newProvenanceReader(o.Store),
		manifests:   make(map[*dish.Dish]*tree.Set),
	}
	var opening sync.WaitGroup
	if e.history = o.History; e.history == nil {
		opening.Go(func() { e.history = OpenHistory(o.State) })
	}
	opening.Go(func() { e.memo = newMemo(&o) })
	var err error
	e.ownerships, err = newOwnerships(p.Workspace, p.TasksOf)
	opening.Wait()
	return e, err
}

// History returns the history of the workspace.
func (e *Evaluator) History() *History { return e.history }

// warn reports a warning.
func (e *Evaluator) warn(code, message, hint string) {
	e.o.Warn(diagnostics.Pos{}.Warning(code, "%s", message).WithHint(hint))
}

// UpToDate notes that the outputs of the task of ev are in the workspace now, executed or restored.
func (e *Evaluator) UpToDate(ev *Evaluation, outputs []cache.Output) {
	ev.inPlace = true
	if ev.Status == Hit && len(outputs) > 0 && len(outputs) == len(ev.Outputs) && &outputs[0] == &ev.Outputs[0] {
		return // lookup has set made
	}
	e.setMade(ev, outputsDigest(outputs))
	ev.Outputs = outputs
}

// isUpToDate reports whether the outputs of t are in the workspace.
func (e *Evaluator) isUpToDate(t *plan.Task) bool {
	ev := e.last(t)
	return ev != nil && (ev.inPlace || ev.Status == Hit && InPlace(e.tree, ev.Outputs))
}

// All evaluates every task, dependencies first, and returns the evaluations by plan.Task.Index, which
// replace Options.View. The error is that of ctx.
func (e *Evaluator) All(ctx context.Context) ([]*Evaluation, error) {
	list := make([]*Evaluation, len(e.plan.Tasks))
	e.last = func(t *plan.Task) *Evaluation { return list[t.Index] }
	if err := e.Each(ctx, func(ev *Evaluation) { list[ev.Task.Index] = ev }); err != nil {
		return nil, err
	}
	return list, nil
}

// Each evaluates every task, dependencies first, and calls keep with each evaluation, which
// Options.View returns from then on. The error is that of ctx.
func (e *Evaluator) Each(ctx context.Context, keep func(*Evaluation)) error {
	defer e.o.Toolchains.AskAhead(ctx, e.plan.Tasks)()
	a, shared := e.newAhead(), &look{}
	read := a.read(a.collect(0))
	defer func() { read() }()
	for i, t := range e.plan.Tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i%ahead == 0 {
			next := a.collect(i + ahead) // while the batch before is read
			read()
			read = a.read(next)
		}
		keep(e.evaluateNew(ctx, t, shared))
		e.facts(t).inputs = nil
	}
	e.renewValidators()
	return nil
}

// evaluations returns the last evaluations by plan.Task.Index.
func (e *Evaluator) evaluations() []*Evaluation {
	list := make([]*Evaluation, len(e.plan.Tasks))
	for i, t := range e.plan.Tasks {
		list[i] = e.last(t)
	}
	return list
}

// Renew returns the evaluation of a task that is about to be executed or restored: the last one, unless
// Outdated reports that it is. It refreshes the tree below the dish of the task, where tasks before may have
// written files that they do not declare.
func (e *Evaluator) Renew(ctx context.Context, t *plan.Task) *Evaluation {
	ev := e.last(t)
	for range 2 {
		if ev == nil || e.isStale(ev) {
			ev = e.Evaluate(ctx, t)
		}
		if ev.Err != nil || !e.lookAgain(ctx, ev) {
			break
		}
	}
	return ev
}

// Evaluate makes the key of t and looks it up in the cache.
func (e *Evaluator) Evaluate(ctx context.Context, t *plan.Task) *Evaluation {
	return e.evaluateNew(ctx, t, nil)
}

// evaluateNew is Evaluate with what other evaluations have seen, nil for nothing.
func (e *Evaluator) evaluateNew(ctx context.Context, t *plan.Task, shared *look) *Evaluation {
	e.catchUp(ctx)
	ev := &Evaluation{Task: t, look: shared}
	if last := e.last(t); last != nil {
		ev.visible = last.visible
	}
	e.evaluate(ctx, ev)
	ev.look = nil // a later key is that of files as they are then
	ev.ingredients = e.builders.Fit(ev.ingredients)
	return ev
}

// evaluate makes the key of the task of ev and looks it up.
func (e *Evaluator) evaluate(ctx context.Context, ev *Evaluation) {
	t := ev.Task
	ev.Status, ev.at = Miss, e.clock.now
	for _, d := range t.Deps {
		if on := e.last(d.Task); on != nil && on.Status == LeftOut {
			ev.Status, ev.Reason, ev.Notes = LeftOut, MissToolMissing, on.Notes
			return
		}
	}
	var atRun *adapters.KnownAtRun
	var unknown *UnknownImage
	switch pending, err := e.key(ctx, t, ev); {
	case errors.As(err, &atRun):
		ev.Reason, ev.Notes = MissToolchain, []string{strings.ReplaceAll(atRun.Why, e.o.Root+"/", "")}
	case errors.As(err, &unknown):
		ev.Reason, ev.Notes, ev.NoImage = MissImage, []string{unknown.Error()}, unknown
	case err != nil:
		ev.Err, ev.Reason = err, missOf(err)
		if t.LacksAdapter() != nil {
			ev.Reason = MissAdapterFails
		}
		if missing := ev.missingTool(); missing != nil && t.Dish.Toolchain.SkipMissing {
			ev.Status, ev.Notes = LeftOut, []string{missing.Error()}
		}
	case len(pending) > 0:
		ev.Reason, ev.Notes = MissPending, pending
	case t.Uncached != "":
		ev.Reason, ev.Notes = MissUncacheable, []string{t.Uncached}
	case (e.o.Force || e.again != nil && e.again(t)) && !t.Held: // a held task does not run, so it may be a hit
		ev.Reason = MissForced
	default:
		e.lookup(ctx, ev)
	}
	if ev.Status == Miss && ev.Err == nil && t.Dish.Toolchain.SkipMissing {
		if missing := lacking(ev.Task, e.o.Lacks); missing != nil {
			ev.Status, ev.Reason, ev.Notes = LeftOut, MissToolMissing, []string{missing.Error()}
		}
	}
}

func missOf(err error) string {
	var missing *adapters.MissingTool
	var failure *adapters.Failure
	var problems diagnostics.Problems
	switch {
	case errors.As(err, &missing):
		return MissToolMissing
	case errors.As(err, &failure):
		return MissAdapterFails
	case errors.As(err, &problems) && problems[0].Rule == dish.RuleTool:
		return MissTool
	}
	return MissUnreadable
}

// lookup looks the key of ev up in the cache.
func (e *Evaluator) lookup(ctx context.Context, ev *Evaluation) {
	if k := e.memo.digests.Of(ev.Task.Place()); k != nil && !ev.loaded && k.Result.Key == ev.Key && e.has(&k.Result) {
		ev.Status, ev.Outputs = Hit, k.Result.Outputs
		e.builders.Free(ev.ingredients)
		ev.ingredients = nil
		e.setMade(ev, k.Result.Made)
		return
	}
	// Where the task was never executed nothing is known of what it reads.
	fresh := len(ev.Discovered) == 0 && e.history.Of(ev.Task).Key == (cache.Key{})
	hit, sets := false, false
	if fresh {
		hit, sets = e.lookupSets(ctx, ev)
	}
	if hit {
		return
	}
	record, err := e.recorded(ev)
	if sets {
		// An execution with this key reads something else first, so a result without it was not observed.
		err = cache.ErrMiss
	}
	if errors.Is(err, cache.ErrMiss) && !fresh {
		if hit, _ = e.lookupSets(ctx, ev); hit {
			return
		}
	}
	if err == nil {
		ev.Status, ev.Record, ev.Outputs = Hit, record, record.Outputs
		e.setMade(ev, outputsDigest(record.Outputs))
		return
	}
	if err != nil && !errors.Is(err, cache.ErrMiss) {
		e.warn("cache_unreadable", "the cache cannot be read: "+err.Error(), "see $BENTO_CACHE_DIR, and cache.dir in your own configuration or in bento.toml")
	}
	e.explainMiss(ctx, ev)
	e.noteTracked(ev)
}
