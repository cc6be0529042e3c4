package action

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
)

// kept is the number of bytes at the end of each stream that are kept: one more than the parsers
// read, so that they notice a cut stream and start at the next line.
const kept = 4<<20 + 1

// parseTimeout is the time limit of a plugin's parser, including its wait for other calls of the
// plugin.
const parseTimeout = time.Minute

// Findings is the part of the output of a command that is parsed, and its exit status.
type Findings struct {
	Stdout, Stderr *proc.Tail
	Exit           int
}

// NewFindings returns empty Findings.
func NewFindings() *Findings {
	return &Findings{Stdout: proc.NewTail(kept), Stderr: proc.NewTail(kept)}
}

// Add adds output of one stream.
func (o *Findings) Add(s Stream, text []byte) {
	if s == Stderr {
		o.Stderr.Write(text)
	} else {
		o.Stdout.Write(text)
	}
}

// Parse parses the output with the parser of the hook of t, which is run in the workspace at root. parse has the
// parsers of bento. It calls no plugin for empty output.
func (o *Findings) Parse(ctx context.Context, t *plan.Task, root string, parse diagnostics.ParseFunc) ([]diagnostics.Diagnostic, error) {
	stdout, stderr := o.Stdout.Bytes(), o.Stderr.Bytes()
	if t.Parser != nil {
		return o.parseByTool(ctx, t, root)
	}
	if t.Hook.Parser != adapters.ParserPlugin {
		in := diagnostics.Output{Stdout: stdout, Stderr: stderr, Dir: seenBy(t, root, dir(t)), Root: seenBy(t, root, root)}
		if t.Cwd == "" {
			in.Module = t.Dish.ImportPath
		}
		if t.Hook.InDish {
			in.Dir = seenBy(t, root, t.Dish.Dir)
		}
		return parse(t.Hook.Parser, in)
	}
	if len(stdout)+len(stderr) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	return t.Dish.Adapter.ParseDiagnostics(ctx, adapters.ParseRequest{
		TaskName: t.Name, Stdout: onMachine(t, root, diagnostics.Unescaped(string(stdout))),
		Stderr: onMachine(t, root, diagnostics.Unescaped(string(stderr))), ExitStatus: o.Exit,
		DishDir: t.Dish.Dir, WorkspaceRoot: root,
	})
}

// seenBy returns the path that the command of t has seen for one in the workspace at root.
func seenBy(t *plan.Task, root, p string) string {
	rel, err := filepath.Rel(root, p)
	if t.Container == nil || err != nil {
		return p
	}
	return path.Join(dish.Contained, filepath.ToSlash(rel))
}

// contained is the place of the workspace in a container, at the start of a path.
var contained = pattern.New(`(^|[^\w./-]|file://)` + dish.Contained + `\b`)

// onMachine returns what the command of t has printed with the paths of the workspace as they are on this machine, for parsers that
// open files. diagnostics.Output has the place in the container instead: there root may hold what separates fields.
func onMachine(t *plan.Task, root, text string) string {
	if t.Container == nil {
		return text
	}
	return contained.ReplaceAllString(text, "${1}"+strings.ReplaceAll(root, "$", "$$"))
}

// maxParsed is the number of bytes at the end of the output that a tool parses.
const maxParsed = 512 << 10

// parsedInput is the input of a tool that parses.
type parsedInput struct {
	Output string `json:"output"` // stdout, then stderr
	Exit   int    `json:"exit_code"`
	Dish   string `json:"dish"` // its path from the root
}

// parseByTool parses the output with a tool. The log of the task does not include the messages of the
// tool.
func (o *Findings) parseByTool(ctx context.Context, t *plan.Task, root string) ([]diagnostics.Diagnostic, error) {
	text := onMachine(t, root, strings.ToValidUTF8(diagnostics.Unescaped(string(o.Stdout.Bytes())+string(o.Stderr.Bytes())), "\ufffd"))
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
	answer, err := t.Parser.Call.Call(ctx, adapters.ToolCall{Function: t.Parser.Function, Input: json.RawMessage(input), Root: root})
	if err != nil {
		return nil, err
	}
	return t.Parser.Findings(answer.Output, root)
}
