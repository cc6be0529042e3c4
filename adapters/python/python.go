// Package python has the adapters of Python projects: "python" for those that pip or poetry installs,
// "python-uv" for those of uv.
//
// A project has its own virtual environment, .venv, or shares that of its uv workspace.
// Every recipe runs inside it. The environment of pip and poetry is made from scratch whenever its
// requirements change; that of uv is synchronised.
package python

import (
	"context"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/uv"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// Adapter is the adapter of pip and poetry, id python. It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	env      adapters.Environ
	asker    *probe.Asker
	manifest adapters.Manifest
	machine  *interpreter.Machine
	scripts  snapshot.Scripts

	// sources are directories in which an install builds; two installs at once in one of
	// them would conflict.
	mu      sync.Mutex
	sources map[string]chan struct{}
}

// New returns the adapter. It finds tools in o.Env and passes it to probes.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{
		Source: o.Source(), env: o.Env, machine: interpreter.NewMachine(o), scripts: o.Scripts, sources: make(map[string]chan struct{}),
		manifest: environment.Manifest("python", "python/5"),
	}
	m := &a.manifest
	m.EmbedsIn = devtool.ManifestFiles()
	m.FingerprintFiles = []string{
		"pyproject.toml", "requirements*.txt", "setup.cfg", "setup.py",
		".python-version", ".tool-versions", poetryLock, "poetry.toml", "uv.lock",
	}
	m.SetEnv["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
	m.SetEnv["PIP_NO_INPUT"] = "1"
	m.SetEnv["PIP_ROOT_USER_ACTION"] = "ignore"
	m.SetEnv["POETRY_NO_INTERACTION"] = "1"
	// Poetry installs into bento's environment, even if the user keeps others elsewhere.
	m.SetEnv["POETRY_VIRTUALENVS_CREATE"] = "true"
	m.SetEnv["POETRY_VIRTUALENVS_IN_PROJECT"] = "true"
	a.asker = probe.New(o.Source(), o.Env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv))
	a.Versions = a.asked
	return a
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

// NewUV returns the adapter of uv, id python-uv.
func NewUV(o snapshot.Options) *uv.Adapter { return uv.New(o) }

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect implements adapters.Adapter: a project that pip can install. A pyproject.toml with
// only the settings of a linter is no project. A malformed one is, so that bento reports
// it.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	if f.IsFile("requirements.txt") || f.IsFile("setup.py") {
		return true, nil
	}
	if !f.IsFile("pyproject.toml") {
		return false, nil
	}
	p, err := pyproject.Read(f)
	return err != nil || p.HasProject || p.HasBuildSystem || p.HasPoetry, nil
}

// RequiredToolchain implements adapters.Adapter: the version of Python that the project
// pins.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := open(f)
	if err != nil {
		return nil, err
	}
	return interpreter.Pin(f, p.wants())
}

// wants returns the manifest's requirement; pip and poetry refuse to install the project
// under another version.
func (p *project) wants() interpreter.Wants {
	return interpreter.Wants{Requires: p.RequiresPython, StrictRequires: p.canBuild() || p.poetry}
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	return interpreter.Check(want, fingerprint)
}

// asked returns version, implementation, ABI and platform of the interpreter in dir, behind shims, and the
// version of poetry where that installs.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	path, err := interpreter.Find(a.env)
	if err != nil {
		return "", err
	}
	print, err := interpreter.Fingerprint(ctx, a.asker, at.Of(path))
	if err != nil || !usesPoetry(a.Files(at.Dir)) {
		return print, err
	}
	if path, err = environment.FindTool(a.env, "poetry"); err != nil {
		return "", err
	}
	poetry, err := environment.Version(ctx, a.asker, probe.PoetryVersion, at.Of(path))
	return print + " poetry=" + poetry, err
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	basis, err := a.machine.Basis(dir)
	if err != nil || !usesPoetry(a.Files(dir)) {
		return basis, err
	}
	path, err := environment.FindTool(a.env, "poetry")
	if err != nil {
		return "", err
	}
	b := probe.NewBasis(a.env)
	b.File(path)
	return basis + b.String(), nil
}

func usesPoetry(f *snapshot.Files) bool {
	return f.IsFile(poetryLock) && f.IsFile("pyproject.toml")
}

// Nested implements adapters.Nester.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	return environment.Nested(a.Files(dir))
}
