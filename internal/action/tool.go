package action

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
)

// ToolExecutor calls the tool of a task, in place of a command.
type ToolExecutor struct {
	Task   *plan.Task
	Root   string   // of the workspace
	Inputs []string // the paths of the input files, from the root
	// Out returns an empty directory for outputs; discard removes it. It is nil for a tool without outputs.
	Out func() (path string, discard func(again bool), err error)
	// Place moves the files in that directory to the outputs of the task.
	Place func(out string) error
}

// Start makes the directory for outputs. The tool is called by Wait, whose errors are an *adapters.ToolError, an
// *adapters.Failure or an *OutputError.
func (e *ToolExecutor) Start(ctx context.Context, c *Command) (Execution, error) {
	out, discard := "", func(bool) {}
	if e.Out != nil {
		var err error
		if out, discard, err = e.Out(); err != nil {
			return Execution{}, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	return Execution{Cancel: cancel, Wait: func() (proc.Result, error) {
		defer cancel()
		defer discard(e.Task.Tool.Within)
		res, err := e.call(ctx, c, out)
		if err == nil && !res.Canceled && out != "" {
			if err = e.Place(out); err != nil {
				err = &OutputError{err}
			}
		}
		return res, err
	}}, nil
}

// call calls the tool and prints its answer.
func (e *ToolExecutor) call(ctx context.Context, c *Command, out string) (res proc.Result, err error) {
	calling, cancel := ctx, func() {}
	if c.Timeout > 0 {
		calling, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	tool := e.Task.Tool
	answer, err := tool.Call.Call(calling, adapters.ToolCall{
		Function: tool.Function, Input: e.input(out), Root: e.Root, Out: out,
		Log: func(line string) { writeLine(c.Stderr, line) },
	})
	res.Canceled = ctx.Err() != nil
	if err != nil {
		res.ExitCode, res.TimedOut = -1, calling.Err() != nil && !res.Canceled
		return res, err
	}
	if answer.Warning != "" {
		writeLine(c.Stderr, "warning: "+answer.Warning)
	}
	if answer.Output != "" {
		writeLine(c.Stdout, answer.Output)
	}
	return res, nil
}

// input returns the input of the tool with its words replaced. The configuration allows them in
// values only, and dish.InputFiles as a whole string only.
func (e *ToolExecutor) input(out string) json.RawMessage {
	t := e.Task
	if len(t.Tool.Uses) == 0 {
		return json.RawMessage(t.Tool.Input)
	}
	files := slices.DeleteFunc(slices.Clone(e.Inputs), func(p string) bool { return slices.Contains(t.Tool.Files, p) })
	list := "[]"
	if len(files) > 0 {
		list = jsonText(files)
	}
	return json.RawMessage(strings.NewReplacer(
		`"`+dish.InputFiles+`"`, list,
		dish.InputDish, inString(t.Dish.Path),
		dish.InputOut, inString(out),
	).Replace(t.Tool.Input))
}

// inString returns text as the content of a JSON string.
func inString(text string) string {
	quoted := jsonText(text)
	return quoted[1 : len(quoted)-1]
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible for strings and numbers
	}
	return string(text)
}

// writeLine writes text with an end of line. A log never fails.
func writeLine(w io.Writer, text string) {
	_, _ = w.Write(append(bytes.TrimSuffix([]byte(text), []byte("\n")), '\n'))
}
