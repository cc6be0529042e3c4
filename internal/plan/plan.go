// Package plan turns dishes and requested task names into one task graph. It is pure: no I/O, no
// clock, no context. Package key finds the inputs of a task and whether it is a cache hit.
package plan

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// Request selects tasks and dishes. Without Tasks it selects every task of ci, and without dishes
// every dish of the workspace.
type Request struct {
	// Tasks are "build", or "lib:build" for one dish, or a glob of either. Their order is that of the
	// tasks of one dish, where no dependency decides; lifecycle tasks keep theirs.
	Tasks []string
	// IDs makes "lib:build" the task of dish lib even if a task has that whole name.
	IDs bool
	// AllowEmpty permits a plan without tasks if no dish is selected.
	AllowEmpty bool
	// AllTasks selects every task of the selected dishes in place of Tasks.
	AllTasks bool
	// Targets are names of dishes or bentos, "tag:ui" for the dishes with the tag ui, or paths; a path with "/" in
	// front starts at the workspace and exists. "...x" is x and its dependents, "x..." x and its dependencies.
	Targets []string
	Exclude []string // targets or "dish:task": left out unless another task depends on them
	Dishes  []string // names, in addition to Targets
	Bentos  []string // names, in addition to Targets
	Dir     string   // relative to the workspace: base of path targets
	Args    []string // appended to the command of the tasks that Tasks names
	// Reads are, by Task.Place, the places of the tasks whose outputs a task was seen to read: it depends on them,
	// unless that closes a cycle.
	Reads map[string][]string
}

// Plan is a task graph: the requested tasks and all their dependencies.
type Plan struct {
	Workspace *dish.Workspace
	Dishes    []*dish.Dish // selected dishes, by path
	Tasks     []*Task      // each after its dependencies
	Graph     *dag.Graph   // over the indices of Tasks
	// Lost are the dishes that the request needs and whose adapter is missing, by path: see the
	// function Lost. No task of theirs can run.
	Lost []*dish.Dish

	byDish   map[*dish.Dish][]*Task
	included map[*dish.Dish][]Included
	circles  func() map[*dish.Dish]*Circle
}

// TasksOf returns all tasks of a dish, in the plan or not, lifecycle tasks first.
func (p *Plan) TasksOf(d *dish.Dish) []*Task { return p.byDish[d] }

// Via is the contribution of a dependency to the key of its dependent.
type Via int

// The three ways.
const (
	ViaKey     Via = iota // its key: a change of its inputs changes the dependent's key
	ViaOutputs            // the digest of its outputs: an equal result keeps the dependent's key
	ViaNothing            // nothing: the dependency only runs first
)

// Dep is a dependency: a task that must be up to date before its dependent is evaluated.
type Dep struct {
	Task *Task
	Via  Via
	// Inner reports whether the task is one of a dish inside the dependent's dish whose files are
	// default inputs there.
	Inner bool
	// Seen reports whether only Request.Reads has the dependency.
	Seen bool
}

// Output is one pattern of a task's outputs.
type Output struct {
	Glob string // relative to the dish, or "//" and relative to the workspace
	// Declared is set for patterns in dish.toml. Tracked files that they match are no default inputs,
	// and a pattern without a match is reported.
	Declared bool
	Pos      diagnostics.Pos // position in dish.toml; zero for a recipe's
}

// Task is one command of one dish, with the settings of dish.toml, the adapter's recipe and the
// request.
type Task struct {
	Index int // position in Plan.Tasks
	Dish  *dish.Dish
	Name  string

	Run  string   // for a shell; shown to users even if Argv is set
	Argv []string // if set, run without a shell
	Args []string // arguments of the request, which are appended
	Cwd  string   // relative to the dish
	Tool *ToolUse // called in place of a command; then Run describes it
	Path []string // relative to the dish, in front of PATH

	DefaultInputs bool     // all files of the dish that git does not ignore
	Inputs        []string // globs in place of, or on top of, the default ones
	// ObservedInputs says that of the content of its inputs only what it was observed to read counts: see FindsInputs.
	ObservedInputs bool
	Outputs        []Output
	// ObservedOutputs says that what the task was observed to make is its outputs, besides Outputs: see FindsOutputs.
	ObservedOutputs bool
	Naming          []string // those of Inputs that name ignored files by their last elements
	OnDisk          []string // globs of further inputs, which may be ignored by git
	Rewrites        []string // globs of inputs that it may write again with the same content
	Leaves          []string // globs of caches that it leaves: no outputs, and in no key
	// Near are paths outside of Dish, relative to the workspace, that its command names and where it may
	// leave files.
	Near []string

	SetEnv  map[string]string // variables that are set for the command; they are in the key
	HashEnv []string          // names of variables that are passed and are in the key
	PassEnv []string          // names or PREFIX_* that are passed and are not in the key

	About *dish.About // what dish.toml says of it to people; nil for a recipe without a table

	NoInstall  bool // it does not use the packages that the install of Dish installs
	Fetches    bool // it fetches others
	Requested  bool // named by the request, and not only a dependency
	Held       bool // it is neither run nor restored
	Lifecycle  bool
	Uncached   string // the reason why its result is not stored; "" if it is
	Retry      int    // further attempts
	RetryOn    string // regular expression: a matching line of the output allows a retry; "": any failure does
	Timeout    int64  // nanoseconds, 0 for none
	Grace      int64  // nanoseconds between two signals that end it; 0: the default
	Mutex      string
	Weight     int   // workers
	Memory     int64 // bytes, 0 if not declared
	Persistent bool
	// Interactive tasks run alone and use the terminal.
	Interactive bool
	Ready       *dish.Ready    // of a persistent task; nil: ready as soon as it has started
	EnvFiles    []dish.EnvFile // their variables are added to SetEnv
	// Incremental keeps the outputs of the last run when the task executes.
	Incremental bool
	// Observe says which executions are observed; "" is the setting of the workspace.
	Observe     dish.Observe
	Sandbox     dish.Sandbox    // as in dish.toml
	Network     bool            // the sandbox allows sockets
	Container   *dish.Container // nil: it runs directly on this machine
	HostInputs  []string        // files outside of the workspace that are in the key, absolute or with "~/" in front
	SideEffects bool
	AtHome      bool // the result is neither sent to the remote cache nor looked for there
	LogAtHome   bool // its output is not sent there
	Unraced     bool // it is not started while the remote cache may have its result
	Where       dish.Place
	Hook        *adapters.Hook
	Parser      *ToolUse // parses its output in place of the parser of Hook; nil for none

	// Root is set for a task of a workspace's root that runs a script by its name. Only the script
	// knows which files it makes, anywhere below the root.
	Root *RootTask

	Deps []Dep
	// Sources are the other dishes whose sources are in the key, by path.
	Sources []*dish.Dish
	// Inner are the dishes inside Dish whose files are among the default inputs, outer ones first.
	Inner []*dish.Dish

	id     string // see ID; "" for a task that no plan made
	place  string // see Place; "" as for id
	body   string // text of the script that Run runs by its name
	recipe bool   // its command is from a recipe
	// skipsPrivate reports whether its command uses no private link of the dish.
	skipsPrivate bool
	stored       bool     // dish.toml has cache = true
	usual        []string // see UsualOutputs
	listsInputs  bool     // dish.toml has a list of its inputs
	listsOutputs bool     // dish.toml has a list of its outputs
	declared     []string // the globs of its inputs in dish.toml and in its recipe
	extra        []string // globs of files above the dish
	script       bool     // runs only when named
	ci           bool
	rank         int
	wants        []want
	behind       []*Task // tasks that come first if they are in the same plan
	fault        error
	without      *dish.Dish // the dish without its adapter that should have a task of wants; nil for none
	// unresolved is set if a name in its depends_on is not the name of a task.
	unresolved bool
}

// want is an unresolved entry of depends_on.
type want struct {
	text string
	at   diagnostics.Diagnostic // its position; only file, line and col are set
}

// ID returns the task's name in the whole workspace, "dish:task".
func (t *Task) ID() string {
	if t.id != "" {
		return t.id
	}
	return t.Dish.Name + ":" + t.Name
}

// Table returns the table of dish.toml that changes the task, for a sentence. In a directory of
// several languages the table of a dish other than the first one names its language.
func (t *Task) Table() string {
	table := "[tasks." + t.Name + "] of " + path.Join(t.Dish.Path, dish.File)
	if t.Dish.Beside != "" && t.Dish.Adapter != nil {
		table += ", with language = " + strconv.Quote(t.Dish.Adapter.Manifest().AdapterID)
	}
	return table
}

// Place returns another name of the task, which has the path of its dish: it stays the same when the
// name of the dish changes.
func (t *Task) Place() string {
	if t.place != "" {
		return t.place
	}
	p := t.Dish.Path + "\x00" + t.Name
	if t.Dish.Beside != "" {
		p += "\x00" + t.Dish.Adapter.Manifest().AdapterID
	}
	return p
}

// Recipe reports whether the command of t is from its adapter, and not written by the user.
func (t *Task) Recipe() bool { return t.recipe }

// Question returns the question that is asked before t runs, "" for none.
func (t *Task) Question() string {
	if t.About == nil {
		return ""
	}
	return t.About.Confirm
}

// Command returns the command as people write it, with the arguments of the request.
func (t *Task) Command() string {
	if len(t.Args) == 0 {
		return t.Run
	}
	return t.Run + " " + strings.Join(t.Args, " ")
}

// First returns the direct and indirect dependencies of t, and the tasks that come first only because
// of the order.
func (t *Task) First() map[*Task]bool {
	first := make(map[*Task]bool)
	var add func(t *Task)
	add = func(t *Task) {
		if !first[t] {
			first[t] = true
			for _, d := range t.Deps {
				add(d.Task)
			}
		}
	}
	for _, d := range t.Deps {
		add(d.Task)
	}
	for _, b := range t.behind {
		add(b)
	}
	return first
}

// rank orders the tasks of a dish: lifecycle first, then others by name.
func rank(name string) int {
	if i := slices.Index(adapters.Lifecycle(), name); i >= 0 {
		return i
	}
	return len(adapters.Lifecycle())
}

// Build returns the plan for req. The caller must not use a plan returned with a problem of
// severity error.
func Build(ws *dish.Workspace, req Request) (*Plan, []diagnostics.Diagnostic) {
	p, whole, problems := resolved(ws, req)
	if !whole {
		return nil, problems
	}
	return p, problems
}

// Sound returns the part of the plan for req in which all names are resolved, even if other names are
// not: a caller looks for further problems in it, and must not run it.
func Sound(ws *dish.Workspace, req Request) *Plan {
	p, whole, _ := resolved(ws, req)
	if whole {
		return p
	}
	faulty := make(map[*Task]bool)
	var sound []*Task
	for _, t := range p.Tasks { // each after its dependencies
		faulty[t] = t.unresolved || slices.ContainsFunc(t.Deps, func(d Dep) bool { return faulty[d.Task] })
		if !faulty[t] {
			sound = append(sound, t)
		}
	}
	part := planOf(ws, sound, orderOf(sound))
	part.circles = p.circles
	return part
}

// resolved returns the plan. whole is false if an error was found, such as an unresolved name.
func resolved(ws *dish.Workspace, req Request) (p *Plan, whole bool, problems []diagnostics.Diagnostic) {
	b := newBuilder(ws)
	b.addReads(req.Reads)
	dishes := b.selectDishes(req)
	roots := b.selectTasks(req, dishes)
	whole = len(diagnostics.Errors(b.problems)) == 0
	p = b.assemble(roots) // reports cycles, too
	p.Dishes, p.byDish, p.included, p.circles = dishes, b.byDish, b.included, b.circles
	p.Lost = b.lostDishes(req, p.Tasks, dishes)
	return p, whole, diagnostics.Sorted(b.problems)
}

// builder is the state of one Build.
type builder struct {
	ws       *dish.Workspace
	tasks    []*Task // of all dishes, by dish path and rank
	byDish   map[*dish.Dish][]*Task
	byName   map[string]*dish.Dish
	across   []across
	blamed   map[string]bool // ids of plugins
	included map[*dish.Dish][]Included
	embedded map[*dish.Dish][]string // globs of files that sources take in and that no task makes
	carrier  *carrier
	naming   map[string]bool // by prefix and last element of a glob: see mayName
	nest     Nest
	inner    map[*dish.Dish][]*dish.Dish // by dish: the result of Counted
	links    map[*dish.Dish]sourceLinks
	env      map[adapters.Adapter]envNames
	circles  func() map[*dish.Dish]*Circle
	line     [][]*Task           // by name of the request: its tasks
	asked    map[*dish.Dish]bool // dishes without their adapter of which the request names a task
	problems []diagnostics.Diagnostic
}

func newBuilder(ws *dish.Workspace) *builder {
	b := &builder{
		ws:       ws,
		byDish:   make(map[*dish.Dish][]*Task, len(ws.Dishes)),
		byName:   make(map[string]*dish.Dish, len(ws.Dishes)),
		blamed:   make(map[string]bool),
		included: make(map[*dish.Dish][]Included),
		naming:   make(map[string]bool),

		embedded: make(map[*dish.Dish][]string),
		nest:     Nested(ws.Dishes),
		inner:    make(map[*dish.Dish][]*dish.Dish),
		links:    make(map[*dish.Dish]sourceLinks, len(ws.Dishes)),
		asked:    make(map[*dish.Dish]bool),
		env:      make(map[adapters.Adapter]envNames),
	}
	b.circles = sync.OnceValue(func() map[*dish.Dish]*Circle {
		return circlesOf(ws.Dishes, func(d *dish.Dish) []*dish.Dish { return b.linked(d, false) })
	})
	for _, d := range ws.Dishes {
		b.byName[d.Name] = d
		b.byDish[d] = resolve(b, d)
		b.tasks = append(b.tasks, b.byDish[d]...)
	}
	for _, d := range ws.Dishes {
		b.decideRoot(d)
	}
	for _, t := range b.tasks {
		b.count(t)
	}
	for _, t := range b.tasks {
		b.connect(t)
	}
	b.takeIn()
	b.awaitInner()
	b.spreadUncached()
	b.orderRoots()
	b.checkAcross()
	return b
}

// task returns the task of d with this name, or nil.
func (b *builder) task(d *dish.Dish, name string) *Task {
	for _, t := range b.byDish[d] {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// taskIn is task, but if d names a directory with several dishes, it returns the task of the first
// one that has it.
func (b *builder) taskIn(d *dish.Dish, name string) *Task {
	for _, d := range b.ws.Named(d) {
		if t := b.task(d, name); t != nil {
			return t
		}
	}
	return nil
}

func (b *builder) problem(severity diagnostics.Severity, at diagnostics.Diagnostic, code, message, hint string) {
	at.Severity, at.Rule, at.Message, at.Hint, at.Source = severity, code, message, hint, diagnostics.Source
	b.problems = append(b.problems, at)
}
