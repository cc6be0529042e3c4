package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
)

func toolRunCommand(s *session) *cobra.Command {
	var input string
	cmd := &cobra.Command{
		Use: "run ID [FUNCTION]", Short: "Call a function of a tool, and print its answer",
		Long: "Call a function of a tool, and print its answer. A module has one function, without a name.\n" +
			"The input is JSON, or @FILE with JSON in it. The exit code is 1 if the tool answers\n" +
			"with an error, 3 if the tool itself is at fault.",
		Example: "  bento tool run acme.fmt fmt.check --input '{\"paths\": [\"a.go\"]}'\n  bento tool run json-fmt --input @request.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError("bento tool run requires the id of a tool, and its function", "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id, function := dish.CutTool(args[0])
			if len(args) > 1 {
				if function != "" {
					return usageError(fmt.Sprintf("%q names a function, and %q is another", args[0], args[1]), "name one")
				}
				function = args[1]
			}
			text, err := toolInput(cmd.Context(), input)
			if err != nil {
				return err
			}
			return s.toolRun(cmd.Context(), id, function, text)
		},
	}
	cmd.Flags().StringVar(&input, "input", "{}", "the input: `JSON`, or @FILE")
	return cmd
}

// toolInput reads the input of a call.
func toolInput(ctx context.Context, text string) (json.RawMessage, error) {
	data := []byte(text)
	if name, isFile := strings.CutPrefix(text, "@"); isFile {
		var err error
		if data, err = readNamed(ctx, name); err != nil {
			return nil, usageError(fmt.Sprintf("--input %q cannot be read: %v", text, err), "name a file with JSON in it")
		}
	}
	if !json.Valid(data) {
		return nil, usageError(fmt.Sprintf("--input %.200q is no JSON", data), `write for example --input '{"paths": ["a.go"]}'`)
	}
	return data, nil
}

// toolRun calls a tool once.
func (s *session) toolRun(ctx context.Context, id, function string, input json.RawMessage) error {
	tools, cfg, err := s.findTools(ctx, kit.ToolOptions{})
	if err != nil {
		return err
	}
	defer tools.Close()
	f, err := toolNamed(tools, id)
	if err != nil {
		return err
	}
	if f.Tool.Problem != "" {
		return notFound("tool_unusable", f.Tool.Problem, f.Tool.Hint)
	}
	var heard logged
	log := heard.add
	if !s.flags.json {
		log = func(line string) { heard.print(s.err, line) }
	}
	began := time.Now()
	answer, err := f.Run(ctx, adapters.ToolCall{Function: function, Input: input, Root: cfg.Root, Log: log})
	doc := report.NewToolRun(id, function, time.Since(began))
	doc.Output, doc.Warning, doc.Log = answer.Output, answer.Warning, heard.lines
	if err != nil {
		return s.toolFailed(ctx, doc, err)
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	if doc.Warning != "" {
		s.warn("tool_warning", "tool "+id+": "+doc.Warning, "")
	}
	if doc.Output != "" {
		_, err = io.WriteString(s.out, report.Printable(report.RawOutput(doc.Output)))
	}
	return err
}

// toolFailed reports a call without an output.
func (s *session) toolFailed(ctx context.Context, doc report.ToolRun, err error) error {
	var toolErr *adapters.ToolError
	var failure *adapters.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &toolErr):
		s.outcome = exitTask
		doc.Error = &report.ToolRunError{Kind: "tool", Code: toolErr.Code, Message: toolErr.Message}
	case errors.As(err, &failure):
		s.outcome = exitFault
		doc.Error = &report.ToolRunError{Kind: "failure", Code: string(failure.Code), Message: failure.Message}
	default:
		return err
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteError(s.err, s.style, err)
	return nil
}

// logged collects the log lines of a tool. It is safe for concurrent use.
type logged struct {
	mu    sync.Mutex
	lines []string
	size  int
}

// maxLogged bounds the log in a document, in bytes.
const maxLogged = 1 << 20

func (l *logged) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size += len(line) + 1; l.size <= maxLogged {
		l.lines = append(l.lines, line)
	}
}

func (l *logged) print(w io.Writer, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(w, report.Printable(line))
}
