package config

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// cache is the table [cache].
type cache struct {
	Dir     string        // absolute, below .bento/ of the workspace; "" when not given
	OwnDir  string        // from the user's own file, absolute; "" when not given
	MaxSize int64         // bytes, 0 when not given
	MaxAge  time.Duration // 0 when not given
	Own     bounds        // from the user's own file alone
	Remote  Remote
	Mode    CacheMode
}

// bounds are the limits of a cache.
type bounds struct {
	MaxSize int64         // bytes, 0 when not given
	MaxAge  time.Duration // 0 when not given
}

// workspaceFile is the schema of bento.toml.
type workspaceFile struct {
	Workspace    workspaceTable               `toml:"workspace" doc:"which directories are dishes"`
	Defaults     defaultsTable                `toml:"defaults" doc:"how tasks run"`
	Cache        cacheTable                   `toml:"cache" doc:"the cache of results"`
	Remote       remoteTable                  `toml:"remote" doc:"the execution of tasks on other machines"`
	Boundaries   tomlfile.Map[boundaryTable]  `toml:"boundaries" doc:"which dishes may link to which, by their tags: ui = { may = [\"lib\"] }"`
	Toolchain    toolchainTable               `toml:"toolchain" doc:"required versions of tools"`
	Tools        toolsTable                   `toml:"tools" doc:"programs and WebAssembly modules that tasks call"`
	Plugins      pluginsTable                 `toml:"plugins" doc:"adapters that are programs of their own"`
	Adapters     tomlfile.Map[adapterTable]   `toml:"adapters" doc:"the adapter with this id, which needs no program"`
	Extensions   tomlfile.Map[extensionTable] `toml:"extensions" doc:"the extension with this id, a program that follows runs"`
	Telemetry    telemetryTable               `toml:"telemetry"`
	Execution    executionTable               `toml:"execution"`
	Environments tomlfile.Map[secrets]        `toml:"environments"`
}

type workspaceTable struct {
	Version  tomlfile.At[string] `toml:"version" doc:"the versions of bento that this workspace works with, such as \">=0.2\" or \"0.2.1\"; another version refuses to run. A file .bento-version beside bento.toml says the same"`
	Discover *bool               `toml:"discover" doc:"a directory without dish.toml is a dish if an adapter detects it. Default: true unless bentos/ exists"`
	Exclude  globs               `toml:"exclude" also:"ignore" doc:"directories that bento does not discover"`
	Include  globs               `toml:"include" also:"members,packages,projects" doc:"directories that are dishes in any case: include wins over exclude and over every rule of what bento finds. A glob is compared with the directory itself"`

	Scripts scriptsTable `toml:"scripts" doc:"names of scripts that are a lifecycle task where a package has no script of the task's own name, before the usual names: check = [\"check:type\"]. An empty list silences the warning about scripts that look like the task"`

	IgnoreKeys []tomlfile.At[string] `toml:"ignore_keys" doc:"keys of other tools, which have no effect: no warning names them"`
}

// scriptsTable is the schema of workspace.scripts.
type scriptsTable struct {
	Build []string `toml:"build" doc:"names of scripts that build, the first that a package has"`
	Check []string `toml:"check" doc:"names of scripts that check, the first that a package has"`
	Lint  []string `toml:"lint" doc:"names of scripts that lint, the first that a package has"`
	Test  []string `toml:"test" doc:"names of scripts that test, the first that a package has"`
}

// byTask returns the names by task, without the tasks for which the file has no list.
func (t scriptsTable) byTask() map[string][]string {
	var out map[string][]string
	for task, names := range map[string][]string{"build": t.Build, "check": t.Check, "lint": t.Lint, "test": t.Test} {
		if names != nil {
			if out == nil {
				out = make(map[string][]string)
			}
			out[task] = names
		}
	}
	return out
}

type defaultsTable struct {
	Parallelism tomlfile.At[int]     `toml:"parallelism" doc:"tasks at once, by default one a CPU; flag -j. With more than one, bento stores the outputs of a task while the next runs"`
	FailFast    *bool                `toml:"fail_fast" default:"true" doc:"start no task after a failure; with the flag --keep-going, or false here, bento skips only the tasks that depend on the failed one"`
	Env         choice[envModes]     `toml:"env" default:"strict" doc:"strict: a task sees the variables of its tools and those that it names; inherit: it sees bento's whole environment"`
	Observe     choice[observeWords] `toml:"observe" default:"auto" doc:"which executions of tasks bento observes, on Linux; flag --observe. auto: the first two after the command, the environment or the toolchain changed, and one in twenty; see docs/observe.md"`
	Inputs      choice[findWords]    `toml:"inputs" default:"declared" doc:"observed: of the content of their inputs only that counts which bento observes that tasks read, on Linux, for all tasks for which dish.toml lists no inputs; see docs/observe.md"`
	Outputs     choice[findWords]    `toml:"outputs" default:"declared" doc:"observed: bento observes each execution of a task for which dish.toml lists no outputs, on Linux, and what the task makes where git ignores it is its outputs; see docs/observe.md"`
	Sandbox     choice[confineWords] `toml:"sandbox" default:"none" doc:"inputs: tasks whose result is stored can read only their inputs of the workspace, and write only their outputs; flag --sandbox; see docs/sandbox.md"`
	Container   *container           `toml:"container" doc:"the container in which tasks run, unless they or their dish set one, or are servers; see docs/containers.md"`
	PassEnv     []envPattern         `toml:"pass_env" doc:"variables that every task and install sees, as NAME or PREFIX_*"`
}

// envModes are the values of defaults.env.
type envModes struct{}

func (envModes) words() []string { return []string{"strict", "inherit"} }

type cacheTable struct {
	Dir     tomlfile.At[string] `toml:"dir" doc:"the directory, below .bento/; any other place is ignored with a warning. In your own configuration an absolute path, or one that starts with ~/"`
	MaxSize size                `toml:"max_size" default:"20GiB" doc:"a larger cache evicts whole results, least recently used first. A run checks the bound after each task, and evicts its own results last. A cache of more than 2,000 files shrinks to 95 % of the bound"`
	MaxAge  duration            `toml:"max_age" doc:"results that were not used for this time are evicted"`
	Mode    modeText            `toml:"mode" default:"local:rw,remote:r" doc:"local:r stores nothing, local:w takes nothing; so does remote:r, remote:w and remote:rw for the remote cache, if there is one. A tier that is not named keeps its default; one without rights, as remote:, is not used. Flag --cache"`
	Local   *bool               `toml:"local" default:"true" doc:"false: bento takes nothing from the cache and stores nothing"`

	Remote                 remoteURL          `toml:"remote" doc:"the remote cache: grpc://HOST or grpcs://HOST (Remote Execution API), http://HOST or https://HOST (the layout of Bazel), turborepo+https://HOST?team=T, s3://BUCKET/PREFIX or file:///DIR. $BENTO_REMOTE goes before it. See docs/remote-cache.md"`
	RemoteTrust            choice[trustWords] `toml:"remote_trust" default:"signed" doc:"signed: only results with a signature of remote_keys are used; server: any result that the server has"`
	RemoteKeys             []publicKey        `toml:"remote_keys" doc:"public keys, as \"ci:BASE64\" or { key = \"ci:BASE64\", not_after = 2027-01-01 }"`
	RemoteTokenEnv         envPattern         `toml:"remote_token_env" default:"BENTO_CACHE_TOKEN" doc:"the variable with the token for the server. Credentials go only to a host that $BENTO_REMOTE or your own configuration names, too"`
	RemoteHeaders          map[string]string  `toml:"remote_headers" doc:"headers of each request. A value \"$NAME\" is that of the variable, and a credential"`
	RemoteCredentialHelper string             `toml:"remote_credential_helper" doc:"a program that returns the headers of a request, by the protocol of Bazel's credential helpers"`
	RemoteTLS              remoteTLSTable     `toml:"remote_tls" doc:"files for connections with TLS"`
	RemoteRegion           string             `toml:"remote_region" doc:"the region of a bucket. By default that of the environment, else us-east-1"`
	RemoteEndpoint         string             `toml:"remote_endpoint" doc:"the URL of the service of a bucket that is not AWS"`
	RemoteScope            string             `toml:"remote_scope" doc:"trunk, or for example pr-7: results of this scope are read, then those of trunk, and written to this scope. By default trunk, and in CI the scope of the pull request, merge queue, branch or tag"`
	RemoteClass            string             `toml:"remote_class" doc:"a name for machines that share results, in place of the operating system's release and the C library"`
	RemoteWait             duration           `toml:"remote_wait" doc:"how long the end of a run waits for uploads. Default: a twentieth of the run, between 50ms and 2s; 60s where $CI is set. What is left is sent later"`

	GHA                toggle `toml:"gha"`
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

// Shape returns the schema.
func (*toggle) Shape() tomlfile.Schema { return tomlfile.Schema{"enum": []any{true, false, "auto"}} }

// UnmarshalTOML reads the value.
func (*toggle) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if s, _ := v.Text(); v.Kind() == tomlfile.Bool || s == "auto" {
		return nil
	}
	return []diagnostics.Diagnostic{v.Expected(`true, false or "auto"`)}
}

// fill applies the values of bento.toml.
func (w *Workspace) fill(f *tomlfile.File) []diagnostics.Diagnostic {
	var raw workspaceFile
	problems := f.Decode(&raw)
	if len(problems) == 0 { // with other problems, the path may only be invalid
		problems = pathless(raw.Extensions)
	}
	if raw.Workspace.Discover != nil {
		w.Discover = *raw.Workspace.Discover
	}
	w.Exclude, w.Include, w.Version = raw.Workspace.Exclude, raw.Workspace.Include, raw.Workspace.Version
	w.Scripts = raw.Workspace.Scripts.byTask()
	plugins, more := raw.Plugins.plugins()
	more = append(more, plugins.misplaced(false)...)
	w.Plugins, problems = plugins, append(problems, more...)
	w.Tools, more = raw.Tools.tools()
	problems = append(problems, more...)
	problems = append(problems, w.extensions(raw.Extensions, false)...)
	for i := range raw.Adapters {
		a, more := raw.Adapters[i].Value.adapter(raw.Adapters[i].Name, raw.Adapters[i].Pos)
		w.Adapters, problems = append(w.Adapters, a), append(problems, more...)
	}
	w.Toolchain = raw.Toolchain.over(dish.Toolchain{})
	problems = append(problems, w.fillDefaults(raw.Defaults)...)
	problems = append(problems, w.fillCache(raw.Cache)...)
	problems = append(problems, raw.Remote.over(&w.RemoteExec)...)
	problems = append(problems, w.fillBoundaries(raw.Boundaries)...)
	problems = append(problems, checkContainer(raw.Execution)...)
	problems = append(problems, w.setIgnored(raw.Workspace.IgnoreKeys)...)
	return append(problems, unserved(f, dish.WorkspaceFile)...)
}

func (w *Workspace) fillDefaults(t defaultsTable) (problems []diagnostics.Diagnostic) {
	w.Defaults.PassEnv = envNames(t.PassEnv)
	if t.FailFast != nil {
		w.Defaults.FailFast = *t.FailFast
	}
	// A value below 1 means 1, for compatibility.
	if w.Defaults.Parallelism = t.Parallelism.Value; t.Parallelism.Given {
		w.Defaults.Parallelism = max(1, t.Parallelism.Value)
	}
	w.Defaults.Observe = cmp.Or(dish.Observe(t.Observe.At.Value), w.Defaults.Observe)
	w.Defaults.ObservedInputs = t.Inputs.At.Value == observed
	w.Defaults.ObservedOutputs = t.Outputs.At.Value == observed
	w.Defaults.Sandbox = dish.Sandbox(t.Sandbox.At.Value)
	w.Defaults.InheritEnv = t.Env.At.Value == "inherit"
	w.Defaults.Container, problems = t.Container.at(".")
	return problems
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
		return []diagnostics.Diagnostic{t.Dir.Pos.Warning(ruleIgnored, "cache.dir %q is ignored: a workspace may keep its cache below %s/ only", t.Dir.Value, stateDir).
			WithHint("for any other place set $BENTO_CACHE_DIR, or [cache] dir in your own $XDG_CONFIG_HOME/bento/config.toml")}
	}
	w.Cache.Dir = filepath.Join(w.Root, filepath.FromSlash(t.Dir.Value))
	return nil
}

// stateDir is bento's own directory at the root of a workspace.
const stateDir = ".bento"

// belowState reports whether a path is clean and below stateDir.
func belowState(dir string) bool {
	rest, below := strings.CutPrefix(dir, stateDir+"/")
	return below && rest != "" && path.Clean(dir) == dir && filepath.IsLocal(dir)
}

// over overrides c by the values of the table, without its directory.
func (t *cacheTable) over(c *cache) {
	if t.MaxSize > 0 {
		c.MaxSize = int64(t.MaxSize)
	}
	if t.MaxAge > 0 {
		c.MaxAge = time.Duration(t.MaxAge)
	}
	if mode, err := c.Mode.Under(string(t.Mode)); t.Mode != "" && err == nil {
		c.Mode = mode
	}
	t.overRemote(&c.Remote)
	if t.Local != nil && !*t.Local {
		c.Mode.Local = tierAccess{}
	}
}

// checkContainer reports settings that would run tasks outside the required container.
func checkContainer(t executionTable) []diagnostics.Diagnostic {
	if c := t.Container; c.Given && c.Value != "never" {
		return []diagnostics.Diagnostic{c.Pos.Error(ruleUnsupported, "execution.container %q is not supported, expected \"never\"", c.Value).
			WithHint(`remove the key or set it to "never"; tasks would run outside of any container`)}
	}
	return nil
}
