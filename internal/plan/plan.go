// Package plan turns dishes and requested task names into one task graph. It is
// pure: no I/O, no clock, no context. What a task costs, whether it is a hit and
// what it really reads is for package run to find out.
package plan

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dag"
)

// Request says what is wanted. Without tasks it is everything that ci runs,
// without a selection every dish of the workspace.
type Request struct {
	Tasks []string // "build", or "lib:build" for one dish
	// IDs makes "lib:build" the task of dish lib also where a task has that whole name.
	IDs bool
	// AllTasks asks for every task of the selected dishes in place of Tasks.
	AllTasks bool
	// Targets are names of dishes or bentos, or paths; with "/" in front from the
	// workspace. "...x" means x and all that depends on it, "x..." x and all that it
	// depends on.
	Targets []string
	Exclude []string // targets or "dish:task": left out, unless something else needs them
	Dishes  []string // names, in addition to Targets
	Bentos  []string // names, in addition to Targets
	Dir     string   // relative to the workspace: what path targets are relative to
	Args    []string // appended to the command of the tasks that Tasks names
}

// Plan is a task graph: the requested tasks and all that they depend on.
type Plan struct {
	Workspace *discovery.Workspace
	Dishes    []*discovery.Dish // those selected, by path
	Tasks     []*Task           // each behind those that it waits for
	Graph     *dag.Graph        // over the indices of Tasks

	byDish map[*discovery.Dish][]*Task
}

// TasksOf gives all tasks that a dish has, in the plan or not, lifecycle first.
func (p *Plan) TasksOf(d *discovery.Dish) []*Task { return p.byDish[d] }

// Via says what a dependency contributes to the key of its dependent.
type Via int

// The three ways.
const (
	ViaKey     Via = iota // its key: the dependent is as new as its inputs
	ViaOutputs            // the digest of what it made: an equal result cuts off
	ViaNothing            // it only comes first
)

// Dep is a task that has to be up to date before its dependent is looked at.
type Dep struct {
	Task *Task
	Via  Via
}

// Output is one pattern of what a task makes.
type Output struct {
	Glob string // relative to the dish, or "//" and relative to the workspace
	// Declared is set for patterns of dish.toml: they hide also tracked files from
	// the default inputs, and one that matches nothing is spoken of.
	Declared bool
	Pos      config.Pos // where dish.toml says so; zero for a recipe's
}

// Task is one command of one dish, with everything that dish.toml, the adapter's
// recipe and the request say about it.
type Task struct {
	Index int // in Plan.Tasks
	Dish  *discovery.Dish
	Name  string

	Run  string   // for a shell; as shown to people also when Argv is set
	Argv []string // run without a shell, when set
	Args []string // of the request, appended
	Cwd  string   // relative to the dish
	Path []string // relative to the dish, in front of PATH

	DefaultInputs bool     // everything of the dish that git does not ignore
	Inputs        []string // globs instead of, or on top of, the default ones
	Outputs       []Output
	Rewrites      []string // globs of inputs that it writes again with what they hold

	SetEnv  map[string]string // set for the command, hashed
	HashEnv []string          // names passed and hashed
	PassEnv []string          // names or PREFIX_* passed, not hashed

	Requested  bool // named by the request, not pulled in
	Held       bool // it stays as it is, up to date or not
	Lifecycle  bool
	Uncached   string // why its result is never stored, "" when it is
	Retry      int
	Timeout    int64 // nanoseconds, 0 for none
	Mutex      string
	Weight     int
	Persistent bool
	// Interactive tasks run alone, with the terminal.
	Interactive bool
	Ready       *config.Ready // of a persistent task; nil: as soon as it is started
	EnvFiles    []string      // relative to the dish: what they set goes under SetEnv
	// Incremental keeps what the last run made when the task executes.
	Incremental bool
	SideEffects bool
	Hook        *adapters.Hook

	Deps []Dep
	// Sources are the dishes whose sources the key depends on, by path; the own
	// dish is not among them.
	Sources []*discovery.Dish

	extra  []string // globs of what stands above the dish
	script bool     // reachable by name only
	ci     bool
	rank   int
	wants  []want
	fault  error
}

// want is an entry of depends_on that is still a text.
type want struct {
	text string
	at   diagnostics.Diagnostic // where it is written; only file, line and col are set
}

// ID is the task's name in the whole workspace, "dish:task".
func (t *Task) ID() string { return t.Dish.Name + ":" + t.Name }

// Command is the command as people write it, the arguments of the request behind.
func (t *Task) Command() string {
	if len(t.Args) == 0 {
		return t.Run
	}
	return t.Run + " " + strings.Join(t.Args, " ")
}

// Lifecycle lists the names of the four lifecycle tasks in the order in which they
// run in a dish.
func Lifecycle() []string { return []string{"build", "check", "lint", "test"} }

// rank orders the tasks of a dish: lifecycle first, then others by name.
func rank(name string) int {
	if i := slices.Index(Lifecycle(), name); i >= 0 {
		return i
	}
	return len(Lifecycle())
}

// Build makes the plan for req. With problems of severity error among what it
// returns the plan is of no use.
func Build(ws *discovery.Workspace, req Request) (*Plan, []diagnostics.Diagnostic) {
	b := newBuilder(ws)
	dishes := b.selectDishes(req)
	roots := b.selectTasks(req, dishes)
	if len(diagnostics.Errors(b.problems)) > 0 {
		return nil, diagnostics.Sorted(b.problems)
	}
	p := b.assemble(roots)
	p.Dishes, p.byDish = dishes, b.byDish
	return p, diagnostics.Sorted(b.problems)
}

// builder holds what one Build works out.
type builder struct {
	ws       *discovery.Workspace
	tasks    []*Task // of all dishes, by dish path and rank
	byDish   map[*discovery.Dish][]*Task
	byName   map[string]*discovery.Dish
	across   []across
	blamed   map[string]bool // ids of plugins
	problems []diagnostics.Diagnostic
}

func newBuilder(ws *discovery.Workspace) *builder {
	b := &builder{
		ws:     ws,
		byDish: make(map[*discovery.Dish][]*Task, len(ws.Dishes)),
		byName: make(map[string]*discovery.Dish, len(ws.Dishes)),
		blamed: make(map[string]bool),
	}
	for _, d := range ws.Dishes {
		b.byName[d.Name] = d
		b.byDish[d] = resolve(b, d)
		b.tasks = append(b.tasks, b.byDish[d]...)
	}
	for _, t := range b.tasks {
		b.connect(t)
	}
	b.checkAcross()
	return b
}

// task gives the task of d with this name, nil when it has none.
func (b *builder) task(d *discovery.Dish, name string) *Task {
	for _, t := range b.byDish[d] {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (b *builder) problem(severity diagnostics.Severity, at diagnostics.Diagnostic, code, message, hint string) {
	at.Severity, at.Rule, at.Message, at.Hint, at.Source = severity, code, message, hint, diagnostics.Source
	b.problems = append(b.problems, at)
}
