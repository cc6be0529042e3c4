package config

import (
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// cache is the table [cache].
type cache struct {
	Dir     string        // absolute, below .bento/ of the workspace; "" when not given
	OwnDir  string        // from the user's own file, absolute; "" when not given
	MaxSize int64         // bytes, 0 when not given
	MaxAge  time.Duration // 0 when not given
	Own     bounds        // from the user's own file alone
	Remote  string        // URL, "" when not given
	Mode    cacheMode
}

// bounds are the limits of a cache.
type bounds struct {
	MaxSize int64         // bytes, 0 when not given
	MaxAge  time.Duration // 0 when not given
}

// workspaceFile is the schema of bento.toml.
type workspaceFile struct {
	Workspace    workspaceTable        `toml:"workspace"`
	Defaults     defaultsTable         `toml:"defaults"`
	Cache        cacheTable            `toml:"cache"`
	Toolchain    toolchainTable        `toml:"toolchain"`
	Plugins      Plugins               `toml:"plugins"`
	Tools        Tools                 `toml:"tools"`
	Telemetry    telemetryTable        `toml:"telemetry"`
	Execution    executionTable        `toml:"execution"`
	Environments tomlfile.Map[secrets] `toml:"environments"`
}

type workspaceTable struct {
	Discover *bool  `toml:"discover"`
	Exclude  []Glob `toml:"exclude"`
	Include  []Glob `toml:"include"`

	IgnoreKeys []tomlfile.At[string] `toml:"ignore_keys"`
}

type defaultsTable struct {
	Parallelism tomlfile.At[int]    `toml:"parallelism"`
	FailFast    *bool               `toml:"fail_fast"`
	Env         tomlfile.At[string] `toml:"env"`
	PassEnv     []envPattern        `toml:"pass_env"`
}

type cacheTable struct {
	Dir     tomlfile.At[string] `toml:"dir"`
	MaxSize size                `toml:"max_size"`
	MaxAge  duration            `toml:"max_age"`
	Mode    *cacheMode          `toml:"mode"`
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

// fill takes over the values of bento.toml.
func (w *Workspace) fill(f *tomlfile.File) []diagnostics.Diagnostic {
	var raw workspaceFile
	problems := f.Decode(&raw)
	if raw.Workspace.Discover != nil {
		w.Discover = *raw.Workspace.Discover
	}
	w.Exclude, w.Include = raw.Workspace.Exclude, raw.Workspace.Include
	if f.Lookup("plugins") != nil {
		w.Plugins = raw.Plugins
	}
	w.Tools = raw.Tools
	w.Toolchain = raw.Toolchain.over(Toolchain{})
	problems = append(problems, w.fillDefaults(raw.Defaults)...)
	problems = append(problems, w.fillCache(raw.Cache)...)
	problems = append(problems, checkContainer(raw.Execution)...)
	problems = append(problems, w.setIgnored(raw.Workspace.IgnoreKeys)...)
	return append(problems, unserved(f, WorkspaceFile)...)
}

func (w *Workspace) fillDefaults(t defaultsTable) []diagnostics.Diagnostic {
	w.Defaults.PassEnv = envNames(t.PassEnv)
	if t.FailFast != nil {
		w.Defaults.FailFast = *t.FailFast
	}
	// A value below 1 means 1, for compatibility.
	if w.Defaults.Parallelism = t.Parallelism.Value; t.Parallelism.Given {
		w.Defaults.Parallelism = max(1, t.Parallelism.Value)
	}
	w.Defaults.InheritEnv = t.Env.Value == "inherit"
	return oneOf(t.Env, "strict", "inherit")
}

func (w *Workspace) fillCache(t cacheTable) []diagnostics.Diagnostic {
	t.over(&w.Cache)
	if !t.Dir.Given {
		return nil
	}
	if t.Dir.Value == "" || strings.ContainsRune(t.Dir.Value, 0) {
		return []diagnostics.Diagnostic{t.Dir.Pos.Error(rulePath, "cache.dir %q is no path", t.Dir.Value)}
	}
	if !belowState(t.Dir.Value) {
		d := t.Dir.Pos.Warning(ruleIgnored, "cache.dir %q is ignored: a workspace may keep its cache below %s/ only", t.Dir.Value, stateDir)
		d.Hint = "for any other place set $BENTO_CACHE_DIR, or [cache] dir in your own $XDG_CONFIG_HOME/bento/config.toml"
		return []diagnostics.Diagnostic{d}
	}
	w.Cache.Dir = filepath.Join(w.Root, filepath.FromSlash(t.Dir.Value))
	return nil
}

// stateDir is the directory that bento keeps at the root of a workspace.
const stateDir = ".bento"

// belowState reports whether a path is clean and lies below stateDir.
func belowState(dir string) bool {
	rest, below := strings.CutPrefix(dir, stateDir+"/")
	return below && rest != "" && path.Clean(dir) == dir && filepath.IsLocal(dir)
}

// over applies the table, without its directory, on top of c.
func (t *cacheTable) over(c *cache) {
	if t.MaxSize > 0 {
		c.MaxSize = int64(t.MaxSize)
	}
	if t.MaxAge > 0 {
		c.MaxAge = time.Duration(t.MaxAge)
	}
	if t.Remote != "" {
		c.Remote = t.Remote
	}
	if t.Mode != nil {
		c.Mode = *t.Mode
	}
	if t.Local != nil && !*t.Local {
		c.Mode.Local = tierAccess{}
	}
}

// checkContainer reports settings that would run tasks outside the required container.
func checkContainer(t executionTable) []diagnostics.Diagnostic {
	if c := t.Container; c.Given && c.Value != "never" {
		d := c.Pos.Error(ruleUnsupported, "execution.container %q is not supported, expected \"never\"", c.Value)
		d.Hint = `remove the key or set it to "never"; tasks would run outside of any container`
		return []diagnostics.Diagnostic{d}
	}
	return nil
}

// oneOf reports a value that is none of words.
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
