package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/plugintest"
)

func toolTestCommand(s *session) *cobra.Command {
	var function, input string
	cmd := &cobra.Command{
		Use: "test ID", Example: "  bento tool test acme.fmt\n  bento tool test acme.fmt --function fmt.check --input @request.json", Short: "Test a tool against its contract, clause by clause",
		Long: "Test a one-shot tool against the contract of docs/TOOL-PROTOCOL.md, clause by clause. Every test\n" +
			"starts it again. A module is checked and compiled. The exit code is 1 if a MUST fails. -v prints\n" +
			"the tool's stderr.",
		Args: exactly(1, "bento tool test requires the id of one tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := toolInput(cmd.Context(), input)
			if err != nil {
				return err
			}
			return s.toolTest(cmd.Context(), args[0], plugintest.OneshotOptions{Function: function, Input: text})
		},
	}
	cmd.Flags().StringVar(&function, "function", "", "the `NAME` of the function to call; else the first")
	cmd.Flags().StringVar(&input, "input", "{}", "its input: `JSON`, or @FILE")
	return cmd
}

func (s *session) toolTest(ctx context.Context, id string, o plugintest.OneshotOptions) error {
	tools, _, err := s.findTools(ctx, workspace.ToolOptions{})
	if err != nil {
		return err
	}
	defer tools.Close()
	f, err := toolNamed(tools, id)
	if err == nil && f.Tool.Problem != "" {
		err = notFound("tool_unusable", f.Tool.Problem, f.Tool.Hint)
	}
	if err != nil {
		return err
	}
	doc := report.PluginTest{ID: id, Path: f.Path}
	if f.Wasm != nil {
		doc.Axes = []report.PluginAxis{moduleAxis(f.Wasm.Check(ctx))}
		doc.Passed, doc.Failed = 1, 0
		if doc.Axes[0].Status == "fail" {
			doc.Passed, doc.Failed = 0, 1
		}
	} else {
		r, err := s.testProgram(ctx, f, o)
		if err != nil {
			return err
		}
		doc.Axes, doc.Passed, doc.Failed, doc.Missed, doc.DurationMS = axesOf(r), r.Passed, r.Failed, r.Missed, float64(r.Took.Microseconds())/1000
	}
	if doc.Failed > 0 {
		s.outcome = exitTask
	}
	if doc.Schema = report.Schema("tool.test"); s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WritePluginTest(s.out, s.style, doc)
	return nil
}

// testProgram runs the conformance suite of one-shot tools.
func (s *session) testProgram(ctx context.Context, f *workspace.FoundTool, o plugintest.OneshotOptions) (*plugintest.Report, error) {
	o.ID, o.Dir, o.Env, o.Within = f.Launch.ID, f.Launch.Dir, f.Launch.Env, f.Settings.Timeout
	o.Capabilities = f.Settings.Capabilities
	if trace := adapter.TraceOf(ctx); trace != nil {
		o.Frame = func(clause string, sent bool, body []byte) {
			trace(adapter.Frame{ID: f.ID + " " + clause, Path: f.Path, Time: time.Now(), Sent: sent, Body: body})
		}
	}
	if s.flags.verbose {
		o.Stderr = s.err
	}
	return plugintest.RunOneshot(ctx, f.Launch.Argv, o)
}

// moduleAxis is the result of checking and compiling a module.
func moduleAxis(err error) report.PluginAxis {
	a := report.PluginAxis{Clause: "module", Level: string(plugintest.Must), Status: "pass", Expected: "a module that the contract allows"}
	if err != nil {
		a.Status, a.Got = "fail", err.Error()
	}
	return a
}
