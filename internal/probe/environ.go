package probe

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// stays returns settings that keep a tool from fetching anything.
func stays() map[string]string {
	return map[string]string{
		"GOTOOLCHAIN": "local", "RUSTUP_AUTO_INSTALL": "0", "UV_PYTHON_DOWNLOADS": "never",
		"COREPACK_ENABLE_NETWORK": "0", "COREPACK_ENABLE_AUTO_PIN": "0", "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0", "COREPACK_ENV_FILE": "0",
		"MISE_AUTO_INSTALL": "0", "MISE_NOT_FOUND_AUTO_INSTALL": "0", "MISE_EXEC_AUTO_INSTALL": "0", "MISE_OFFLINE": "1",
		"npm_config_manage_package_manager_versions": "false", "pnpm_config_manage_package_manager_versions": "false",
		"pnpm_config_pm_on_fail": "ignore", "npm_config_update_notifier": "false", "DENO_NO_UPDATE_CHECK": "1",
		"PYTHONDONTWRITEBYTECODE": "1", "RUST_BACKTRACE": "0",
	}
}

// environ returns the environment for a question to t. If t starts other tools by name, these have
// the versions that version managers choose for dir.
func (a *Asker) environ(t Tool, l line, dir string) (adapters.Environ, error) {
	env := adapters.Environ(a.area.Neutral(a.env))
	path := strings.Join(a.area.Path(a.env.Get("PATH")), string(filepath.ListSeparator))
	env = env.With(stays()).With(map[string]string{"PATH": path})
	for _, name := range l.starts {
		found, err := a.starts(l, name)
		if err != nil {
			continue // the tool reports it
		}
		other, err := a.Resolve(found, dir)
		var missing *adapters.MissingTool
		if errors.As(err, &missing) {
			continue
		} else if err != nil {
			return nil, err
		}
		env = other.apply(env)
	}
	return t.apply(env), nil
}

// starts finds a tool that t starts by name, in all of PATH: if a run uses a tool of the workspace,
// no other tool may answer instead.
func (a *Asker) starts(l line, name string) (string, error) {
	env := a.env
	if l.passes {
		venv := func(dir string) bool { return isFile(filepath.Join(filepath.Dir(dir), "pyvenv.cfg")) }
		path := slices.DeleteFunc(filepath.SplitList(env.Get("PATH")), venv)
		env = env.With(map[string]string{"PATH": strings.Join(path, string(filepath.ListSeparator))})
	}
	return env.LookPath(name)
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// linked returns an error if a toolchain of rustup is a link into the workspace: the toolchain name,
// or any toolchain for rustup's default.
func (a *Asker) linked(name string) error {
	home := a.env.Get("RUSTUP_HOME")
	if home == "" {
		home = filepath.Join(a.env.Get("HOME"), ".rustup")
	}
	names := []string{name}
	if name == "" {
		names = nil
		entries, _ := os.ReadDir(filepath.Join(home, "toolchains")) // rustup may be missing
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		if path := filepath.Join(home, "toolchains", name); filepath.IsAbs(path) && a.area.Reached(path) {
			return &adapters.KnownAtRun{Why: path + " leads into the workspace"}
		}
	}
	return nil
}
