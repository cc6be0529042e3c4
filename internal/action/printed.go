package action

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/plugin/adapter/answer"
)

// kept bounds what of each stream is looked at, in bytes: the end of it. The parsers
// take one byte less, from the start of a line where something is missing.
const kept = 4<<20 + 1

// parseTimeout bounds a plugin's parser, and its wait for other calls to the plugin.
const parseTimeout = time.Minute

// Findings is what a command printed, as far as it is looked at, and how it ended.
type Findings struct {
	Stdout, Stderr *proc.Tail
	Exit           int
}

// NewFindings returns an empty Output.
func NewFindings() *Findings {
	return &Findings{Stdout: proc.NewTail(kept), Stderr: proc.NewTail(kept)}
}

// Add adds what was printed to one stream.
func (o *Findings) Add(s Stream, text []byte) {
	if s == Stderr {
		o.Stderr.Write(text)
	} else {
		o.Stdout.Write(text)
	}
}

// Parse has the parser of the hook of t, which is run in the workspace at root, read
// what was printed. A plugin is not asked what nothing means.
func (o *Findings) Parse(ctx context.Context, t *plan.Task, root string) ([]diagnostics.Diagnostic, error) {
	stdout, stderr := o.Stdout.Bytes(), o.Stderr.Bytes()
	if t.Parser != nil {
		return o.parseByTool(ctx, t, root)
	}
	if t.Hook.Parser != adapters.ParserPlugin {
		in := parse.Output{Stdout: stdout, Stderr: stderr, Dir: dir(t), Root: root}
		if t.Hook.InDish {
			in.Dir = t.Dish.Dir
		}
		return parse.Parse(t.Hook.Parser, in)
	}
	if len(stdout)+len(stderr) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	return t.Dish.Adapter.ParseDiagnostics(ctx, adapters.ParseRequest{
		TaskName: t.Name, Stdout: string(stdout), Stderr: string(stderr), ExitStatus: o.Exit,
		DishDir: t.Dish.Dir, WorkspaceRoot: root,
	})
}

// maxParsed bounds what a tool is given to parse, in bytes: the end of it.
const maxParsed = 512 << 10

// parsedInput is the input of a tool that parses.
type parsedInput struct {
	Output string `json:"output"` // stdout, then stderr
	Exit   int    `json:"exit_code"`
	Dish   string `json:"dish"` // its path from the root
}

// parseByTool has a tool read what was printed. Its own words are no part of the task's log.
func (o *Findings) parseByTool(ctx context.Context, t *plan.Task, root string) ([]diagnostics.Diagnostic, error) {
	text := strings.ToValidUTF8(string(o.Stdout.Bytes())+string(o.Stderr.Bytes()), "\ufffd")
	if text == "" {
		return nil, nil
	}
	if len(text) > maxParsed {
		text = text[len(text)-maxParsed:]
		_, text, _ = strings.Cut(text, "\n") // from the start of a line
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	input := jsonText(parsedInput{Output: text, Exit: o.Exit, Dish: t.Dish.Path})
	said, err := t.Parser.Call.Call(ctx, adapters.ToolCall{Function: t.Parser.Function, Input: json.RawMessage(input), Root: root})
	if err != nil {
		return nil, err
	}
	return answer.ToolFindings(said.Output, root, t.Parser.ID)
}
