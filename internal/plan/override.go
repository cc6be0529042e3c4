package plan

import (
	"cmp"
	"maps"
	"path"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// override applies one [tasks.<name>] table on top of the recipe of that name, or makes a new task.
func override(b *builder, d *dish.Dish, byName map[string]*Task, c *dish.TaskSettings) {
	t, recipe := byName[c.Name]
	if c.Tool.Text != "" {
		recipe = false // the settings of another command do not apply
	}
	if !recipe {
		t = newTask(d, c.Name)
		if c.Tool.Text == "" {
			all := commonOf(d)
			t.extra, t.Path, t.SetEnv = all.inputs, all.path, all.env
		}
		t.DefaultInputs = len(d.Config.Inputs) == 0
		t.Inputs = globTexts(d.Config.Inputs)
	}
	lost := len(Lost(d)) > 0                                                                     // then its adapter may have the recipe
	if c.Run == "" && len(c.Argv) == 0 && c.Tool.Text == "" && !recipe && !c.Misnamed && !lost { // an error stops a misnamed one
		b.problem(diagnostics.Error, at(c.Pos), "missing_run",
			"task \""+c.Name+"\" has no \"run\", and the dish has no recipe of that name to take it from",
			"add run = \"…\"")
		return
	}
	t.About = &c.About
	setCommand(t, c)
	b.setTools(t, c)
	setGlobs(t, c)
	setEnv(t, c)
	setFlags(t, c)
	if t.Ready != nil && !t.Persistent && !lost { // the task is a recipe; config reports the error for other tasks
		b.problem(diagnostics.Error, at(t.Ready.Pos), diagnostics.RuleInvalid, dish.NotServing, "add persistent = true, or remove ready")
	}
	for _, dep := range c.DependsOn {
		t.wants = append(t.wants, want{text: dep.Text, at: at(dep.Pos)})
	}
	byName[c.Name] = t
}

func setCommand(t *Task, c *dish.TaskSettings) {
	if c.Run != "" || len(c.Argv) > 0 {
		t.Run, t.Argv, t.Cwd = c.Run, c.Argv, ""
		if t.Run == "" {
			t.Run = strings.Join(c.Argv, " ")
		}
		// The author of the command is responsible for it, so it may be stored.
		t.Uncached, t.script, t.recipe, t.Persistent, t.body = "", false, false, false, ""
		t.skipsPrivate, t.NoInstall, t.Fetches = false, false, false
	}
	if c.Cwd != "" {
		t.Cwd, t.skipsPrivate, t.NoInstall = c.Cwd, false, false
	}
}

func setGlobs(t *Task, c *dish.TaskSettings) {
	t.ObservedInputs = c.ObservedInputs || t.ObservedInputs && c.Inputs == nil
	if c.Inputs != nil {
		t.DefaultInputs, t.listsInputs = false, true
		t.Inputs = globTexts(*c.Inputs)
		if len(t.Inputs) > 0 && strings.HasPrefix(t.Inputs[0], "!") {
			t.DefaultInputs = true // "everything but"
		}
	}
	if c.Outputs != nil {
		t.Outputs, t.listsOutputs = declared(*c.Outputs, ""), true
	}
	t.ObservedOutputs = c.ObservedOutputs
	if c.WorkspaceOutputs != nil {
		t.Outputs = append(t.Outputs, declared(*c.WorkspaceOutputs, "//")...)
	}
	if c.Rewrites != nil {
		t.Rewrites = globTexts(*c.Rewrites)
	}
	t.Leaves = globTexts(c.Leaves)
}

func setEnv(t *Task, c *dish.TaskSettings) {
	t.EnvFiles = c.EnvFiles
	for _, file := range c.EnvFiles {
		t.Inputs = append(t.Inputs, "//"+Escape(path.Join(t.Dish.Path, file.Path)))
	}
	t.HashEnv = append(t.HashEnv, c.Env...)
	t.PassEnv = append(t.PassEnv, c.PassEnv...)
	if len(c.SetEnv) > 0 {
		if t.SetEnv == nil {
			t.SetEnv = make(map[string]string)
		}
		maps.Copy(t.SetEnv, c.SetEnv)
	}
}

func setFlags(t *Task, c *dish.TaskSettings) {
	if c.Lifecycle != nil {
		t.setLifecycle(*c.Lifecycle)
	}
	if c.Cache != nil {
		t.Uncached, t.stored = "", *c.Cache
		if !*c.Cache {
			t.Uncached = "cache = false"
		}
	}
	t.ci = c.CI
	t.script = t.script && !c.CI
	t.Retry, t.RetryOn, t.Timeout, t.Mutex = c.Retry, c.RetryOn, int64(c.Timeout), cmp.Or(c.Mutex, t.Mutex)
	t.Grace = int64(c.Grace)
	t.Weight, t.Memory = max(1, c.Weight), c.Memory
	if c.Persistent != nil {
		t.Persistent = *c.Persistent
	}
	t.Persistent = t.Persistent && !c.Interactive
	t.Ready, t.Incremental = c.Ready, c.Incremental
	t.Interactive, t.Observe = c.Interactive, c.Observe
	t.Sandbox, t.Network, t.HostInputs = c.Sandbox, c.Network, c.HostInputs
	t.Container = c.Container
	t.SideEffects = t.SideEffects || c.SideEffects
	t.AtHome, t.LogAtHome, t.Unraced, t.Where = c.AtHome, c.LogAtHome, c.Unraced, c.Place
}

// giveDishOutputs assigns the outputs of the dish to one task: build, or the only task.
func giveDishOutputs(b *builder, d *dish.Dish, tasks []*Task) {
	if d.Config == nil || len(d.Config.Outputs) == 0 {
		return
	}
	var owner *Task
	for _, t := range tasks {
		if t.Name == "build" {
			owner = t
		}
	}
	if owner == nil && len(tasks) == 1 {
		owner = tasks[0]
	}
	if owner == nil {
		b.problem(diagnostics.Warning, at(d.Config.Outputs[0].Pos), "outputs_without_task",
			"the dish has no task \"build\" that could make its outputs", "move outputs into the [tasks.<name>] that makes them")
		return
	}
	for _, c := range d.Config.Tasks {
		if c.Name == owner.Name && c.Outputs != nil {
			return // the task declares its own outputs
		}
	}
	owner.Outputs, owner.listsOutputs = append(declared(d.Config.Outputs, ""), owner.Outputs...), true
}

func declared(globs []dish.Glob, anchor string) []Output {
	outputs := make([]Output, 0, len(globs))
	for _, g := range globs {
		if g.Text == "" {
			continue
		}
		not, text := "", g.Text
		if rest, negated := strings.CutPrefix(text, "!"); negated {
			not, text = "!", rest
		}
		outputs = append(outputs, Output{Glob: not + anchor + text, Declared: true, Pos: g.Pos})
	}
	return outputs
}

// globTexts returns the texts of the valid globs.
func globTexts(globs []dish.Glob) []string {
	texts := make([]string, 0, len(globs))
	for _, g := range globs {
		if g.Text != "" {
			texts = append(texts, g.Text)
		}
	}
	return texts
}

// at returns a Diagnostic with only a position.
func at(pos diagnostics.Pos) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{File: pos.File, Line: pos.Line, Col: pos.Col}
}
