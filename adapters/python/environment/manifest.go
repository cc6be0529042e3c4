package environment

import "github.com/bentobuild/bento/adapters"

// Manifest returns the parts that the manifests of the adapters share: derived paths,
// variables, and parsers.
func Manifest(id, identity string) adapters.Manifest {
	return adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       id,
		DisplayName:     id,
		Capabilities:    adapters.BuiltinCapabilities(),
		DiagnosticHooks: map[string]adapters.Hook{
			"test":  {Parser: "pytest"},
			"check": {Parser: "mypy"},
			"lint": {Parser: "ruff", Rerun: adapters.Rerun{
				Kind: adapters.RerunAppend, Args: []string{"--output-format=json"},
			}},
		},
		Projects:     []string{"pyproject.toml", "setup.py", "requirements.txt"},
		Inside:       insideRule,
		DerivedPaths: derivedPaths(),
		Parallel:     64,
		Identity:     identity,
		Family:       "python",
		Runtime:      "python",
		PassEnv:      passEnv(),
		SteeringEnv:  steeringEnv(),
		SetEnv: map[string]string{
			// Python checks bytecode by time in seconds and size: after a quick edit, or
			// for a restored file, it would take a stale one.
			"PYTHONDONTWRITEBYTECODE": "1",
		},
	}
}

// derivedPaths returns globs of files that the tools of this ecosystem write.
func derivedPaths() []string {
	return []string{
		"**/*.egg-info/**", "dist/**", "build/**", "**/__pycache__/**", "**/*.pyc", ".venv/**", "venv/**",
		".eggs/**", "**/.pytest_cache/**", ".mypy_cache/**", "**/.ruff_cache/**", ".tox/**", ".nox/**", ".coverage", "htmlcov/**",
	}
}

// passEnv returns homes, caches, indexes and version managers.
func passEnv() []string {
	return []string{
		"PIP_*", "POETRY_*", "PYENV_*", "UV_*", "ASDF_*", "MISE_*", "NETRC",
		"PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8",
	}
}

// steeringEnv returns the variables that change the outputs of the tools.
func steeringEnv() []string {
	return []string{
		"PYTHONPATH", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONDEVMODE",
		"PYTEST_ADDOPTS", "MYPYPATH", "SOURCE_DATE_EPOCH", "SETUPTOOLS_SCM_PRETEND_VERSION",
		"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ARCHFLAGS",
	}
}
