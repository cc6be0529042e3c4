package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// ToolUse is the use of a tool by a task: the task calls the tool, or the tool parses the output of
// the task.
type ToolUse struct {
	*dish.Tool
	Function string   // "" for a tool with a single function
	Input    string   // JSON, with the words of dish.InputFiles and so on in it; "" for {}
	Uses     []string // those words

	pos diagnostics.Pos
}

// WantsOut reports whether the tool writes its outputs into a directory of bento.
func (u *ToolUse) WantsOut() bool { return slices.Contains(u.Uses, dish.InputOut) }

// Unusable returns the diagnostic of a tool that cannot be used.
func (u *ToolUse) Unusable(format string, args ...any) diagnostics.Diagnostic {
	d := at(u.pos)
	d.Severity, d.Rule, d.Source, d.Message = diagnostics.Error, dish.RuleTool, diagnostics.Source, fmt.Sprintf(format, args...)
	return d
}

// setTools sets the tool that a task calls, and the tool that parses its output. A tool that cannot
// be used fails only the tasks that call it: it may be missing only on this machine.
func (b *builder) setTools(t *Task, c *dish.TaskSettings) {
	if c.Tool.Text != "" {
		t.Run, t.Argv, t.Cwd = "tool "+c.Tool.Text, nil, ""
		t.Tool = b.use(c.Tool)
		t.Tool.Input, t.Tool.Uses = c.Input, c.Uses
		if p := t.Tool.Problem; p != "" {
			problem := t.Tool.Unusable("%s", p)
			problem.Hint = t.Tool.Hint
			t.fault = diagnostics.Problems{problem}
		} else if len(t.Outputs) == 0 && c.Outputs == nil && c.WorkspaceOutputs == nil && t.Tool.WantsOut() {
			d := at(c.Tool.Pos)
			b.problem(diagnostics.Error, d, diagnostics.RuleInvalid, "the input has "+dish.InputOut+", and task \""+c.Name+"\" declares no outputs", "add outputs = [\"…\"]")
		}
	}
	if ref, isTool := strings.CutPrefix(c.Parser.Text, adapters.ParserTool); isTool {
		b.setParser(t, dish.Text{Text: ref, Pos: c.Parser.Pos})
	}
}

// setParser sets the tool that parses the output of a task. If it cannot be used, only the
// diagnostics are missing.
func (b *builder) setParser(t *Task, ref dish.Text) {
	use := b.use(ref)
	if use.Problem == "" {
		t.Parser = use
		return
	}
	b.problem(diagnostics.Warning, at(ref.Pos), dish.RuleTool, "no parser for "+t.ID()+": "+use.Problem, use.Hint)
}

// setHookParser sets the tool that the hook of the adapter names, unless dish.toml names one.
func (b *builder) setHookParser(t *Task) {
	if ref, isTool := strings.CutPrefix(t.Hook.Parser, adapters.ParserTool); isTool && t.Parser == nil {
		if b.setParser(t, dish.Text{Text: ref, Pos: diagnostics.Pos{File: t.Dish.Path}}); t.Parser == nil {
			t.Hook = nil
		}
	}
}

// use returns the use of the tool that ref names. The Tool of an unknown one has a Problem.
func (b *builder) use(ref dish.Text) *ToolUse {
	id, function := dish.CutTool(ref.Text)
	tool := b.ws.Tools[id]
	if tool == nil {
		known := slices.Sorted(maps.Keys(b.ws.Tools))
		tool = &dish.Tool{ID: id, Problem: fmt.Sprintf("no tool %q is declared in bento.toml or found on PATH", id)}
		if len(diagnostics.Nearest(id, known)) > 0 {
			tool.Hint = diagnostics.Suggest(id, known)
		} else {
			tool.Hint = fmt.Sprintf("declare [tools.%q] in bento.toml, or install bento-tool-%s on PATH", id, id)
		}
	}
	return &ToolUse{Tool: tool, Function: function, pos: ref.Pos}
}

// finishTool adds the settings that tasks that call tools share: the files of the tool are inputs.
// The toolchain and the environment of the dish do not apply.
func (t *Task) finishTool() {
	for _, file := range t.Tool.Files {
		t.Inputs = append([]string{"//" + Escape(file)}, t.Inputs...)
	}
	t.Inputs = dedupe(t.Inputs)
}
