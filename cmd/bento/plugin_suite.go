package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// pluginTests are the flags of `bento plugin test`.
type pluginTests struct {
	within   time.Duration
	fixtures string
	update   bool
}

func pluginTestCommand(s *session) *cobra.Command {
	var f pluginTests
	cmd := &cobra.Command{
		Use:         "test PATH|ID",
		Annotations: traits{Reads: true, Flags: []string{"report-file"}}.annotations(),
		Example:     "  bento plugin test ./bento-adapter-zig\n  bento plugin test zig --json\n  bento plugin test ./bento-adapter-zig --dir fixtures --update\n  bento plugin test bentos/adapters/zig.toml",
		Short:       "Test a plugin against the contract, clause by clause",
		Long: "Test an executable, or the file of a definition, against the contract of docs/PROTOCOL.md, clause\n" +
			"by clause. The exit code is 1 if a MUST fails. Every test starts the plugin again in an empty\n" +
			"directory, and calls install for that directory. -v prints the plugin's stderr. The last messages of\n" +
			"a failed test follow it; bento explain 3.1 prints the text of a clause.\n\n" +
			"With --dir the plugin is also asked about each directory there. " + plugintest.ExpectedFile + " in DIR has the answers\n" +
			"that are expected; --update writes it.",
		Args: exactly(1, "bento plugin test requires the path or the id of one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.pluginTest(cmd.Context(), args[0], f) },
	}
	cmd.Flags().DurationVar(&f.within, "within", 30*time.Second, "the `TIME` within which each request must be answered")
	cmd.Flags().StringVar(&f.fixtures, "dir", "", "also ask about the directories in `DIR`, and compare the answers")
	cmd.Flags().BoolVar(&f.update, "update", false, "write the answers as the expected ones")
	return cmd
}

func (s *session) pluginTest(ctx context.Context, target string, f pluginTests) error {
	if f.update && f.fixtures == "" {
		return usageError("--update requires the directory of the fixtures", "name it with --dir")
	}
	for _, name := range s.flags.reportFiles {
		if filepath.Ext(name) == ".sarif" {
			return usageError(fmt.Sprintf("--report-file %q: the results of plugin test have no form in SARIF", name), "name a file that ends in .xml or .json")
		}
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	fixtures, err := openFixtures(f.fixtures)
	if err != nil {
		return err
	}
	p, err := s.pluginNamed(ctx, target)
	if err != nil {
		return err
	}
	o := s.suiteOptions(p, f.within)
	if trace := adapter.TraceOf(ctx); trace != nil {
		o.Frame = func(clause string, sent bool, body []byte) {
			trace(adapter.Frame{ID: strings.TrimSpace(p.ID + " " + clause), Path: p.Path, Time: time.Now(), Sent: sent, Body: body})
		}
	}
	r, err := plugintest.Run(ctx, p.Path, o)
	if err == nil && fixtures != nil {
		err = s.testFixtures(ctx, r, o, fixtures, f)
	}
	if err != nil {
		return err
	}
	if why, hint := p.NamedOnly(); why != "" { // elsewhere, bento would refuse the plugin even if it passes
		s.warn(discovery.RulePluginFile, fmt.Sprintf("bento does not start %s unless its file is named: %s", p.Path, why), hint)
		s.outcome = exitTask
	}
	return s.writeTests(ctx, r)
}

// suiteOptions returns the options by which the suite starts a plugin.
func (s *session) suiteOptions(p *kit.Plugin, within time.Duration) plugintest.Options {
	o := p.Suite(within)
	if s.flags.verbose {
		o.Stderr = s.err
	}
	return o
}

// openFixtures reads the fixtures; it returns nil if dir is "". Every problem of the file is an error.
func openFixtures(dir string) (*plugintest.Fixtures, error) {
	if dir == "" {
		return nil, nil
	}
	fixtures, problems, err := plugintest.OpenFixtures(dir)
	if err != nil {
		return nil, usageError(fmt.Sprintf("--dir %q: %v", dir, err), "name a directory that has a directory for each fixture")
	}
	return fixtures, diagnostics.AsError(problems)
}

// testFixtures adds the results of the fixtures to r, and writes the file with --update.
func (s *session) testFixtures(ctx context.Context, r *plugintest.Report, o plugintest.Options, fixtures *plugintest.Fixtures, f pluginTests) error {
	if r.Failed > 0 && r.ID == "" {
		return nil // bento refuses the plugin: the clauses say why
	}
	more, err := plugintest.RunFixtures(ctx, r.Path, o, fixtures, f.update)
	if err != nil {
		return err
	}
	r.Axes = append(r.Axes, more.Axes...)
	r.Passed, r.Failed, r.Took = r.Passed+more.Passed, r.Failed+more.Failed, r.Took+more.Took
	if !f.update {
		return nil
	}
	return state.WriteFile(filepath.Join(f.fixtures, plugintest.ExpectedFile), fixtures.Text(), 0o644)
}

// writeTests prints the results and writes the report.
func (s *session) writeTests(ctx context.Context, r *plugintest.Report) error {
	if r.Failed > 0 {
		s.outcome = exitTask
	}
	doc := report.NewPluginTest(report.PluginTest{
		ID: r.ID, Path: r.Path, Axes: axesOf(r), Passed: r.Passed, Failed: r.Failed, Missed: r.Missed,
		DurationMS: float64(r.Took.Microseconds()) / 1000,
	})
	for _, file := range s.flags.reportFiles {
		w, err := openNamed(ctx, file)
		if err != nil {
			return usageError(fmt.Sprintf("--report-file %q cannot be written: %v", file, err), "name a writable file")
		}
		if err := errors.Join(writeTestReport(w, file, doc), w.Close()); err != nil {
			return fmt.Errorf("the report cannot be written: %w", err)
		}
	}
	return show(s, doc, report.WritePluginTest)
}

func writeTestReport(w *os.File, name string, doc report.PluginTest) error {
	if filepath.Ext(name) == ".xml" {
		return export.JUnitOfPlugin(w, doc)
	}
	return report.Write(w, doc)
}

func axesOf(r *plugintest.Report) []report.PluginAxis {
	list := make([]report.PluginAxis, len(r.Axes))
	for i, a := range r.Axes {
		list[i] = report.PluginAxis{
			Clause: a.Clause, Level: string(a.Level), Status: a.Status, Expected: a.Expected, Got: a.Got, Place: a.Place, Frames: a.Frames,
		}
	}
	return list
}
