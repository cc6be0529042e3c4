package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/plugintest"
)

func pluginTestCommand(s *session) *cobra.Command {
	var within time.Duration
	cmd := &cobra.Command{
		Use: "test PATH|ID", Example: "  bento plugin test ./bento-adapter-zig\n  bento plugin test zig --json", Short: "Test a plugin against the contract, clause by clause",
		Long: "Test an executable against the contract of docs/PROTOCOL.md, clause by clause. The exit code\n" +
			"is 1 if a MUST fails. Every test starts the plugin again in an empty directory, and calls\n" +
			"install for that directory. -v prints the plugin's stderr.",
		Args: exactly(1, "bento plugin test requires the path or the id of one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.pluginTest(cmd.Context(), args[0], within) },
	}
	cmd.Flags().DurationVar(&within, "within", 30*time.Second, "the `TIME` within which each request must be answered")
	return cmd
}

func (s *session) pluginTest(ctx context.Context, target string, within time.Duration) error {
	c, cfg, err := s.pluginNamed(target)
	if err != nil {
		return err
	}
	o := plugintest.Options{ID: c.ID, Env: s.host().PluginEnv(cfg.Root).Strict(cfg.Plugins.ByID[c.ID].PassEnv...), Within: within}
	if trace := adapter.TraceOf(ctx); trace != nil {
		o.Frame = func(clause string, sent bool, body []byte) {
			trace(adapter.Frame{ID: strings.TrimSpace(c.ID + " " + clause), Path: c.Path, Time: time.Now(), Sent: sent, Body: body})
		}
	}
	if s.flags.verbose {
		o.Stderr = s.err
	}
	r, err := plugintest.Run(ctx, c.Path, o)
	if err != nil {
		return err
	}
	if r.Failed > 0 {
		s.outcome = exitTask
	}
	doc := report.NewPluginTest(report.PluginTest{
		ID: r.ID, Path: r.Path, Axes: axesOf(r), Passed: r.Passed, Failed: r.Failed, Missed: r.Missed,
		DurationMS: float64(r.Took.Microseconds()) / 1000,
	})
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WritePluginTest(s.out, s.style, doc)
	return nil
}

func axesOf(r *plugintest.Report) []report.PluginAxis {
	list := make([]report.PluginAxis, len(r.Axes))
	for i, a := range r.Axes {
		list[i] = report.PluginAxis{Clause: a.Clause, Level: string(a.Level), Status: a.Status, Expected: a.Expected, Got: a.Got}
	}
	return list
}
