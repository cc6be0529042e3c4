package config

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// The bounds of two integers.
const (
	maxRetry  = 100
	maxWeight = 1024
)

// taskTable is the schema of [tasks.<name>].
type taskTable struct {
	Run              command                 `toml:"run" also:"command,commands,cmd,cmds,script,exec" doc:"the command: a string is a line for the shell, an array the words of a command without one"`
	Description      string                  `toml:"description" also:"desc,summary,help" doc:"one line about the task, which bento tasks prints"`
	Group            string                  `toml:"group" doc:"the heading below which bento tasks lists the task"`
	Aliases          []tomlfile.At[string]   `toml:"aliases" also:"alias" doc:"further names of the task on the command line, unique among the tasks of the dish. No other task can use them, and they are no part of the key"`
	Confirm          string                  `toml:"confirm" also:"prompt" doc:"the question that bento asks at the terminal before a run that may execute the task. Elsewhere the run is refused without --yes. It is not asked for a cache hit"`
	Tool             tomlfile.At[string]     `toml:"tool" doc:"in place of run: the tool that is called, \"acme.fmt:fmt.check\", or \"acme-fmt\" for a module"`
	Input            toolInput               `toml:"input" doc:"what the tool is called with, as JSON. \"${inputs}\" is the list of the task's input files, ${dish} the dish's path, ${out} the directory that the tool writes its outputs to"`
	Parser           tomlfile.At[string]     `toml:"parser" doc:"\"tool:acme.report:parse\": the tool that reads the findings in the output of the task, in place of the adapter's parser"`
	Inputs           globsOrObserved         `toml:"inputs" also:"sources,srcs,src,files" doc:"replace the default inputs. \"!x\" excludes; \"//x\" starts at the workspace. If the first glob excludes, the list starts from the default inputs. \"observed\" in place of a list: the inputs stay those of the recipe or the dish, and of their content only that counts which bento observes that the task reads, on Linux; see docs/observe.md"`
	Outputs          globsOrObserved         `toml:"outputs" also:"outs,artifacts,generates,produces" doc:"files that the task makes. A plain path must exist after the task; a glob without a match is a warning. A task that names a glob among its inputs and its outputs runs each time. \"observed\" in place of a list: what bento observes that the task makes where git ignores it, on Linux; see docs/observe.md"`
	WorkspaceOutputs *globs                  `toml:"workspace_outputs" doc:"outputs, relative to the workspace root"`
	Rewrites         *globs                  `toml:"rewrites" doc:"inputs, or outputs of other tasks, that the task writes again, as formatters do; \"//x\" starts at the workspace. The result is stored if the content of the inputs is the same afterwards; the outputs of other tasks may get other content. Any other input that was written, replaced, moved or given another mode while the task ran keeps the result out of the cache, even if its content is the same (input_touched)"`
	Leaves           globs                   `toml:"leaves" doc:"files that the task leaves where git ignores them and that nothing needs, such as caches of its tools; \"//x\" starts at the workspace. A build that leaves other files there, which are no outputs, is never stored"`
	Env              envVars                 `toml:"env" also:"environment,vars,env_vars" doc:"variables that are passed, as NAME or PREFIX_*, or set: they are part of the key"`
	PassEnv          []envPattern            `toml:"pass_env" also:"passthroughenv,env_passthrough" doc:"variables that are passed and are not part of the key, as NAME or PREFIX_*"`
	DependsOn        []tomlfile.At[string]   `toml:"depends_on" also:"dependson,deps,needs,requires,after" doc:"\"gen\", \"lib:build\", \"^build\" (every linked dish)"`
	Timeout          duration                `toml:"timeout" doc:"the task fails when it runs longer"`
	Grace            duration                `toml:"grace" also:"grace_period,kill_timeout" default:"5s" doc:"the time between the signals that end the task: SIGTERM, then SIGKILL; after Ctrl-C SIGINT comes first"`
	Cwd              tomlfile.At[string]     `toml:"cwd" also:"dir,working_dir,workdir" doc:"the working directory, relative to the dish"`
	Retry            retry                   `toml:"retry" default:"0" doc:"further attempts; with on only if a line of the failed attempt's output, or the error of its tool, matches the regular expression"`
	Mutex            string                  `toml:"mutex" doc:"tasks with one mutex do not run at once"`
	Weight           weight                  `toml:"weight" default:"1" doc:"the number of workers that the task takes, all of them if it takes more"`
	Memory           size                    `toml:"memory" doc:"what the task needs. Tasks run at once only if together they need no more than the machine has, or the container that bento runs in; one that needs more runs beside none with memory"`
	Persistent       *bool                   `toml:"persistent" also:"long_running,continuous,service" doc:"the task is a server and does not exit; never stored"`
	Interactive      tomlfile.At[bool]       `toml:"interactive" default:"false" doc:"the task needs the terminal; never stored"`
	Ready            tomlfile.At[readyTable] `toml:"ready" doc:"when a server is ready: { port = 8080 }, { http = \"…\" }, { log = \"…\" } or { cmd = \"…\" }, with timeout"`
	EnvFiles         []envFile               `toml:"env_files" doc:".env files, relative to the dish, as \".env\" or { path = \".env\", optional = true }, which may be missing: their variables are set, and part of the key. env goes before them, and a later file before an earlier one"`
	CI               bool                    `toml:"ci" default:"false" doc:"bento ci runs the task, besides build, check, lint and test"`
	Incremental      bool                    `toml:"incremental" default:"false" doc:"the task finds the outputs of its last run"`
	Observe          choice[observeWords]    `toml:"observe" doc:"which executions bento observes, on Linux: what they read and do not declare becomes part of their keys. auto, always or never; by default as in defaults.observe"`
	Sandbox          choice[confineWords]    `toml:"sandbox" doc:"inputs: the task can read only its inputs of the workspace, and write only its outputs; it has no network. On Linux; see docs/sandbox.md. By default as in its bento, its adapter and defaults.sandbox"`
	Network          bool                    `toml:"network" default:"false" doc:"the sandbox or the container of the task allows the network, also that of the machine itself"`
	Container        *container              `toml:"container" doc:"the image of the container in which the task runs, or a table with image or dockerfile. \"none\": it runs directly on this machine. By default as in its dish and defaults.container; see docs/containers.md"`
	HostInputs       []hostPath              `toml:"host_inputs" doc:"files outside of the workspace that the task reads: their content is part of the key. Absolute paths, or paths with ~/ in front: [\"~/.npmrc\"]"`
	SideEffects      bool                    `toml:"side_effects" default:"false" doc:"the task never runs a second time for diagnostics"`
	Cache            *bool                   `toml:"cache" default:"true" doc:"false: the task always runs and is never stored"`
	RemoteCache      *bool                   `toml:"remote_cache" default:"true" doc:"false: the result stays on this machine, and is not looked for in the remote cache"`
	RemoteLog        *bool                   `toml:"remote_log" default:"true" doc:"false: the remote cache gets the result without its output, which a hit elsewhere then cannot show"`
	Remote           where                   `toml:"remote" default:"false" doc:"true: the task is executed by the server of remote.exec, with its inputs and nothing else of the workspace, or here if that is impossible; only: it is never executed here. See docs/remote-execution.md"`
	Race             *bool                   `toml:"race" default:"true" doc:"false: the task is not started while the remote cache is asked for its result or sends it. It does not run to be ended half-way; it waits longer for a slow cache"`
	Lifecycle        tomlfile.At[bool]       `toml:"lifecycle" doc:"of build, check, lint and test: whether bento ci and bento run NAME run it, or only its id does"`
	Language         tomlfile.At[string]     `toml:"language" doc:"of a directory with several languages: the dish that has the task. Without it, the first dish with a recipe of that name has it, else the first"`
}

// observeWords are the values of observe.
type observeWords struct{}

func (observeWords) words() []string { return []string{"auto", "always", "never"} }

// weight is a number of workers.
type weight tomlfile.At[int]

// Shape returns the schema.
func (*weight) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "integer", "minimum": 1, "maximum": maxWeight}
}

// UnmarshalTOML reads and checks the number.
func (w *weight) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	problems := v.Decode((*tomlfile.At[int])(w))
	return append(problems, checkRange("weight", tomlfile.At[int](*w), 1, maxWeight)...)
}

// command is a shell command, or the words of a command without a shell.
type command struct {
	shell string
	argv  []string
}

// Shape returns the schema.
func (*command) Shape() tomlfile.Schema {
	words := tomlfile.Schema{"type": "array", "items": tomlfile.Schema{"type": "string"}, "minItems": 1}
	return tomlfile.Schema{"anyOf": []any{tomlfile.Schema{"type": "string", "minLength": 1}, words}}
}

// UnmarshalTOML reads a string or an array.
func (c *command) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	first := ""
	switch v.Kind() {
	case tomlfile.String:
		c.shell, _ = v.Text()
		first = c.shell
	case tomlfile.Array:
		if problems := v.Decode(&c.argv); len(problems) > 0 {
			return problems
		}
		if len(c.argv) > 0 {
			first = c.argv[0]
		}
	default:
		return []diagnostics.Diagnostic{v.Expected("a shell command or an array of words")}
	}
	if strings.TrimSpace(first) == "" {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s is empty, expected a command", v.Path())}
	}
	if strings.ContainsRune(c.shell+strings.Join(c.argv, ""), 0) {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s holds a NUL byte", v.Path())}
	}
	return nil
}

func (c *command) isEmpty() bool { return c.shell == "" && len(c.argv) == 0 }

func (t *taskTable) task(dir, name string, pos diagnostics.Pos) (dish.TaskSettings, []diagnostics.Diagnostic) {
	task := dish.TaskSettings{
		Name: name, Pos: pos, Run: t.Run.shell, Argv: t.Run.argv, Language: textOf(t.Language),
		Inputs: (*[]dish.Glob)(t.Inputs.globs), ObservedInputs: t.Inputs.observed, Outputs: (*[]dish.Glob)(t.Outputs.globs), ObservedOutputs: t.Outputs.observed, WorkspaceOutputs: (*[]dish.Glob)(t.WorkspaceOutputs),
		Rewrites: (*[]dish.Glob)(t.Rewrites), Leaves: t.Leaves,
		Env: t.Env.Names, SetEnv: t.Env.Set, PassEnv: envNames(t.PassEnv),
		Timeout: time.Duration(t.Timeout), Grace: time.Duration(t.Grace), Mutex: t.Mutex,
		Retry: t.Retry.times, RetryOn: t.Retry.on, Memory: int64(t.Memory), Weight: min(max(t.Weight.Value, 0), maxWeight),
		Persistent: t.Persistent, Interactive: t.Interactive.Value, CI: t.CI, Incremental: t.Incremental, Observe: dish.Observe(t.Observe.At.Value),
		Sandbox: dish.Sandbox(t.Sandbox.At.Value), Network: t.Network, HostInputs: hostPaths(t.HostInputs), SideEffects: t.SideEffects, Cache: t.Cache,
		AtHome: isFalse(t.RemoteCache), LogAtHome: isFalse(t.RemoteLog), Unraced: isFalse(t.Race), Place: dish.Place(t.Remote),
	}
	task.Tool, task.Input, task.Uses = textOf(t.Tool), t.Input.text, t.Input.uses
	task.Parser = textOf(t.Parser)
	about, problems := t.about(name)
	task.About = about
	problems = append(problems, checkTaskName(name, pos)...)
	problems = append(problems, t.checkTool()...)
	problems = append(problems, checkParser(t.Parser)...)
	var more []diagnostics.Diagnostic
	task.Ready, more = ready(t.Ready, t.Persistent == nil && t.Run.isEmpty() || t.Persistent != nil && *t.Persistent)
	problems = append(problems, more...)
	for _, file := range t.EnvFiles {
		more := file.check(dir)
		if problems = append(problems, more...); len(more) == 0 && file.Path.Given {
			task.EnvFiles = append(task.EnvFiles, dish.EnvFile{Path: path.Clean(file.Path.Value), Optional: file.Optional})
		}
	}
	for _, dep := range t.DependsOn {
		if dep.Given && strings.Trim(dep.Value, "^: ") == "" {
			problems = append(problems, dep.Pos.Error(diagnostics.RuleInvalid, `depends_on %q names no task, expected "task", "dish:task" or "^task"`, dep.Value))
		} else if dep.Given {
			task.DependsOn = append(task.DependsOn, textOf(dep))
		}
	}
	problems = append(problems, setLifecycle(&task, t.Lifecycle)...)
	task.Container, more = t.Container.at(dir)
	problems = append(problems, more...)
	problems = append(problems, t.checkInteractive()...)
	problems = append(problems, setCwd(&task, dir, t.Cwd)...)
	if t.WorkspaceOutputs != nil {
		problems = append(problems, anchored(*t.WorkspaceOutputs)...)
	}
	for _, list := range []*globs{t.Outputs.globs, t.WorkspaceOutputs} {
		if list != nil {
			problems = append(problems, checkOutputs(*list)...)
		}
	}
	return task, problems
}

func isFalse(b *bool) bool { return b != nil && !*b }

// setLifecycle sets Lifecycle. It reports the key for a task that does not have the name of a lifecycle task.
func setLifecycle(t *dish.TaskSettings, v tomlfile.At[bool]) []diagnostics.Diagnostic {
	if !v.Given {
		return nil
	}
	if !adapters.IsLifecycle(t.Name) {
		return []diagnostics.Diagnostic{v.Pos.Error(diagnostics.RuleInvalid, "lifecycle applies to the tasks %s, and not to %q", strings.Join(adapters.Lifecycle(), ", "), t.Name).
			WithHint("ci = true makes a task of another name part of bento ci")}
	}
	t.Lifecycle = &v.Value
	return nil
}

// checkInteractive reports an interactive task that is persistent or cached.
func (t *taskTable) checkInteractive() []diagnostics.Diagnostic {
	if !t.Interactive.Value {
		return nil
	}
	if t.Persistent != nil && *t.Persistent {
		return []diagnostics.Diagnostic{t.Interactive.Pos.Error(diagnostics.RuleInvalid, "interactive and persistent exclude each other: an interactive task runs alone, a persistent one beside others")}
	}
	if t.Cache != nil && *t.Cache {
		return []diagnostics.Diagnostic{t.Interactive.Pos.Error(diagnostics.RuleInvalid, "cache = true is not allowed: the result of an interactive task depends on its user and is never stored")}
	}
	return nil
}

// tooMuchOfTask reports globs that the matcher refuses.
func tooMuchOfTask(dir string, t *dish.TaskSettings) (problems []diagnostics.Diagnostic) {
	for _, g := range []struct {
		base  string
		globs *[]dish.Glob
	}{{dir, t.Inputs}, {dir, t.Outputs}, {"", t.WorkspaceOutputs}, {dir, t.Rewrites}, {dir, &t.Leaves}} {
		if g.globs != nil {
			problems = append(problems, tooMuch(g.base, *g.globs)...)
		}
	}
	return problems
}

// anchored reports globs of workspace_outputs with an anchor: they always start at the root.
func anchored(globs []dish.Glob) (problems []diagnostics.Diagnostic) {
	for i, g := range globs {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(g.Text, "!"), "//"); ok {
			problems = append(problems, g.Pos.Error(rulePath, "workspace_outputs %q: required a path relative to the workspace, without //", g.Text).WithHint("write "+strconv.Quote(rest)))
			globs[i].Text = "" // so that no later check reports it again
		}
	}
	return problems
}

func checkTaskName(name string, pos diagnostics.Pos) []diagnostics.Diagnostic {
	if strings.TrimSpace(name) == name && name != "" && !hasControl(name) && name[0] != '^' && name[0] != '-' {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(RuleName, `%q cannot be the name of a task: expected a name without control characters and without blanks at its ends, not starting with "-" or "^"`, name)}
}

func checkRange(key string, v tomlfile.At[int], low, high int) []diagnostics.Diagnostic {
	if !v.Given || low <= v.Value && v.Value <= high {
		return nil
	}
	return []diagnostics.Diagnostic{v.Pos.Error(diagnostics.RuleInvalid, "%s is %d, expected %d to %d", key, v.Value, low, high)}
}

// setCwd sets the working directory. It may be above the dish, but must be inside the workspace.
func setCwd(t *dish.TaskSettings, dir string, cwd tomlfile.At[string]) []diagnostics.Diagnostic {
	if !cwd.Given {
		return nil
	}
	joined := path.Join(dir, cwd.Value)
	switch {
	case cwd.Value == "" || strings.ContainsRune(cwd.Value, 0):
		return []diagnostics.Diagnostic{cwd.Pos.Error(rulePath, "cwd %q is no path, expected a directory relative to the dish", cwd.Value)}
	case path.IsAbs(cwd.Value):
		return []diagnostics.Diagnostic{cwd.Pos.Error(rulePath, "cwd %q is absolute, expected a directory relative to the dish", cwd.Value)}
	case joined == ".." || strings.HasPrefix(joined, "../"):
		return []diagnostics.Diagnostic{cwd.Pos.Error(rulePath, "cwd %q leads out of the workspace", cwd.Value)}
	}
	t.Cwd = path.Clean(cwd.Value)
	return nil
}
