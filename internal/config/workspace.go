package config

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config/env"
	"github.com/bentobuild/bento/internal/config/mode"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Cache is the table [cache].
type Cache struct {
	Dir     string        // absolute, "" when not given
	MaxSize int64         // bytes, 0 when not given
	MaxAge  time.Duration // 0 when not given
	Remote  string        // URL, "" when not given
	Mode    mode.Mode
}

// workspaceFile is the schema of bento.toml.
type workspaceFile struct {
	Workspace    workspaceTable        `toml:"workspace"`
	Defaults     defaultsTable         `toml:"defaults"`
	Cache        cacheTable            `toml:"cache"`
	Toolchain    toolchainTable        `toml:"toolchain"`
	Plugins      Plugins               `toml:"plugins"`
	Telemetry    telemetryTable        `toml:"telemetry"`
	Execution    executionTable        `toml:"execution"`
	Environments tomlfile.Map[secrets] `toml:"environments"`
}

type workspaceTable struct {
	Discover *bool  `toml:"discover"`
	Exclude  []Glob `toml:"exclude"`
}

type defaultsTable struct {
	Parallelism tomlfile.At[int]    `toml:"parallelism"`
	FailFast    *bool               `toml:"fail_fast"`
	Env         tomlfile.At[string] `toml:"env"`
	PassEnv     []env.Pattern       `toml:"pass_env"`
}

type cacheTable struct {
	Dir     tomlfile.At[string] `toml:"dir"`
	MaxSize unit.Size           `toml:"max_size"`
	MaxAge  unit.Duration       `toml:"max_age"`
	Mode    *mode.Mode          `toml:"mode"`
	Local   *bool               `toml:"local"`
	Remote  string              `toml:"remote"`

	GHA                toggle `toml:"gha"`
	RemoteRegion       string `toml:"remote_region"`
	RemoteEndpoint     string `toml:"remote_endpoint"`
	RemoteTokenEnv     string `toml:"remote_token_env"`
	RemoteWriteThrough bool   `toml:"remote_write_through"`
}

type telemetryTable struct {
	Enabled bool `toml:"enabled"`
}

type executionTable struct {
	Container tomlfile.At[string] `toml:"container"`
	Image     string              `toml:"image"`
}

type secrets struct {
	Secrets map[string]string `toml:"secrets"`
}

// toggle is true, false or "auto".
type toggle struct{}

func (*toggle) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if s, _ := v.Text(); v.Kind() == tomlfile.Bool || s == "auto" {
		return nil
	}
	return []diagnostics.Diagnostic{v.Expected(`true, false or "auto"`)}
}

// fill takes over what bento.toml says.
func (w *Workspace) fill(f *tomlfile.File) []diagnostics.Diagnostic {
	var raw workspaceFile
	problems := f.Decode(&raw)
	if raw.Workspace.Discover != nil {
		w.Discover = *raw.Workspace.Discover
	}
	w.Exclude = raw.Workspace.Exclude
	if f.Lookup("plugins") != nil {
		w.Plugins = raw.Plugins
	}
	w.Toolchain = raw.Toolchain.over(Toolchain{})
	problems = append(problems, w.fillDefaults(raw.Defaults)...)
	problems = append(problems, w.fillCache(raw.Cache)...)
	problems = append(problems, checkContainer(raw.Execution)...)
	return append(problems, unserved(f, "cache.gha", "cache.remote", "cache.remote_region", "cache.remote_endpoint",
		"cache.remote_token_env", "cache.remote_write_through", "telemetry", "execution", "environments")...)
}

func (w *Workspace) fillDefaults(t defaultsTable) []diagnostics.Diagnostic {
	w.Defaults.PassEnv = env.Names(t.PassEnv)
	if t.FailFast != nil {
		w.Defaults.FailFast = *t.FailFast
	}
	// Below 1 means 1, as it always did.
	if w.Defaults.Parallelism = t.Parallelism.Value; t.Parallelism.Given {
		w.Defaults.Parallelism = max(1, t.Parallelism.Value)
	}
	w.Defaults.InheritEnv = t.Env.Value == "inherit"
	return oneOf(t.Env, "strict", "inherit")
}

func (w *Workspace) fillCache(t cacheTable) []diagnostics.Diagnostic {
	w.Cache = Cache{MaxSize: int64(t.MaxSize), MaxAge: time.Duration(t.MaxAge), Remote: t.Remote, Mode: mode.All()}
	if t.Mode != nil {
		w.Cache.Mode = *t.Mode
	}
	if t.Local != nil && !*t.Local {
		w.Cache.Mode.Local = mode.Access{}
	}
	if !t.Dir.Given {
		return nil
	}
	dir, err := w.cacheDir(t.Dir.Value)
	if err != "" {
		return []diagnostics.Diagnostic{t.Dir.Pos.Error(RulePath, "cache.dir %q %s", t.Dir.Value, err)}
	}
	w.Cache.Dir = dir
	return nil
}

// cacheDir makes dir absolute: "~/" is the home directory, and relative paths are
// relative to the workspace.
func (w *Workspace) cacheDir(dir string) (abs, problem string) {
	switch rest, home := strings.CutPrefix(dir, "~/"); {
	case dir == "" || strings.ContainsRune(dir, 0):
		return "", "is no path"
	case home:
		h, err := os.UserHomeDir()
		if err != nil {
			return "", "needs $HOME, which is not set"
		}
		return filepath.Join(h, rest), ""
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), ""
	default:
		return filepath.Join(w.Root, dir), ""
	}
}

// checkContainer refuses what would run tasks outside of the container that was
// asked for.
func checkContainer(t executionTable) []diagnostics.Diagnostic {
	if c := t.Container; c.Given && c.Value != "never" {
		d := c.Pos.Error(RuleUnsupported, "execution.container %q is not supported, expected \"never\"", c.Value)
		d.Hint = `remove the key or set it to "never"; tasks would run outside of any container`
		return []diagnostics.Diagnostic{d}
	}
	return nil
}

// unserved warns of keys that are understood and that nothing serves yet.
func unserved(f *tomlfile.File, keys ...string) (problems []diagnostics.Diagnostic) {
	for _, key := range keys {
		if v := f.Lookup(strings.Split(key, ".")...); v != nil {
			problems = append(problems, v.KeyPos().Warning(RuleUnsupported, "%s is not supported yet and has no effect", key))
		}
	}
	return problems
}

// oneOf checks that a value, if it is given, is one of words.
func oneOf(v tomlfile.At[string], words ...string) []diagnostics.Diagnostic {
	if !v.Given {
		return nil
	}
	for _, w := range words {
		if v.Value == w {
			return nil
		}
	}
	d := v.Pos.Error(RuleInvalid, "%q is not valid, expected %s", v.Value, orList(words))
	if len(diagnostics.Nearest(v.Value, words)) > 0 {
		d.Hint = diagnostics.Suggest(v.Value, words)
	}
	return []diagnostics.Diagnostic{d}
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
