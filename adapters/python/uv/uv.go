// Package uv is the adapter "python-uv": projects and workspaces of uv
// (https://docs.astral.sh/uv), whose members share a lockfile and a virtual
// environment at the root.
package uv

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/uvworkspace"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// The names of uv's files.
const (
	lockName = "uv.lock"
	settings = "uv.toml"
)

// Adapter is the adapter of uv, id python-uv. It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	env        adapters.Environ
	download   bool
	manifest   adapters.Manifest
	machine    *interpreter.Machine
	workspaces snapshot.Memo[*uvworkspace.Workspace]
	bases      snapshot.Machine[string] // by workspace
	set        probe.Memory
	scripts    snapshot.Scripts
	locks      snapshot.Memo[*lockfile.UV]
}

// New returns the adapter. It finds tools in o.Env and passes it to probes.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{
		Source: o.Source(), env: o.Env, download: o.AllowDownload, machine: interpreter.NewMachine(o), scripts: o.Scripts,
		manifest: environment.Manifest("python-uv", "python-uv/4"),
	}
	m := &a.manifest
	m.EmbedsIn = devtool.ManifestFiles()
	m.FingerprintFiles = []string{
		"pyproject.toml", lockName, settings, "requirements.txt", "requirements-dev.txt",
		"setup.cfg", "setup.py", ".python-version", ".tool-versions",
	}
	m.Finder = &adapters.Finder{Programs: []string{"uv"}, Elsewhere: []string{"--package", "--all-packages", "--directory", "--project"}}
	m.SetEnv["UV_NO_PROGRESS"] = "1"
	// Recipes name the environment by its path.
	m.SetEnv["UV_PROJECT_ENVIRONMENT"] = environment.Dir
	if !a.download {
		m.SetEnv["UV_PYTHON_DOWNLOADS"] = "never"
	}
	a.Versions = a.asked
	return a
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect implements adapters.Adapter: a project of uv has a uv.lock, is the root or a
// member of a workspace, or sets that uv manages it.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	if !f.IsFile("pyproject.toml") {
		return f.IsFile(lockName), nil
	}
	p, err := pyproject.Read(f)
	if err != nil {
		return f.IsFile(lockName), nil // otherwise the adapter "python" reports it
	}
	if managed, set := uvworkspace.Managed(p); set {
		return managed, nil
	}
	if f.IsFile(lockName) || uvworkspace.IsWorkspace(p) {
		return true, nil
	}
	return p.HasProject && uvworkspace.RootOf(f, p) != dir, nil
}

// project is a project with its workspace.
type project struct {
	*uvworkspace.Workspace
	own *pyproject.Project
	dir string
}

// open reads the project in f's directory.
func (a *Adapter) open(f *snapshot.Files) (*project, error) {
	own, err := pyproject.Read(f)
	if err != nil {
		return nil, err
	}
	dir := f.Dir()
	w, err := a.workspaces.Get(f, uvworkspace.RootOf(f, own), uvworkspace.Read)
	if err != nil {
		return nil, err
	}
	return &project{Workspace: w, own: own, dir: dir}, nil
}

// Embeds implements adapters.Embedder.
func (a *Adapter) Embeds(dir, file string, data []byte) []adapters.Embed {
	return devtool.Upward(dir, file, data)
}

// ImportsIn implements adapters.SourceImporter.
func (a *Adapter) ImportsIn() []string { return devtool.SourceFiles() }

// SourceImports implements adapters.SourceImporter: modules of the project itself.
func (a *Adapter) SourceImports(dir string, _ []string, file string, data []byte) []adapters.Embed {
	return devtool.Imported(dir, file, data)
}

// member returns the member of the project's directory, or else the root, which is no
// member without a package.
func (p *project) member() *uvworkspace.Member {
	if m, ok := p.Find(p.dir); ok {
		return m
	}
	return p.Root
}

// fromRoot returns a path at the root of the workspace, relative to the dish.
func (p *project) fromRoot(name string) string {
	rel, err := filepath.Rel(p.dir, filepath.Join(p.Dir, name))
	if err != nil {
		return filepath.Join(p.Dir, name)
	}
	return filepath.ToSlash(rel)
}

// RequiredToolchain implements adapters.Adapter: the version of Python that the project
// pins.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return nil, err
	}
	return p.pin(f)
}

// pin reads the pin at the root, where the environment is made.
func (p *project) pin(f *snapshot.Files) (*adapters.Toolchain, error) {
	requires := p.own.RequiresPython
	if requires.Line == 0 {
		requires = p.Root.RequiresPython
	}
	at := f.In(p.Dir)
	pin, err := interpreter.Pin(at, interpreter.Wants{Requires: requires, StrictRequires: true, StrictFile: true})
	f.Note(at.Reads())
	return pin, err
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	v := interpreter.Check(want, fingerprint)
	if !v.OK && a.download && interpreter.Field(fingerprint, "python") == interpreter.None {
		v.OK = true // uv gets it
	}
	return v
}

// asked returns the version of uv, and version, implementation, ABI and platform of the interpreter that it
// takes for the workspace.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	p, err := a.open(a.Files(at.Dir))
	if err != nil {
		return "", err
	}
	at.Dir = p.Dir
	m := &a.manifest
	env := a.env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
	path, err := environment.FindTool(env, "uv")
	if err != nil {
		return "", err
	}
	asker := probe.New(a.Source, env).Sharing(&a.set)
	version, err := environment.Version(ctx, asker, probe.UVVersion, at.Of(path))
	if err != nil {
		return "", err
	}
	python, err := a.findPython(ctx, p, env, at)
	var refused *probe.Refusal
	switch {
	case errors.As(err, &refused):
		return "uv=" + version + " python=" + interpreter.None, nil
	case err != nil:
		return "", err
	}
	print, err := interpreter.Fingerprint(ctx, asker, at.Of(python))
	return "uv=" + version + " " + print, err
}

// ToolchainBasis implements adapters.Steerer: uv and its settings, all interpreters that it
// may find, and the version that the workspace requires.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	path, err := environment.FindTool(a.env, "uv")
	if err != nil {
		return "", err
	}
	p, err := a.open(a.Files(dir))
	if err != nil {
		return "", err
	}
	return a.bases.Of(a.Source, p.Dir, func() (string, error) { return a.basis(p, path), nil })
}

// basis returns ToolchainBasis for the members of a workspace, with uv at path. Workspaces that
// require the same of the same interpreters have the same.
func (a *Adapter) basis(p *project, path string) string {
	b := probe.NewBasis(a.env)
	b.File(path)
	b.Env("UV_PYTHON", "UV_PYTHON_PREFERENCE", "UV_PYTHON_INSTALL_DIR", "UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON", "UV_CONFIG_FILE", "UV_NO_CONFIG")
	b.Above(p.Dir, settings)
	b.Text("preference", a.preference(p.Dir))
	b.IfThere(filepath.Join(p.Dir, versionsFile))
	b.Text("requires", p.requires())
	data := a.env.Get("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(a.env.Get("HOME"), ".local", "share")
	}
	for _, file := range []string{filepath.Join(a.config(), settings), a.global(), "/etc/uv/" + settings, a.env.Get("UV_CONFIG_FILE")} {
		b.IfThere(file)
	}
	managed := a.env.Get("UV_PYTHON_INSTALL_DIR")
	if managed == "" {
		managed = filepath.Join(data, "uv", "python")
	}
	return b.String() + a.machine.BasisOfAll(p.Dir, filepath.Join(managed, "*", "bin", "python3"))
}

// requires returns the version that all members require together.
func (p *project) requires() string {
	list := []string{p.Root.RequiresPython.Value}
	for _, m := range p.Members {
		list = append(list, m.RequiresPython.Value)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// Nested implements adapters.Nester.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	return environment.Nested(a.Files(dir))
}
