package action

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/plan"
)

// ToolCall is the call of a task's tool.
type ToolCall struct {
	Root           string   // of the workspace
	Inputs         []string // the paths of the input files, from the root
	Out            string   // an empty directory for outputs, "" for none
	Stdout, Stderr io.Writer
}

// CallTool calls the tool of t and prints its answer. The error is that of the tool, or of ctx.
func CallTool(ctx context.Context, t *plan.Task, c ToolCall) error {
	answer, err := t.Tool.Call.Call(ctx, adapters.ToolCall{
		Function: t.Tool.Function, Input: c.input(t), Root: c.Root, Out: c.Out,
		Log: func(line string) { writeLine(c.Stderr, line) },
	})
	if err != nil {
		return err
	}
	if answer.Warning != "" {
		writeLine(c.Stderr, "warning: "+answer.Warning)
	}
	if answer.Output != "" {
		writeLine(c.Stdout, answer.Output)
	}
	return nil
}

// input returns the input of the tool with its words replaced. The configuration allows them in
// values only, and config.InputFiles as a whole string only.
func (c *ToolCall) input(t *plan.Task) json.RawMessage {
	if len(t.Tool.Uses) == 0 {
		return json.RawMessage(t.Tool.Input)
	}
	files := slices.DeleteFunc(slices.Clone(c.Inputs), func(p string) bool { return slices.Contains(t.Tool.Files, p) })
	list := "[]"
	if len(files) > 0 {
		list = jsonText(files)
	}
	return json.RawMessage(strings.NewReplacer(
		`"`+config.InputFiles+`"`, list,
		config.InputDish, inString(t.Dish.Path),
		config.InputOut, inString(c.Out),
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
