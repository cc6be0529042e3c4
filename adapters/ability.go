package adapters

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
)

// TaskLister has recipes that depend on what is on disk (./gradlew or gradle,
// the scripts of package.json).
type TaskLister interface {
	// Tasks returns the recipes for dir. Its Reads also cover the files that Detect and
	// RequiredToolchain read for dir.
	Tasks(ctx context.Context, dir string) (TasksAnswer, error)
}

// TasksAnswer is the result of tasks.
type TasksAnswer struct {
	Tasks []Task `json:"tasks"`
	// Aggregate marks the root of a workspace of members without a package of its
	// own: it is an install scope and has no lifecycle tasks.
	Aggregate bool `json:"aggregate,omitempty"`
	// Members are directories (absolute) that the manifest names as members; they
	// are dishes even inside this one.
	Members []string `json:"members,omitempty"`
	Reads   Reads    `json:"reads,omitempty"`
	// Notes are facts about the recipes that their text does not show, for plan -v.
	Notes []string `json:"-"`
	// Wraps are families whose projects in the same directory are built and tested as a part of this
	// one ("cargo" in a project of maturin): these projects have no build and no test.
	Wraps []string `json:"-"`
	// Warnings report values that cannot be read from the manifests without running them, and the
	// values that bento assumes instead. Files are absolute.
	Warnings []diagnostics.Diagnostic `json:"-"`
}

// Tasks returns a's recipes for dir, or its default tasks when a is no TaskLister.
func Tasks(ctx context.Context, a Adapter, dir string) (TasksAnswer, error) {
	if l, ok := a.(TaskLister); ok {
		return l.Tasks(ctx, dir)
	}
	return TasksAnswer{Tasks: a.Manifest().DefaultTasks}, nil
}

// Linker reads dependencies on other dishes from manifests.
type Linker interface {
	Links(ctx context.Context, dir string) (LinksAnswer, error)
}

// LinksAnswer is the result of links.
type LinksAnswer struct {
	Links []Link `json:"links"`
	// Provides are the names by which a Link.Package of another dish refers to this one. A
	// name is opaque and carries its own namespace ("npm:/abs/workspace:ui",
	// "maven:com.example:lib").
	Provides []string `json:"provides,omitempty"`
	// Open are globs, relative to the project, of the files of it that a project of the same family
	// may read by a link to it. Nil means that the family cannot tell.
	Open []string `json:"-"`
	// Closed reports whether the sources among Open read nothing else of the project, but for what
	// Embeds finds. If not, only those of Open that a task makes say where others read.
	Closed bool `json:"-"`
	// Names are what SourceImporter.SourceImports needs to know of the manifests.
	Names []string `json:"-"`
	Reads Reads    `json:"reads,omitempty"`
}

// Link is one dependency on another project, by directory or by a name that another dish
// provides. A link that leads to no dish only adds inputs.
type Link struct {
	Dir     string `json:"dir,omitempty"` // absolute
	Package string `json:"package,omitempty"`
	File    string `json:"file"` // absolute, the manifest that declares it
	Line    int    `json:"line,omitempty"`
	Dev     bool   `json:"dev,omitempty"` // a development dependency
	// Private reports whether only tasks of the dish itself use the link: a dish that is linked to
	// this one does not compile, install or read it. Development dependencies are private only if the
	// ecosystem guarantees it.
	Private bool `json:"private,omitempty"`
	// Deep reports whether the dish also uses the private links of the target: it runs the target's
	// tests.
	Deep bool `json:"deep,omitempty"`
	// As is the path under which sources import what is in the target, as Importer.Imports has it; ""
	// for none.
	As string `json:"-"`
	// Loose reports whether files in Dir are used although no manifest names Dir as a package: the
	// link does not make it a dish.
	Loose bool `json:"-"`
	// Shared reports whether the members of the dish's workspace use the link too: an install at the root
	// puts the package where each of them finds it.
	Shared bool `json:"-"`
}

// Links returns a's links of dir, none when a is no Linker.
func Links(ctx context.Context, a Adapter, dir string) (LinksAnswer, error) {
	if l, ok := a.(Linker); ok {
		return l.Links(ctx, dir)
	}
	return LinksAnswer{}, nil
}

// Embedder finds the paths that sources include, in addition to the declarations of manifests. The
// sources are the files whose names end as Manifest.EmbedsIn says.
type Embedder interface {
	// Embeds returns the embeds of one file of the project in dir. The answer depends only on the
	// arguments, and keeps no part of data.
	Embeds(dir, file string, data []byte) []Embed
}

// Importer finds what the sources of a project import from other projects, so that bento knows which
// directories of a linked project matter. The sources are those of Embedder.
type Importer interface {
	// Imports returns the imports of one file: Path is the path as the source has it, and Named is set
	// where only the tests of the project import it. The answer depends only on the arguments.
	Imports(dir, file string, data []byte) []Embed
}

// SourceImporter finds the files that the sources of a project import. A task that makes such a file runs before the
// tasks that read the sources. bento calls it only if dish.toml declares outputs of a task other than the build, and
// git does not track them.
type SourceImporter interface {
	// ImportsIn returns the ends of the names of the sources: ".go".
	ImportsIn() []string
	// SourceImports returns the files that one file of the project in dir may import, there or not: each
	// Embed has a Path and a Glob of files below it. names are those of LinksAnswer. Named is set where only
	// the tests of the project import it. The answer depends only on the arguments, and keeps no part
	// of data.
	SourceImports(dir string, names []string, file string, data []byte) []Embed
}

// EmbedsFunc is the method of an Embedder, and of an Importer.
type EmbedsFunc func(dir, file string, data []byte) []Embed

// Embed is an inclusion of files in a source by their path.
type Embed struct {
	Path string // absolute; of a directory everything below it
	Glob string // of files below Path, in place of everything
	File string // absolute, the source
	Line int
	// Ignored selects the ignored files below Path that are also included.
	Ignored IgnoredNames
	// Named reports whether the source only has the path in a string, and may not include it. Then
	// ignored files are inputs only if a task makes them, and directories around the project are no
	// inputs.
	Named bool
	// Missed reports whether the tool's own cache misses a change there, see Stamper.
	Missed bool
}

// Stamper makes a tool see that files have changed at which its own cache does not look: those of
// Embed.Missed.
type Stamper interface {
	// IsStamped reports whether the cache may miss a change of a file, by its name. If a dish has a missed
	// embed, all such files of the dish and of its embeds count.
	IsStamped(name string) bool
	// StampEnv returns the variables that make the tool see a change: digest is another one then. env is
	// the environment of the task.
	StampEnv(env Environ, digest string) map[string]string
}

// IgnoredNames are names of files that a tool includes even if git ignores them.
type IgnoredNames int

// The names.
const (
	NoNames    IgnoredNames = iota
	PlainNames              // those without an element that begins with "." or "_"
	AllNames
)

// Scoper returns the directory in which an install of dir happens, and the files that decide it.
type Scoper interface {
	InstallScope(ctx context.Context, dir string) (Scope, error)
}

// Scope is the result of install_scope: the directory that is installed as one.
type Scope struct {
	Dir string `json:"dir"` // absolute; the same for all dishes that share the install
	// Files (absolute) decide the install together with the tool's fingerprint: manifests,
	// lockfiles, tool settings. A missing file is recorded as missing.
	Files []string `json:"files,omitempty"`
	// Made are paths, relative to Dir or absolute, that a successful install leaves. When
	// one is missing, or an empty directory, bento installs again.
	Made []string `json:"made,omitempty"`
	// Command is the command that Install runs; messages show it and the record of the
	// install holds it.
	Command string `json:"command,omitempty"`
	// Nothing reports that Dir needs no install.
	Nothing bool  `json:"nothing,omitempty"`
	Reads   Reads `json:"reads,omitempty"`
	// Copied are directories whose files the install copies or compiles, or hands to scripts of the
	// project: their content decides it like Files.
	Copied []Copied `json:"-"`
}

// Copied is a directory whose files decide an install.
type Copied struct {
	Dir    string   // absolute
	Except []string // directories (absolute) in it that do not count
	// Ignored reports whether files that git ignores count, such as what a build has made.
	Ignored bool
	// Scripts reports whether the files count only because scripts of the project may read them:
	// [install] inputs of its dish.toml narrows them.
	Scripts bool
}

// InstallScope returns a's scope of dir. If a is no Scoper, the scope is dir itself, and the files
// that fingerprint_files matches decide it.
func InstallScope(ctx context.Context, a Adapter, dir string) (Scope, error) {
	if s, ok := a.(Scoper); ok {
		return s.InstallScope(ctx, dir)
	}
	return Scope{Dir: dir}, nil
}

// LockDigester returns the part of a shared lockfile that one dish depends on.
type LockDigester interface {
	// LockDigest returns the digest of dir's part of its lockfile. A lockfile that it
	// cannot read is no error: the whole file is then an input.
	LockDigest(ctx context.Context, dir string) (LockAnswer, error)
}

// LockAnswer is the result of lock_digest. Digest, if set, replaces the content of File in the keys
// of the dish's tasks, even if File is among their inputs. Without Digest, File is an input.
type LockAnswer struct {
	// File is the lockfile (absolute), "" when the dish has none.
	File string `json:"file,omitempty"`
	// Digest is opaque. It covers every transitive dependency of the dish, with version and
	// integrity, and those of other members that it depends on. It does not depend on the order or
	// the layout of the file.
	Digest string `json:"digest,omitempty"`
	// Whole is the reason why the whole File is an input, for messages: "pnpm lockfile version 12 is
	// not known".
	Whole string `json:"whole,omitempty"`
	Reads Reads  `json:"reads,omitempty"`

	// Parts are further files of which the dish uses a part: the manifest of its workspace. As with
	// File, each digest replaces the file. They are never sent over the wire.
	Parts []LockPart `json:"-"`
}

// LockPart is the part of a file (absolute) that a dish uses, as an opaque digest.
type LockPart struct{ File, Digest string }

// All returns the part of File and Parts, without those that have no digest.
func (l LockAnswer) All() []LockPart {
	if l.Digest == "" && len(l.Parts) == 0 {
		return nil
	}
	list := append([]LockPart{{File: l.File, Digest: l.Digest}}, l.Parts...)
	return slices.DeleteFunc(list, func(p LockPart) bool { return p.Digest == "" })
}

// LockDigest returns a's lock answer for dir. When a is no LockDigester, the lockfile is an
// input like any file.
func LockDigest(ctx context.Context, a Adapter, dir string) (LockAnswer, error) {
	if l, ok := a.(LockDigester); ok {
		return l.LockDigest(ctx, dir)
	}
	return LockAnswer{}, nil
}

// Steerer returns, without starting a process, everything that the answer of ToolchainFingerprint
// depends on.
type Steerer interface {
	// ToolchainBasis describes everything that ToolchainFingerprint depends on in dir: the resolved
	// executables by path and stat (for a shim, the executables that it chooses from), and the files
	// and variables that steer them. The same basis means the same fingerprint, even in a later
	// invocation. A missing tool is a *MissingTool error.
	ToolchainBasis(ctx context.Context, dir string) (string, error)
}

// ToolchainBasis returns the basis of a's fingerprint in dir. ok is false when a is no
// Steerer; the caller then calls ToolchainFingerprint.
func ToolchainBasis(ctx context.Context, a Adapter, dir string) (basis string, ok bool, err error) {
	s, ok := a.(Steerer)
	if !ok {
		return "", false, nil
	}
	basis, err = s.ToolchainBasis(ctx, dir)
	return basis, err == nil, err
}

// ToolchainResolver is an adapter of a plugin that knows the version of the toolchain of a
// directory, so that bento can compare it with the pin.
type ToolchainResolver interface {
	// ResolvedToolchain returns the toolchain that the tasks of dir get, nil if there is none. It is
	// called instead of ToolchainFingerprint.
	ResolvedToolchain(ctx context.Context, dir string) (*ResolvedToolchain, error)
}

// ResolvedToolchain is the result of resolvedToolchain.
type ResolvedToolchain struct {
	Fingerprint string `json:"fingerprint"` // changes with the tool; a part of the key
	Version     string `json:"version"`     // such as "3.25.1"; also a part of the key
}

// InstallPlanner is an adapter of a plugin that starts no process for an install: bento runs its
// commands.
type InstallPlanner interface {
	// InstallCommands returns the commands that install the dependencies of a dish, in their order.
	// Each is a program and its arguments; no shell reads them. The program is a name on PATH, or a
	// path relative to the directory of the install, in which bento runs the commands. It is called
	// instead of Install.
	InstallCommands(ctx context.Context, req InstallRequest) ([][]string, error)
}

// PinChecker compares a pin with a toolchain.
type PinChecker interface {
	// CheckPin reports whether the toolchain with this fingerprint satisfies want.
	CheckPin(want Toolchain, fingerprint string) Verdict
}

// Verdict is the result of CheckPin.
type Verdict struct {
	OK bool
	// NotCompared is set if the version is unknown, or the pin cannot be understood. Then OK is true
	// and Hint is the reason.
	NotCompared bool
	Found       string // the version found, for messages
	Hint        string // how to get the required version
}

// CheckPin reports whether fingerprint satisfies want. When a is no PinChecker, nothing is
// compared.
func CheckPin(a Adapter, want Toolchain, fingerprint string) Verdict {
	if c, ok := a.(PinChecker); ok {
		return c.CheckPin(want, fingerprint)
	}
	return Verdict{OK: true, NotCompared: true}
}
