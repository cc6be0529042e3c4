package probe

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// bounds are the paths under which a workspace lies: as it was named, and free of links.
type bounds []string

func newBounds(root string) bounds {
	if root == "" {
		return nil
	}
	b := bounds{filepath.Clean(root)}
	if real, err := filepath.EvalSymlinks(root); err == nil && real != b[0] {
		b = append(b, real)
	}
	return b
}

// has reports whether a path lies in the workspace as it is written.
func (b bounds) has(path string) bool {
	return slices.ContainsFunc(b, func(root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// maxLinks bounds how many links are followed, as the kernel does.
const maxLinks = 40

// reached reports whether a path, or anything that its links lead through, lies in the
// workspace.
func (b bounds) reached(path string) bool {
	for range maxLinks {
		if b.has(path) {
			return true
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if b.has(path) || err != nil {
			return b.has(path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return true // it leads nowhere
}

// path returns the entries of env's PATH that are no part of the workspace.
func (b bounds) path(env adapters.Environ) []string {
	return slices.DeleteFunc(filepath.SplitList(env.Get("PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || b.reached(dir)
	})
}

// loads are variables that have a tool load code or take another project for its own.
// None of them decides which version answers.
var loads = [...]string{
	"NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS", "RUBYOPT", "RUBYLIB", "JRUBY_OPTS", "TRUFFLERUBYOPT", "PYTHONPATH",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "CLASSPATH",
	"MAVEN_OPTS", "MAVEN_ARGS", "MAVEN_CONFIG", "MAVEN_BASEDIR", "MAVEN_DEBUG_OPTS", "GRADLE_OPTS",
	"COMPOSER", "COMPOSER_VENDOR_DIR", "COMPOSER_BIN_DIR", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
	"BUNDLE_GEMFILE", "VIRTUAL_ENV", "CONDA_PREFIX",
}

// homes are variables that say where the code of a tool is, or a file that has it load
// more.
var homes = [...]string{
	"JAVA_HOME", "JAVACMD", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "PHPRC", "PHP_INI_SCAN_DIR", "COMPOSER_HOME", "RUSTUP_HOME",
	"PYENV_ROOT", "RBENV_ROOT", "NODENV_ROOT", "GOENV_ROOT", "JENV_ROOT", "PHPENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"COREPACK_HOME", "VOLTA_HOME", "UV_PYTHON_INSTALL_DIR",
	"GOROOT", "GOTOOLDIR", "GOENV", "GOCACHEPROG", "CC", "CXX", "FC", "AR", "PKG_CONFIG", "RUSTC", "PYTHONHOME", "PYTHONSTARTUP",
}

// named are those of homes that may name a program, or say "off", without a directory.
var named = [...]string{"JAVACMD", "GOENV", "GOCACHEPROG", "CC", "CXX", "FC", "AR", "PKG_CONFIG", "RUSTC"}

// settled refuses to ask with a home that lies in the workspace, or whose place depends
// on the directory.
func (a *Asker) settled() error {
	for _, name := range homes {
		for _, dir := range filepath.SplitList(a.env.Get(name)) {
			if slices.Contains(named[:], name) {
				dir, _, _ = strings.Cut(strings.TrimSpace(dir), " ") // arguments may follow
				if !strings.ContainsRune(dir, filepath.Separator) {
					continue
				}
			}
			if dir != "" && (!filepath.IsAbs(dir) || a.root.reached(dir)) {
				return &adapters.KnownAtRun{Why: name + " is " + dir}
			}
		}
	}
	return nil
}

// stays keep a tool from fetching itself, or anything else.
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

// environ is the environment of a question to t, which starts other tools by their
// names: of each that a version manager has, the version that it chooses for dir.
func (a *Asker) environ(t Tool, starts []string, dir string) (adapters.Environ, error) {
	env := slices.DeleteFunc(slices.Clone(a.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(loads[:], name)
	})
	path := strings.Join(a.root.path(a.env), string(filepath.ListSeparator))
	env = env.With(stays()).With(map[string]string{"PATH": path})
	for _, name := range starts {
		found, err := env.LookPath(name)
		if err != nil {
			continue // for the tool to say
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
