package uv

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Files in which a project and the user require a version of Python.
const (
	versionFile  = ".python-version"
	versionsFile = ".python-versions"
)

// findPython returns the interpreter that uv chooses for the workspace. It skips the one in the
// workspace's own environment, which an install may replace. A *probe.Refusal reports that uv
// finds none.
func (a *Adapter) findPython(ctx context.Context, p *project, env adapters.Environ, at probe.At) (string, error) {
	env = environment.Without(env, "VIRTUAL_ENV", "CONDA_PREFIX")
	path, err := environment.FindTool(env, "uv")
	if err != nil {
		return "", err
	}
	at = at.Of(path)
	if wanted := env.Get("UV_PYTHON"); wanted != "" && !strings.HasPrefix(wanted, "-") {
		at.Word, at.Own = wanted, true
	} else if !at.Leave.Given() {
		if at.Word, err = a.wanted(p); err != nil {
			return "", err
		}
	}
	if preference := a.preference(p.Dir); preference != "" && !at.Leave.Given() {
		at.Set = map[string]string{"UV_PYTHON_PREFERENCE": preference}
	}
	output, err := probe.New(a.Source, env).Sharing(&a.set).Ask(ctx, probe.UVPython, at)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(output.Out), "\n")
	python := strings.TrimSpace(lines[len(lines)-1])
	if !filepath.IsAbs(python) {
		return "", &probe.Refusal{Command: "uv python find", Dir: p.Dir, Stderr: "it printed no path: " + python}
	}
	return python, nil
}

// wanted returns the version that the workspace requires, as uv reads it: from the version
// file beside its root, else what all members require together; or "".
func (a *Adapter) wanted(p *project) (string, error) {
	f := a.Files(p.Dir).Beyond()
	for _, name := range []string{versionFile, versionsFile} {
		data, err := f.ReadChoice(name)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
			text, _, _ := strings.Cut(line, "#")
			if text = strings.TrimSpace(text); text != "" {
				return text, nil
			}
		}
	}
	var list []string
	for _, text := range append([]string{p.Root.RequiresPython.Value}, p.required()...) {
		if text = strings.Trim(strings.TrimSpace(text), ","); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) > 0 && f.IsFile(a.global()) {
		return "", &adapters.KnownAtRun{Why: "only uv knows whether " + a.global() + " satisfies requires-python"}
	}
	return strings.Join(list, ","), nil
}

func (p *project) required() []string {
	list := make([]string, len(p.Members))
	for i, m := range p.Members {
		list[i] = m.RequiresPython.Value
	}
	return list
}

// config returns the directory of the user's settings.
func (a *Adapter) config() string {
	return filepath.Join(cmp.Or(a.env.Get("XDG_CONFIG_HOME"), filepath.Join(a.env.Get("HOME"), ".config")), "uv")
}

// global returns the version file of the user.
func (a *Adapter) global() string { return filepath.Join(a.config(), versionFile) }

// preference returns the python-preference of the nearest settings in dir or above, "" for
// none and where the user's own settings have one.
func (a *Adapter) preference(dir string) string {
	for _, name := range []string{"UV_PYTHON_PREFERENCE", "UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON", "UV_NO_CONFIG", "UV_CONFIG_FILE"} {
		if a.env.Get(name) != "" {
			return ""
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if of := a.table(filepath.Join(at, settings)); of != nil {
			return text(of.Child("python-preference"))
		}
		if of := a.table(filepath.Join(at, "pyproject.toml"), "tool", "uv"); of != nil {
			return text(of.Child("python-preference"))
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// table reads a table of a TOML file and returns nil when it is missing.
func (a *Adapter) table(path string, keys ...string) *tomlfile.Value {
	data, err := a.Files(filepath.Dir(path)).Beyond().ReadIfExists(path)
	if data == nil || err != nil {
		return nil
	}
	doc, _ := tomlfile.ParseManifest(path, data)
	if doc == nil {
		return nil
	}
	v := doc.Root()
	if len(keys) > 0 {
		v = doc.Lookup(keys...)
	}
	if v == nil || v.Kind() != tomlfile.Table {
		return nil
	}
	return v
}

func text(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	s, _ := v.Text()
	return s
}
