package adapters

import (
	"context"

	"github.com/bentobuild/bento/diagnostics"
)

// Reads are the absolute paths that an answer was made from, also of files that
// were looked for and not there, and of directories that were listed. The answer
// holds as long as none of them changes. Paths outside the workspace are allowed.
type Reads []string

// TaskLister has recipes that depend on what is on disk (./gradlew or gradle,
// the scripts of package.json).
type TaskLister interface {
	// Tasks gives the recipes for dir. Its Reads cover what Detect and
	// RequiredToolchain look at for the same directory.
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
	// Warnings tell what of the manifests cannot be understood without running them,
	// and what is assumed instead. Files are absolute.
	Warnings []diagnostics.Diagnostic `json:"-"`
}

// Tasks asks a for its recipes for dir, its default tasks when it has no others.
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
	// Provides are the names under which other dishes can mean this one by
	// Link.Package. A name is opaque and carries its own namespace
	// ("npm:/abs/workspace:ui", "maven:com.example:lib").
	Provides []string `json:"provides,omitempty"`
	Reads    Reads    `json:"reads,omitempty"`
}

// Link is one dependency on another project, by directory or by a name that
// another dish provides. A link that leads to no dish is just inputs.
type Link struct {
	Dir     string `json:"dir,omitempty"` // absolute
	Package string `json:"package,omitempty"`
	File    string `json:"file"` // absolute, the manifest that says so
	Line    int    `json:"line,omitempty"`
	Dev     bool   `json:"dev,omitempty"` // a development dependency
}

// Links asks a for the links of dir, none when it cannot tell.
func Links(ctx context.Context, a Adapter, dir string) (LinksAnswer, error) {
	if l, ok := a.(Linker); ok {
		return l.Links(ctx, dir)
	}
	return LinksAnswer{}, nil
}

// Scoper knows where an install of dir happens and what decides it.
type Scoper interface {
	InstallScope(ctx context.Context, dir string) (Scope, error)
}

// Scope is the result of install_scope: the unit that is installed at once.
type Scope struct {
	Dir string `json:"dir"` // absolute; the same for all dishes that share it
	// Files (absolute) decide the install together with the tool's fingerprint:
	// manifests, lockfiles, tool settings. Absent ones count as absent.
	Files []string `json:"files,omitempty"`
	// Made are paths, relative to Dir or absolute, that a good install leaves behind. One that is
	// missing, or an empty directory, means that the install is gone.
	Made []string `json:"made,omitempty"`
	// Command is what will be run, for people and for the stamp.
	Command string `json:"command,omitempty"`
	// Nothing says that there is nothing to install.
	Nothing bool  `json:"nothing,omitempty"`
	Reads   Reads `json:"reads,omitempty"`
}

// InstallScope asks a for the scope of dir; without the ability it is dir itself,
// decided by the files that fingerprint_files matches.
func InstallScope(ctx context.Context, a Adapter, dir string) (Scope, error) {
	if s, ok := a.(Scoper); ok {
		return s.InstallScope(ctx, dir)
	}
	return Scope{Dir: dir}, nil
}

// LockDigester knows what a lockfile that several dishes share means for one of
// them.
type LockDigester interface {
	// LockDigest tells what dir gets from its lockfile. A lockfile that cannot be
	// understood is no error: then all of it counts.
	LockDigest(ctx context.Context, dir string) (LockAnswer, error)
}

// LockAnswer is the result of lock_digest. With a Digest that stands in the keys of
// the dish's tasks in place of the content of File, also where File is among their
// inputs. Without, File is an input as it is.
type LockAnswer struct {
	// File is the lockfile (absolute), "" when the dish has none.
	File string `json:"file,omitempty"`
	// Digest is opaque: of every dependency that the dish resolves to, with version
	// and integrity, transitively, and through other members that it depends on. It
	// depends on nothing else, not on the order or the layout of the file.
	Digest string `json:"digest,omitempty"`
	// Whole is why all of File counts when it cannot be told what of it does, for
	// people: "pnpm lockfile version 12 is not known".
	Whole string `json:"whole,omitempty"`
	Reads Reads  `json:"reads,omitempty"`
}

// LockDigest asks a what dir gets from its lockfile; without the ability a lockfile
// is an input like any file.
func LockDigest(ctx context.Context, a Adapter, dir string) (LockAnswer, error) {
	if l, ok := a.(LockDigester); ok {
		return l.LockDigest(ctx, dir)
	}
	return LockAnswer{}, nil
}

// Steerer knows, without starting a process, what decides the answer of
// ToolchainFingerprint.
type Steerer interface {
	// ToolchainBasis describes everything that ToolchainFingerprint depends on in
	// dir: the resolved executables by path and stat (behind a shim, those that it
	// chooses from), the files and variables that steer them. The same basis means
	// the same fingerprint, also in a later invocation. A tool that is not there
	// is a *MissingTool error.
	ToolchainBasis(ctx context.Context, dir string) (string, error)
}

// ToolchainBasis asks a for the basis of its fingerprint in dir; ok is false when
// a cannot tell and ToolchainFingerprint has to be asked.
func ToolchainBasis(ctx context.Context, a Adapter, dir string) (basis string, ok bool, err error) {
	s, ok := a.(Steerer)
	if !ok {
		return "", false, nil
	}
	basis, err = s.ToolchainBasis(ctx, dir)
	return basis, err == nil, err
}

// PinChecker compares a pin with a toolchain.
type PinChecker interface {
	// CheckPin tells whether the toolchain with this fingerprint satisfies want.
	CheckPin(want Toolchain, fingerprint string) Verdict
}

// Verdict is the result of CheckPin.
type Verdict struct {
	OK    bool
	Found string // the version that is there, for people
	Hint  string // how to get what is asked for
}

// CheckPin asks a whether fingerprint satisfies want; an adapter that cannot
// tell is satisfied.
func CheckPin(a Adapter, want Toolchain, fingerprint string) Verdict {
	if c, ok := a.(PinChecker); ok {
		return c.CheckPin(want, fingerprint)
	}
	return Verdict{OK: true}
}
