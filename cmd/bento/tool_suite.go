package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/plugintest"
)

func toolTestCommand(s *session) *cobra.Command {
	var function, input string
	cmd := &cobra.Command{
		Use: "test ID", Example: "  bento tool test acme.fmt\n  bento tool test acme.fmt --function fmt.check --input @request.json", Short: "Test a tool against its contract, clause by clause",
		Long: "Test a tool against its contract, clause by clause: docs/TOOL-PROTOCOL.md of a one-shot tool, which\n" +
			"every test starts again, confined as by run, docs/TOOL-PROTOCOL-WASM.md of a module.\n" +
			"The exit code is 1 if a MUST fails. -v prints the tool's stderr.",
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
	tools, cfg, err := s.findTools(ctx, kit.ToolOptions{})
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
	var r *plugintest.Report
	if f.Module != nil {
		call := adapters.ToolCall{Function: o.Function, Input: o.Input, Root: cfg.Root}
		r, err = plugintest.RunModule(ctx, tools.Engine(), plugintest.ModuleOptions{Module: *f.Module, Call: call})
	} else {
		r, err = s.testProgram(ctx, f, o)
	}
	if err != nil {
		return err
	}
	doc := report.PluginTest{
		ID: id, Path: f.Path, Axes: axesOf(r), Passed: r.Passed, Failed: r.Failed, Missed: r.Missed, DurationMS: float64(r.Took.Microseconds()) / 1000,
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
func (s *session) testProgram(ctx context.Context, f *kit.FoundTool, o plugintest.OneshotOptions) (*plugintest.Report, error) {
	o.ID, o.Dir, o.Env, o.Within = f.Launch.ID, f.Launch.Dir, f.Launch.Env, f.Settings.Timeout
	o.SHA256, o.Sandbox = f.Launch.SHA256, f.Launch.Sandbox
	o.Handshake = f.Settings.Handshake
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
