// Package adapters defines a language adapter: the contract, the values that cross it, and
// the registry.
//
// The contract mirrors the bento adapter protocol v1 one to one. The structs with JSON tags
// are its wire payload, so a built-in, a subprocess plugin and a WebAssembly module look
// the same to every caller.
package adapters

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/bentobuild/bento/diagnostics"
)

// Adapter teaches bento one language. Directories are absolute. Methods must be safe for
// concurrent use.
//
// An optional ability is a one-method interface in ability.go. Callers use the package
// function of the same name.
type Adapter interface {
	// Manifest is constant after the adapter has started.
	Manifest() *Manifest

	// Detect reports whether dir is a project of this language. It looks at marker files
	// only. Bento calls it once for each adapter and dish.
	Detect(ctx context.Context, dir string) (bool, error)

	// RequiredToolchain is the version that the project in dir pins, nil when it
	// pins none. An unreadable or malformed pin is an error.
	RequiredToolchain(ctx context.Context, dir string) (*Toolchain, error)

	// ToolchainFingerprint returns an opaque text that differs whenever the toolchain for a
	// task in dir differs; "" when the adapter has no toolchain. A tool that is not
	// installed is a *MissingTool error.
	ToolchainFingerprint(ctx context.Context, dir string) (string, error)

	// Install fetches the dependencies of a dish. It is idempotent, may take minutes, and
	// reports its progress through log. A tool that failed is an *InstallError; an adapter
	// that failed is a *Failure.
	Install(ctx context.Context, req InstallRequest, log LogFunc) error

	// ParseDiagnostics is called only for hooks whose parser is ParserPlugin.
	ParseDiagnostics(ctx context.Context, req ParseRequest) ([]diagnostics.Diagnostic, error)
}

// NoParser is embedded in an adapter of which no hook names the parser "plugin".
type NoParser struct{}

// ParseDiagnostics implements Adapter.
func (NoParser) ParseDiagnostics(context.Context, ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// ProtocolVersion is the version of the adapter protocol that bento speaks.
const ProtocolVersion = 1

// Manifest is an adapter's description of itself (the result of initialize).
type Manifest struct {
	ProtocolVersion int    `json:"protocol_version"`
	AdapterID       string `json:"adapter_id"` // [a-z0-9][a-z0-9_-]*
	DisplayName     string `json:"display_name"`

	// FingerprintFiles are globs relative to the dish. Bento calls Detect for the
	// directories that hold one of their top-level names. The files that they match are
	// inputs of every task.
	FingerprintFiles []string `json:"fingerprint_files"`

	// DefaultTasks are the recipes of an adapter without the ability Tasks.
	DefaultTasks []Task `json:"default_tasks"`

	Capabilities    Capabilities    `json:"capabilities"`
	DiagnosticHooks map[string]Hook `json:"diagnostic_hooks,omitempty"` // by task name

	// DerivedPaths are globs, relative to the dish, of files that tools of this language
	// write. Untracked files that match are not among the default inputs.
	DerivedPaths []string `json:"derived_paths,omitempty"`

	// Parallel is how many calls may be in flight at once; 0 and 1 mean one.
	Parallel int `json:"parallel,omitempty"`

	// Exec asks a tool for its version: its name on PATH, and one argument (see CheckExec). Bento
	// runs it for the questions about the toolchain, and passes its output to the adapter. So an
	// adapter that starts no process, such as a WebAssembly module, knows the version.
	Exec []string `json:"exec,omitempty"`

	// Nested reports whether a project inside another of this family is a dish even if no manifest
	// names it. Nil means true.
	Nested *bool `json:"nested,omitempty"`

	// PassEnv are variables (NAME or PREFIX_*) that tasks and installs get: homes, caches,
	// registry settings. They are not hashed.
	PassEnv []string `json:"pass_env,omitempty"`
	// SteeringEnv are variables that change the outputs of the tools. Tasks get them, and
	// keys hash them.
	SteeringEnv []string `json:"env,omitempty"`

	// OptionsSchema is a JSON Schema of the options that the user may set, an object; see Capabilities.Options.
	OptionsSchema json.RawMessage `json:"options_schema,omitempty"`

	// ProtocolVersions are all versions that the adapter speaks, with ProtocolVersion among them; nil
	// means only ProtocolVersion.
	ProtocolVersions []int `json:"protocol_versions,omitempty"`

	// Bento sets the fields below; they never cross the wire.

	// Identity enters every key: the recipe version of a built-in, the digest of
	// executable and manifest of a plugin.
	Identity string `json:"-"`
	// Family groups adapters that share manifests ("node"). Inside a dish of the same family
	// a directory is a dish of its own if a manifest names it, or as Nested says. Empty means
	// the adapter's own id.
	Family string `json:"-"`
	// Projects are the names, or patterns of names, of the files that make a directory a project. A
	// directory with one of them is a dish, or bento reports why it is not.
	Projects []string `json:"-"`
	// Inside is one sentence for the documentation: which projects inside a dish of the family are
	// separate dishes.
	Inside string `json:"-"`
	// Group joins families of which one takes a directory that several recognise ("node": Node.js
	// and Deno), unless each has one of its Locks there. Empty means the family.
	Group string   `json:"-"`
	Locks []string `json:"-"` // names of its lockfiles
	// Runtime is the key under which [toolchain] pins the tool ("go", "rust", "node").
	// Empty means the adapter's own id.
	Runtime string `json:"-"`
	// StopsAtFamily reports whether the tools read no file of an inner dish of the same family,
	// StopsAtBuild whether they read no file of an inner project of the same build. Then these files
	// are not default inputs of the outer dish. Tools of other adapters may read them.
	StopsAtFamily, StopsAtBuild bool `json:"-"`
	// EmbedsIn are the ends of the names of files that an Embedder reads: ".go", "pom.xml".
	EmbedsIn []string `json:"-"`
	// Compiled are globs, relative to the dish, of files that the tool compares by their times with the
	// sources of the dish alone. If other sources have changed that they were made from, bento makes them
	// old, so that the tool makes them again.
	Compiled []string `json:"-"`
	// Writes are globs, relative to the dish, of further files that install and add write:
	// lockfiles that FingerprintFiles leaves out. None of them may be a link that leads out
	// of the workspace.
	Writes []string `json:"-"`
	// Finder are the programs that look at all members of a workspace; nil for none.
	Finder *Finder `json:"-"`
	// SetEnv is set for every task and install, over the user's environment and under the
	// task's own env. It is hashed.
	SetEnv map[string]string `json:"-"`
}

// FamilyName is Family, or the adapter's id when it has none.
func (m *Manifest) FamilyName() string {
	if m.Family != "" {
		return m.Family
	}
	return m.AdapterID
}

// GroupName is Group, or the family's name when there is none.
func (m *Manifest) GroupName() string {
	if m.Group != "" {
		return m.Group
	}
	return m.FamilyName()
}

// RuntimeName is Runtime, or the adapter's id when it has none.
func (m *Manifest) RuntimeName() string {
	if m.Runtime != "" {
		return m.Runtime
	}
	return m.AdapterID
}

// Capabilities are the optional methods that an adapter answers. The zero value
// of a wire manifest is not the default: see DefaultCapabilities.
type Capabilities struct {
	Detect                       bool `json:"detect"`
	RequiredToolchain            bool `json:"required_toolchain"`
	ResolvedToolchainFingerprint bool `json:"resolved_toolchain_fingerprint"`
	Install                      bool `json:"install"`

	// Additions to protocol 1, all off by default.
	Tasks        bool `json:"tasks,omitempty"`
	Links        bool `json:"links,omitempty"`
	InstallScope bool `json:"install_scope,omitempty"`
	Add          bool `json:"add,omitempty"`
	Cancel       bool `json:"cancel,omitempty"`
	// ResolvedToolchain is asked instead of ResolvedToolchainFingerprint.
	ResolvedToolchain bool `json:"resolved_toolchain,omitempty"`
	// Options: the adapter takes the options that OptionsSchema describes.
	Options bool `json:"options,omitempty"`
	// Scaffold: the adapter makes new projects.
	Scaffold bool `json:"scaffold,omitempty"`
}

// DefaultCapabilities returns the capabilities of a manifest that names none.
func DefaultCapabilities() Capabilities {
	return Capabilities{Detect: true, RequiredToolchain: true, Install: true}
}

// BuiltinCapabilities returns the capabilities of the built-in adapters.
func BuiltinCapabilities() Capabilities {
	return Capabilities{
		Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true,
		Install: true, Tasks: true, Links: true, InstallScope: true, Add: true,
	}
}

// Task is a recipe: one command that an adapter offers for a dish.
type Task struct {
	Name string `json:"name"`
	Run  string `json:"run"` // a shell command

	// Inputs are globs, relative to the dish. "//" in front anchors at the workspace root,
	// "!" in front excludes. Nil means the default inputs.
	Inputs []string `json:"inputs,omitempty"`
	// ObservedInputs says that of the content of the inputs only what the command is observed to read counts.
	ObservedInputs bool `json:"-"`
	// Outputs are globs of the files that the command writes. A glob may match no file. That of an
	// adapter of bento itself may be an absolute path, or start with "//" as Inputs.
	Outputs []string `json:"outputs,omitempty"`
	// Rewrites are globs, like Inputs without "!", of inputs that the command also writes.
	// The result is stored if their content is the same afterwards.
	Rewrites []string `json:"rewrites,omitempty"`

	// ExtraInputs are globs added to Inputs, or to the default inputs.
	ExtraInputs []string `json:"extra_inputs,omitempty"`
	// DependsOn are tasks that run first: "gen", "lib:build", "^build".
	DependsOn []string `json:"depends_on,omitempty"`
	// Cwd is the directory that the command runs in, relative to the dish.
	Cwd string `json:"cwd,omitempty"`
	// Env is set for the command and hashed.
	Env map[string]string `json:"env,omitempty"`
	// Path are directories put before PATH, relative to the dish.
	Path []string `json:"path,omitempty"`
	// Script marks a task that runs by name only and is not part of ci.
	Script bool `json:"script,omitempty"`
	// NoCache marks a task whose result is never stored.
	NoCache bool `json:"no_cache,omitempty"`
	// SideEffects marks a task that bento must not run a second time for diagnostics.
	SideEffects bool `json:"side_effects,omitempty"`
	// SkipsPrivate reports whether the command uses no Private link of the dish, such as a build that
	// compiles no tests.
	SkipsPrivate bool `json:"skips_private,omitempty"`
	// Mutex names a resource that two tasks cannot use at once. Tasks with the same mutex,
	// in any dish, run one after another.
	Mutex string `json:"mutex,omitempty"`

	// Body is the text of the script that Run runs by its name, "" for a command of the adapter
	// itself. Bento reads it to find out whether a script of a workspace's root only runs scripts of
	// the members. It is never sent over the wire.
	Body string `json:"-"`
	// Instead are other commands that write the outputs to another place. If git does not ignore the
	// outputs, the first one counts whose Path git ignores. One without a Path writes none, and counts in a
	// repository of git that ignores no Path before it. They are never sent over the wire.
	Instead []Alternative `json:"-"`
	// Near are absolute paths outside of the dish that the command names. Bento looks there for files
	// that it has left. They are never sent over the wire.
	Near []string `json:"-"`
	// NoInstall reports whether the command uses no package that the install of the dish installs,
	// such as a build that makes its own environment. It is never sent over the wire.
	NoInstall bool `json:"-"`
	// Fetches reports whether the command fetches packages that no install has made: a machine without a
	// network cannot execute it. It is never sent over the wire.
	Fetches bool `json:"-"`
	// Server marks a task that runs until bento ends it. Its end with status 0 is still a success,
	// because a script's name does not prove that it is a server. It is never sent over the wire.
	Server bool `json:"-"`
}

// Alternative is another command of a task. Path, relative to the dish, is where its outputs lie, "" if it has none.
type Alternative struct {
	Path    string
	Run     string
	Outputs []string
}

// Toolchain is a version that a project requires.
type Toolchain struct {
	Tool    string `json:"tool"`
	Version string `json:"version"` // as the ecosystem writes it: a version, a range, a channel

	File   string `json:"file,omitempty"` // absolute, the file that requires it
	Line   int    `json:"line,omitempty"` // 1-based
	Strict bool   `json:"-"`              // the tool itself refuses other versions

	// Refused is the reason why no task may run with this version, "" if tasks may: "pnpm would
	// download it".
	Refused string `json:"-"`

	// More are further required versions, mostly of other tools.
	More []Toolchain `json:"-"`
}

// Malformed returns the problem of a pin that is no version. name is the name of its file or key.
func (t *Toolchain) Malformed(name string, why error, hint string) error {
	return diagnostics.Problems{diagnostics.Pos{File: t.File, Line: t.Line}.Error("invalid_pin", "%s: %v", filepath.Base(name), why).WithHint(hint)}
}

// Hook describes how bento gets the diagnostics of a task.
type Hook struct {
	Rerun  Rerun  `json:"rerun"`
	Parser string `json:"parser"` // ParserPlugin, ParserTool and a reference, or the id of a built-in parser
	// InDish reports whether relative paths in the output are relative to the dish, whichever
	// directory the command runs in.
	InDish bool `json:"in_dish,omitempty"`
}

// ParserPlugin is the Hook.Parser that sends the output to ParseDiagnostics.
const ParserPlugin = "plugin"

// ParserTool is the start of a Hook.Parser that is a tool of the workspace; the reference of the tool
// follows: "tool:acme.report:parse".
const ParserTool = "tool:"

// Rerun describes how bento builds the command of a diagnostic run.
type Rerun struct {
	Kind    string   `json:"kind"` // RerunAppend or RerunReplace
	Args    []string `json:"args,omitempty"`
	Command string   `json:"command,omitempty"`
}

// The two kinds of Rerun.
const (
	RerunAppend  = "append_args"
	RerunReplace = "replace"
)

// InstallRequest is the params of install.
type InstallRequest struct {
	DishDir  string `json:"dish_dir"` // absolute
	DishName string `json:"dish_name"`

	// Scope is the answer of InstallScope, or the zero value when it was not called.
	Scope Scope `json:"-"`
	// Force makes the tool reinstall packages that it believes to be installed.
	Force bool `json:"-"`
	// Env is the whole environment for child processes.
	Env Environ `json:"-"`
	// Claims are the directories that the install may remove.
	Claims *Claims `json:"-"`
}

// ParseRequest is the params of parseDiagnostics. Stdout and Stderr hold at most the last 4
// MiB.
type ParseRequest struct {
	TaskName      string `json:"task_name"`
	Stdout        string `json:"stdout"`
	Stderr        string `json:"stderr"`
	ExitStatus    int    `json:"exit_status"`
	DishDir       string `json:"dish_dir"`
	WorkspaceRoot string `json:"workspace_root"`
}

// Log is one progress event (the params of notifications/log).
type Log struct {
	Level   string `json:"level"`            // trace, debug, info, warn, error
	Stream  string `json:"stream,omitempty"` // stdout, stderr: the tool's own output; empty: a message of the adapter
	Message string `json:"message"`

	// Verbatim reports whether Message is a piece of the tool's output that a plugin forwards, which
	// is shown unchanged. Otherwise Message is one or more whole lines.
	Verbatim bool `json:"-"`
}

// LogFunc receives progress, one call at a time. It may be nil.
type LogFunc func(Log)
