package dish

import (
	"slices"
	"time"

	"github.com/bentobuild/bento/diagnostics"
)

// TaskSettings are one table [tasks.<name>]. They inherit missing fields from the adapter's recipe of the
// same name.
type TaskSettings struct {
	Name  string
	Pos   diagnostics.Pos // of the name
	About About

	Run  string   // for a shell; empty when not given or when Argv is
	Argv []string // without a shell
	Cwd  string   // relative to the dish, empty when not given
	Tool Text     // "acme.fmt:fmt.check", in place of a command; empty when not given
	// Input is the input of the tool as JSON, "" when not given. Its strings may contain InputFiles and the
	// other words; Uses lists the contained words.
	Input  string
	Uses   []string
	Parser Text // "tool:acme.report:parse", replaces the parser of the adapter; empty when not given

	Inputs           *[]Glob // nil: inherited
	ObservedInputs   bool    // of the content of the inputs only what the task reads counts
	Outputs          *[]Glob
	ObservedOutputs  bool    // in place of Outputs
	WorkspaceOutputs *[]Glob // relative to the root
	Rewrites         *[]Glob // inputs that the task may change
	Leaves           []Glob  // caches that the task leaves

	Env       []string          // names: passed, and ingredients of the key
	SetEnv    map[string]string // values: set, and ingredients of the key
	PassEnv   []string          // NAME or PREFIX_*: passed, but no ingredients
	DependsOn []Text            // "gen", "lib:build", "^build"

	Timeout     time.Duration // 0: no timeout
	Grace       time.Duration // between two signals that end it; 0: the default
	Retry       int           // further attempts
	RetryOn     string        // regular expression (RE2) for a line of the output that allows one; "": any failure
	Mutex       string        // tasks with the same mutex do not run at once
	Weight      int           // number of workers it takes, 0 when not given
	Memory      int64         // bytes that it takes, 0 when not given
	Persistent  *bool         // nil: inherited
	Interactive bool          // it uses the terminal
	Ready       *Ready        // nil when not given
	EnvFiles    []EnvFile     // their variables are ingredients
	CI          bool
	Incremental bool // outputs of the last run are kept
	Observe     Observe
	Sandbox     Sandbox
	Network     bool       // the sandbox, or the container, allows sockets
	Container   *Container // nil when not given
	HostInputs  []string   // files outside of the workspace that are ingredients, absolute or with "~/" in front
	SideEffects bool       // never run a second time for diagnostics
	Cache       *bool      // nil: inherited
	AtHome      bool       // the result is neither sent to the remote cache nor looked for there
	LogAtHome   bool       // its output is not sent there
	Unraced     bool       // it is not started while the remote cache may have its result
	Place       Place
	// Lifecycle says whether a task with a lifecycle name is one; nil: bento decides.
	Lifecycle *bool
	Language  Text // the adapter whose dish of the directory has the task, empty when not given
	// Misnamed says that a problem was reported about an unknown key that may mean run.
	Misnamed bool
}

// About is what a task says to people. Nothing of it is an ingredient of the key.
type About struct {
	Description string
	Group       string // the heading of a list of tasks
	Confirm     string // the question that is asked before it runs
	Aliases     []Text // further names of the task on the command line
}

// IsAlias reports whether name is an alias of the task. A nil About has none.
func (a *About) IsAlias(name string) bool {
	return a != nil && slices.ContainsFunc(a.Aliases, func(alias Text) bool { return alias.Text == name })
}

// Ready is the check by which bento detects that a persistent task is ready. Exactly one of the first four fields
// is set.
type Ready struct {
	Port    int    // it accepts connections on this local port
	HTTP    string // this address responds with a status below 400
	Log     string // it printed a line that matches this regular expression (RE2)
	Cmd     string // this shell command exits with status 0, in the directory of the task
	Timeout time.Duration
	Pos     diagnostics.Pos
}

// NotServing is the message for a task that has ready but is no server.
const NotServing = "ready is for tasks that say persistent = true, and for the scripts dev, start and serve"

// EnvFile is a .env file whose variables a task gets.
type EnvFile struct {
	Path     string // relative to the dish; it may be above it, but is inside the workspace
	Optional bool   // the file may be missing
}

// Observe says which executions of tasks are observed. The zero value is the setting of the workspace.
type Observe string

// The values of observe.
const (
	ObserveAuto   Observe = "auto"
	ObserveAlways Observe = "always"
	ObserveNever  Observe = "never"
)

// Sandbox says which tasks can use only what they declare. The zero value is the setting around: of the bento, the
// adapter or the workspace.
type Sandbox string

// The values of sandbox.
const (
	SandboxInputs Sandbox = "inputs"
	SandboxNone   Sandbox = "none"
)

// Place says where a task is executed.
type Place string

// The values of Place.
const (
	PlaceHere   Place = ""       // on this machine
	PlaceRemote Place = "remote" // by the workspace's remote execution, or here if that is impossible
	PlaceOnly   Place = "only"   // by remote execution, or not at all
)
