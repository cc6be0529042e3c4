package confine

import (
	"os"
	"path/filepath"
	"strings"
)

// caches are the directories outside of the workspace in which tools keep what is the same for every workspace. A
// sandboxed task may write there: each is a variable, and the place below the home where the tool has it without the
// variable, "" for none.
var caches = [][2]string{
	{"XDG_CACHE_HOME", ".cache"},
	{"GOPATH", "go"}, {"GOCACHE", ""}, {"GOMODCACHE", ""},
	{"CARGO_HOME", ".cargo"}, {"RUSTUP_HOME", ".rustup"}, {"SCCACHE_DIR", ""}, {"CCACHE_DIR", ".ccache"},
	{"npm_config_cache", ".npm"}, {"NPM_CONFIG_CACHE", ""}, {"PNPM_HOME", ".local/share/pnpm"}, {"npm_config_store_dir", ""},
	{"YARN_CACHE_FOLDER", ".yarn"}, {"YARN_GLOBAL_FOLDER", ""}, {"BUN_INSTALL_CACHE_DIR", ".bun/install/cache"}, {"DENO_DIR", ""},
	{"COREPACK_HOME", ""}, {"PLAYWRIGHT_BROWSERS_PATH", ""}, {"CYPRESS_CACHE_FOLDER", ""}, {"TURBO_CACHE_DIR", ""},
	{"PIP_CACHE_DIR", ""}, {"UV_CACHE_DIR", ""}, {"UV_PYTHON_INSTALL_DIR", ".local/share/uv"}, {"POETRY_CACHE_DIR", ""},
	{"GRADLE_USER_HOME", ".gradle"}, {"", ".m2"}, {"", ".konan"}, {"", ".java"},
	{"BUNDLE_USER_CACHE", ".bundle"}, {"GEM_SPEC_CACHE", ".gem"}, {"COMPOSER_HOME", ".composer"}, {"COMPOSER_CACHE_DIR", ""},
}

// cacheDirs returns the directories of caches that an environment has. It makes the one that all tools may use, and
// those that the environment names, as their tools would.
func cacheDirs(env []string) []string {
	values := make(map[string]string)
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	var dirs []string
	home := values["HOME"]
	for _, c := range caches {
		switch {
		case c[0] != "" && filepath.IsAbs(values[c[0]]):
			for _, dir := range filepath.SplitList(values[c[0]]) {
				_ = os.MkdirAll(dir, 0o755)
				dirs = append(dirs, dir)
			}
		case c[1] == "" || !filepath.IsAbs(home):
		default:
			dir := filepath.Join(home, c[1])
			if c[0] == "XDG_CACHE_HOME" {
				_ = os.MkdirAll(dir, 0o700)
			}
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
