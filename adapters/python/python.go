// Package python teaches bento Python projects that pip installs.
//
// Each dish has its own virtual environment, .venv, which install makes anew from
// its requirements; every recipe runs inside it.
package python

import (
	"context"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/diagnostics"
)

// Adapter is the adapter of pip, id python. It is safe for concurrent use.
type Adapter struct {
	env      adapters.Environ
	manifest adapters.Manifest
	seen     adapters.Moment[machine]

	// sources are directories in which an install builds; two at once in one
	// disturb each other.
	mu      sync.Mutex
	sources map[string]chan struct{}
}

// New gives the adapter. Tools are looked for in o.Env, which is also where probes
// take their environment from.
func New(o adapters.Options) *Adapter {
	return &Adapter{env: o.Env, sources: make(map[string]chan struct{}), manifest: adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "python",
		DisplayName:     "python",
		FingerprintFiles: []string{
			"pyproject.toml", "requirements*.txt", "setup.cfg", "setup.py",
			".python-version", ".tool-versions", "poetry.lock", "uv.lock",
		},
		Capabilities: adapters.Capabilities{
			Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true,
			Install: true, Tasks: true, Links: true, InstallScope: true,
		},
		DiagnosticHooks: map[string]adapters.Hook{"lint": {
			Rerun:  adapters.Rerun{Kind: adapters.RerunAppend, Args: []string{"--output-format=json"}},
			Parser: "ruff",
		}},
		DerivedPaths: derivedPaths(),
		Parallel:     64,
		Identity:     "python/1",
		Family:       "python",
		Runtime:      "python",
		PassEnv:      passEnv(),
		SteeringEnv:  steeringEnv(),
		SetEnv: map[string]string{
			"PIP_DISABLE_PIP_VERSION_CHECK": "1",
			"PIP_NO_INPUT":                  "1",
			"PIP_ROOT_USER_ACTION":          "ignore",
			// Bytecode is checked by time in seconds and size: after a quick edit,
			// or a restored file, a stale one would be taken.
			"PYTHONDONTWRITEBYTECODE": "1",
		},
	}}
}

// derivedPaths are what the tools of this ecosystem leave behind.
func derivedPaths() []string {
	return []string{
		"**/*.egg-info/**", "dist/**", "build/**", "**/__pycache__/**", "**/*.pyc", ".venv/**", "venv/**",
		".eggs/**", "**/.pytest_cache/**", ".mypy_cache/**", "**/.ruff_cache/**", ".tox/**", ".nox/**", ".coverage", "htmlcov/**",
	}
}

// passEnv are homes, caches, indexes and version managers.
func passEnv() []string {
	return []string{
		"PIP_*", "PYENV_*", "UV_*", "ASDF_*", "MISE_*", "NETRC",
		"PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8",
	}
}

// steeringEnv change what the tools make.
func steeringEnv() []string {
	return []string{
		"PYTHONPATH", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONDEVMODE",
		"PYTEST_ADDOPTS", "MYPYPATH", "SOURCE_DATE_EPOCH", "SETUPTOOLS_SCM_PRETEND_VERSION",
		"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ARCHFLAGS",
	}
}

// Manifest tells what the adapter is.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect tells whether dir is a project that pip can install. A pyproject.toml
// that holds only the settings of a linter is none; one that cannot be read is,
// so that it is told.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := adapters.NewFiles(dir)
	if f.IsFile("requirements.txt") || f.IsFile("setup.py") {
		return true, nil
	}
	if !f.IsFile("pyproject.toml") {
		return false, nil
	}
	p, err := pyproject.Read(f)
	return err != nil || p.HasProject || p.HasBuildSystem || p.HasPoetry, nil
}

// ParseDiagnostics is never asked: no hook names the parser "plugin".
func (a *Adapter) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}
