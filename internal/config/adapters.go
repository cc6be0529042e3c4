package config

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Adapter is a language that the workspace defines: [adapters.<id>] of bento.toml, or
// bentos/adapters/<id>.toml.
type Adapter struct {
	ID          string
	Pos         diagnostics.Pos // of the table, or of the start of the file
	DisplayName string
	Markers     []dish.Text // names of files, or patterns of names: a directory with one of them is a project
	Files       []dish.Glob // further inputs of every task, relative to the dish
	Derived     []dish.Glob
	Nested      *bool
	Env         []string // variables that tasks see and keys hash
	PassEnv     []string // variables that tasks see
	Toolchain   AdapterToolchain
	Install     AdapterInstall
	Sandbox     dish.Sandbox // of its tasks, "" when not given
	Tasks       []AdapterTask
	Hooks       []AdapterHook
}

// AdapterToolchain describes how a run determines the version of a tool, and where a project requires one.
type AdapterToolchain struct {
	Command []dish.Text // the first is a name on PATH; empty for no toolchain
	Version dish.Text   // regular expression whose first group is the version; empty: the whole output
	Pin     dish.Text   // likewise, for the content of PinFile
	PinFile string      // relative to the dish, empty for no pin
	Hint    string      // how to install it
}

// AdapterInstall describes the install of the dependencies of a dish.
type AdapterInstall struct {
	Command string      // for a shell, empty for none
	Files   []dish.Text // paths relative to the dish that trigger an install when changed; empty: the fingerprint files
	Made    []dish.Text // paths relative to the dish that the install makes
}

// AdapterTask is one recipe.
type AdapterTask struct {
	Name string
	Pos  diagnostics.Pos
	Run  string // for a shell
	Cwd  string // relative to the dish and inside it, empty for the dish

	Inputs, ExtraInputs, Outputs, Rewrites []dish.Glob

	DependsOn   []string
	Env         map[string]string
	Mutex       string
	SideEffects bool
	NoCache     bool
	Script      bool
}

// AdapterHook describes how bento obtains the findings of a task.
type AdapterHook struct {
	Task    string
	Pos     diagnostics.Pos
	Parser  dish.Text
	Args    []string
	Command string // empty for Args
	InDish  bool
}

// adapterTable is the schema of [adapters.<id>] and of bentos/adapters/<id>.toml.
type adapterTable struct {
	DisplayName      tomlfile.At[string]            `toml:"display_name" doc:"for people. Default: the id"`
	Markers          []markerName                   `toml:"markers" doc:"names of files, or patterns of names: a directory with one of them is a project"`
	FingerprintFiles []insideGlob                   `toml:"fingerprint_files" doc:"globs, relative to the dish, of further inputs of every task"`
	DerivedPaths     []insideGlob                   `toml:"derived_paths" doc:"globs of files that tools leave: untracked ones are no inputs"`
	Nested           *bool                          `toml:"nested" default:"true" doc:"false: a project inside another of this adapter is no dish of its own"`
	Env              []envPattern                   `toml:"env" doc:"variables that tasks see, and part of the key, as NAME or PREFIX_*"`
	PassEnv          []envPattern                   `toml:"pass_env" doc:"variables that tasks see and that are not part of the key, as NAME or PREFIX_*"`
	Toolchain        adapterToolchainTable          `toml:"toolchain" doc:"how a run finds out the version of the tool"`
	Install          adapterInstallTable            `toml:"install" doc:"how dependencies are installed"`
	Sandbox          choice[confineWords]           `toml:"sandbox" doc:"of the tasks of its dishes, as in defaults.sandbox"`
	Tasks            tomlfile.Map[adapterTaskTable] `toml:"tasks" doc:"the recipe with this name"`
	Hooks            tomlfile.Map[adapterHookTable] `toml:"hooks" doc:"how the findings of the task with this name are obtained"`
}

// Shape returns the schema.
func (*adapterTable) Shape() tomlfile.Schema { return requiring(adapterTable{}, "markers") }

// Shape returns the schema.
func (*adapterTaskTable) Shape() tomlfile.Schema { return requiring(adapterTaskTable{}, "run") }

// Shape returns the schema.
func (*adapterHookTable) Shape() tomlfile.Schema { return requiring(adapterHookTable{}, "parser") }

// requiring returns the schema of a table that must have a key. If the key is a list, it must have at least
// one element.
func requiring(table any, key string) tomlfile.Schema {
	s := tomlfile.SchemaOf(table)
	s["required"] = []string{key}
	if of := property(s, key); of["type"] == "array" {
		of["minItems"] = 1
	}
	return s
}

type adapterToolchainTable struct {
	Command toolCommand         `toml:"command" doc:"a program on PATH and its arguments. Only a run starts it, in the root of the file system"`
	Version tomlfile.At[string] `toml:"version" doc:"regular expression for the output: its first group is the version. Default: the whole output"`
	PinFile tomlfile.At[string] `toml:"pin_file" doc:"the file, relative to the dish, that requires a version"`
	Pin     tomlfile.At[string] `toml:"pin" doc:"regular expression for pin_file: its first group is the required version. Default: the first word"`
	Hint    tomlfile.At[string] `toml:"hint" doc:"how to install the tool, for messages"`
}

type adapterInstallTable struct {
	Command tomlfile.At[string] `toml:"command" doc:"a line for the shell, run in the dish before the first task that is executed"`
	Files   []insidePath        `toml:"files" doc:"files that decide whether it runs again. Default: those of markers and fingerprint_files"`
	Made    []insidePath        `toml:"made" doc:"paths that it leaves: it runs again if one is missing"`
}

type adapterTaskTable struct {
	Run         tomlfile.At[string]   `toml:"run" doc:"a line for the shell"`
	Inputs      globs                 `toml:"inputs" doc:"replace the default inputs"`
	ExtraInputs globs                 `toml:"extra_inputs" doc:"added to the inputs"`
	Outputs     []insideGlob          `toml:"outputs" doc:"files that the task makes; a glob may match none"`
	Rewrites    globs                 `toml:"rewrites" doc:"inputs that the task writes again"`
	DependsOn   []tomlfile.At[string] `toml:"depends_on" doc:"tasks that run first: \"gen\", \"lib:build\", \"^build\""`
	Cwd         insidePath            `toml:"cwd" doc:"the working directory, relative to the dish and inside it"`
	Env         map[string]string     `toml:"env" doc:"variables that are set, and part of the key"`
	Mutex       tomlfile.At[string]   `toml:"mutex" doc:"tasks with one mutex do not run at once"`
	SideEffects bool                  `toml:"side_effects" default:"false" doc:"the task never runs a second time for diagnostics"`
	Cache       *bool                 `toml:"cache" default:"true" doc:"false: the task always runs and is never stored"`
	Script      bool                  `toml:"script" default:"false" doc:"the task runs by its name only, and is not part of bento ci"`
}

type adapterHookTable struct {
	Parser  tomlfile.At[string]   `toml:"parser" doc:"a parser of bento, or \"tool:acme.report:parse\""`
	Args    []tomlfile.At[string] `toml:"args" doc:"added to the command of the task, if its own output has no finding"`
	Command tomlfile.At[string]   `toml:"command" doc:"in place of args: the command that runs then"`
	InDish  bool                  `toml:"in_dish" default:"false" doc:"relative paths in the output start at the dish"`
}

// markerName is the name of a file, or a pattern of names.
type markerName dish.Text

// Shape returns the schema.
func (*markerName) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "minLength": 1, "maxLength": maxGlob}
}

// UnmarshalTOML reads and checks a name.
func (m *markerName) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the name of a file")}
	}
	if strings.ContainsAny(s, "/\\{\x00") || s == "" || s == "." || s == ".." || s[0] == '!' {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "marker %q is no name of a file in the directory of a project", s).
			WithHint(`expected a name or a pattern of names, such as "build.zig" or "*.cabal"`)}
	}
	if strings.Trim(s, "*?") == "" {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "marker %q matches every file, expected a name that only a project of this language has", s)}
	}
	if rule, why := badGlob(s); why != "" {
		return []diagnostics.Diagnostic{v.Pos().Error(rule, "marker %q %s", s, why)}
	}
	*m = markerName{Text: s, Pos: v.Pos()}
	return nil
}

// insideGlob is a glob inside the dish, without "!" and "//" in front.
type insideGlob dish.Glob

// Shape returns the schema.
func (*insideGlob) Shape() tomlfile.Schema { return globShape() }

// UnmarshalTOML reads and checks a glob.
func (g *insideGlob) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	any, problems := globOf(v)
	if strings.HasPrefix(any.Text, "!") || strings.HasPrefix(any.Text, "//") {
		problems = append(problems, any.Pos.Error(RuleGlob, "glob %q: expected one inside the dish, without %q in front", any.Text, any.Text[:len(any.Text)-len(strings.TrimLeft(any.Text, "!/"))]))
		any.Text = ""
	}
	*g = insideGlob(any)
	return problems
}

func globsOf(list []insideGlob) (globs []dish.Glob) {
	for _, g := range list {
		if g.Text != "" {
			globs = append(globs, dish.Glob(g))
		}
	}
	return globs
}

// insidePath is a path inside the dish.
type insidePath dish.Text

// Shape returns the schema.
func (*insidePath) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string", "minLength": 1} }

// UnmarshalTOML reads and checks a path.
func (p *insidePath) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a path relative to the dish")}
	}
	clean, why := cleanDir(s)
	if why != "" {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, "path %q %s", s, why)}
	}
	*p = insidePath{Text: clean, Pos: v.Pos()}
	return nil
}

func textsOf(list []insidePath) (texts []dish.Text) {
	for _, p := range list {
		if p.Text != "" {
			texts = append(texts, dish.Text(p))
		}
	}
	return texts
}

// loadAdapters adds the adapters of bentos/adapters/ to those of bento.toml, and sorts them.
func (w *Workspace) loadAdapters(s *sources) (problems []diagnostics.Diagnostic) {
	for _, name := range s.adapters {
		f, more := s.parse(name)
		problems = append(problems, more...)
		if f != nil {
			a, more := adapterIn(f)
			w.Adapters, problems = append(w.Adapters, a), append(problems, more...)
		}
	}
	slices.SortStableFunc(w.Adapters, func(a, b Adapter) int { return strings.Compare(a.ID, b.ID) })
	return append(problems, w.checkAdapterIDs()...)
}

// checkAdapterIDs reports ids that are defined twice or that [plugins] uses, and drops these
// adapters.
func (w *Workspace) checkAdapterIDs() (problems []diagnostics.Diagnostic) {
	var kept []Adapter
	for _, a := range w.Adapters {
		_, plugin := w.Plugins.ByID[a.ID]
		switch last := len(kept) - 1; {
		case ReservedID(a.ID):
			problems = append(problems, a.Pos.Error(RuleName, "an adapter cannot have the id %q, which is a key of [plugins]", a.ID))
		case plugin:
			problems = append(problems, a.Pos.Error(RuleDuplicate, "the adapter %q is defined here, and [plugins.%s] is for a plugin of that id", a.ID, a.ID))
		case last >= 0 && kept[last].ID == a.ID:
			problems = append(problems, a.Pos.Error(RuleDuplicate, "the adapter %q is defined twice, also at %s", a.ID, kept[last].Pos))
		default:
			kept = append(kept, a)
		}
	}
	w.Adapters = kept
	return problems
}

// ReservedID reports whether an id is a key of [plugins], so that no adapter can have it.
func ReservedID(id string) bool {
	return slices.Contains([]string{"disable", "allowlist", "required", "lazy", "sandbox"}, id)
}

// ParseAdapter reads the text of a file that defines an adapter. name is its path, for positions; the
// id is its base name without ".toml".
func ParseAdapter(name string, text []byte) (Adapter, []diagnostics.Diagnostic) {
	f, problems := tomlfile.Parse(name, text)
	if f == nil {
		return Adapter{}, problems
	}
	a, more := adapterIn(f)
	return a, append(problems, more...)
}

func adapterIn(f *tomlfile.File) (Adapter, []diagnostics.Diagnostic) {
	var raw adapterTable
	problems := f.Decode(&raw)
	a, more := raw.adapter(strings.TrimSuffix(path.Base(f.Path()), ".toml"), diagnostics.Pos{File: f.Path(), Line: 1, Col: 1})
	return a, append(problems, more...)
}

// adapter checks and converts a definition.
func (t *adapterTable) adapter(id string, pos diagnostics.Pos) (Adapter, []diagnostics.Diagnostic) {
	a := Adapter{
		ID: id, Pos: pos, DisplayName: t.DisplayName.Value, Files: globsOf(t.FingerprintFiles), Derived: globsOf(t.DerivedPaths),
		Sandbox: dish.Sandbox(t.Sandbox.At.Value),
		Nested:  t.Nested, Env: envNames(t.Env), PassEnv: envNames(t.PassEnv),
		Install: AdapterInstall{Command: t.Install.Command.Value, Files: textsOf(t.Install.Files), Made: textsOf(t.Install.Made)},
	}
	if !t.DisplayName.Given {
		a.DisplayName = id
	}
	problems := badPluginID(pos, id)
	for _, m := range t.Markers {
		if m.Text != "" {
			a.Markers = append(a.Markers, dish.Text(m))
		}
	}
	if len(t.Markers) == 0 {
		problems = append(problems, pos.Error(ruleMissing, `the adapter has no markers, expected markers = ["…"], the names of files that make a directory a project`))
	}
	problems = append(problems, checkLine(t.Install.Command)...)
	toolchain, more := t.Toolchain.toolchain()
	a.Toolchain, problems = toolchain, append(problems, more...)
	for i := range t.Tasks {
		task, more := t.Tasks[i].Value.task(t.Tasks[i].Name, t.Tasks[i].Pos)
		a.Tasks, problems = append(a.Tasks, task), append(problems, more...)
	}
	for i := range t.Hooks {
		hook, more := t.Hooks[i].Value.hook(&a, t.Hooks[i].Name, t.Hooks[i].Pos)
		a.Hooks, problems = append(a.Hooks, hook), append(problems, more...)
	}
	return a, append(problems, a.checkTasks()...)
}

// checkLine reports a command that is empty or has a null byte.
func checkLine(line tomlfile.At[string]) []diagnostics.Diagnostic {
	if !line.Given || strings.TrimSpace(line.Value) != "" && !strings.ContainsRune(line.Value, 0) {
		return nil
	}
	return []diagnostics.Diagnostic{line.Pos.Error(diagnostics.RuleInvalid, "%q is no command, expected a line for the shell", line.Value)}
}

func (t *adapterToolchainTable) toolchain() (c AdapterToolchain, problems []diagnostics.Diagnostic) {
	c = AdapterToolchain{Command: t.Command, Version: textOf(t.Version), Pin: textOf(t.Pin), Hint: t.Hint.Value}
	if len(c.Command) > 0 && strings.ContainsAny(c.Command[0].Text, "/\\") {
		problems = append(problems, c.Command[0].Pos.Error(diagnostics.RuleInvalid, "toolchain.command %q is a path, expected the name of a program on PATH", c.Command[0].Text).
			WithHint("a tool of the project has no version of its own: its files are inputs of the tasks"))
		c.Command = nil
	}
	for _, at := range []tomlfile.At[string]{t.Version, t.Pin} {
		if _, err := regexp.Compile(at.Value); at.Given && (err != nil || at.Value == "") {
			problems = append(problems, at.Pos.Error(diagnostics.RuleInvalid, "%q is no regular expression: %v", at.Value, err))
		}
	}
	if t.PinFile.Given {
		file, why := cleanDir(t.PinFile.Value)
		if why != "" {
			problems = append(problems, t.PinFile.Pos.Error(rulePath, "pin_file %q %s", t.PinFile.Value, why))
		}
		c.PinFile = file
	}
	for _, of := range []struct {
		at    tomlfile.At[string]
		needs string
		given bool
	}{{t.Version, "command", len(t.Command) > 0}, {t.Pin, "pin_file", t.PinFile.Given}, {t.PinFile, "command", len(t.Command) > 0}} {
		if of.at.Given && !of.given {
			problems = append(problems, of.at.Pos.Error(ruleMissing, "the key has no effect without toolchain.%s", of.needs))
		}
	}
	return c, problems
}

func (t *adapterTaskTable) task(name string, pos diagnostics.Pos) (AdapterTask, []diagnostics.Diagnostic) {
	task := AdapterTask{
		Name: name, Pos: pos, Run: t.Run.Value, Cwd: t.Cwd.Text, Inputs: t.Inputs, ExtraInputs: t.ExtraInputs, Outputs: globsOf(t.Outputs),
		Rewrites: t.Rewrites, Env: t.Env, Mutex: t.Mutex.Value, SideEffects: t.SideEffects, Script: t.Script, NoCache: t.Cache != nil && !*t.Cache,
	}
	if task.Cwd == "." {
		task.Cwd = ""
	}
	problems := append(checkTaskName(name, pos), checkLine(t.Run)...)
	if !t.Run.Given && len(problems) == 0 {
		problems = append(problems, pos.Error(ruleMissing, `the task %q has no command, expected run = "…"`, name))
	}
	problems = append(problems, checkOutputs(task.Outputs)...)
	for _, dep := range t.DependsOn {
		if strings.Trim(dep.Value, "^: ") == "" && dep.Given {
			problems = append(problems, dep.Pos.Error(diagnostics.RuleInvalid, `depends_on %q names no task, expected "task", "dish:task" or "^task"`, dep.Value))
		} else if dep.Given {
			task.DependsOn = append(task.DependsOn, dep.Value)
		}
	}
	return task, problems
}

// checkTasks reports a task that depends on a missing task of the same adapter.
func (a *Adapter) checkTasks() (problems []diagnostics.Diagnostic) {
	var names []string
	for _, t := range a.Tasks {
		names = append(names, t.Name)
	}
	for _, t := range a.Tasks {
		for _, name := range t.DependsOn {
			if !strings.ContainsAny(name, "^:") && !slices.Contains(names, name) {
				problems = append(problems, t.Pos.Error(diagnostics.RuleInvalid, "the task %q depends on %q, which the adapter %s has not", t.Name, name, a.ID).
					WithHint(diagnostics.Suggest(name, names)))
			}
		}
	}
	return problems
}

func (t *adapterHookTable) hook(a *Adapter, task string, pos diagnostics.Pos) (AdapterHook, []diagnostics.Diagnostic) {
	h := AdapterHook{Task: task, Pos: pos, Parser: textOf(t.Parser), Command: t.Command.Value, InDish: t.InDish}
	for _, arg := range t.Args {
		h.Args = append(h.Args, arg.Value)
	}
	problems := checkLine(t.Command)
	if len(t.Args) > 0 && t.Command.Given {
		problems = append(problems, t.Command.Pos.Error(diagnostics.RuleInvalid, "the hook has args and command, expected one of them"))
	}
	if !t.Parser.Given {
		problems = append(problems, pos.Error(ruleMissing, `the hook of %q names no parser, expected parser = "gnu" or another`, task))
	}
	if !slices.ContainsFunc(a.Tasks, func(t AdapterTask) bool { return t.Name == task }) {
		var names []string
		for _, t := range a.Tasks {
			names = append(names, t.Name)
		}
		problems = append(problems, pos.Warning(diagnostics.RuleInvalid, "a hook for %q, which is no task of the adapter", task).WithHint(diagnostics.Suggest(task, names)))
	}
	return h, problems
}
