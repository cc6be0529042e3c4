package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
)

func toolCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tool", GroupID: "setup",
		Short: "Inspect and call tools, and install packages of them",
		Long: "Inspect and call the tools that tasks and parsers use: those in [tools] of bento.toml, and\n" +
			"bento-tool-* on PATH. Only run, test, trace and info --handshake start a tool.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(toolListCommand(s), toolInfoCommand(s), toolTestCommand(s), toolRunCommand(s), toolTraceCommand(s))
	cmd.AddCommand(toolPackageCommands(s)...)
	ids := func() []string { return s.toolIDs() }
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "info", "run", "test":
			c.ValidArgsFunction = once(ids)
		}
	}
	return cmd
}

// findTools finds the tools of the workspace. It starts none; the caller closes the result.
func (s *session) findTools(ctx context.Context, o kit.ToolOptions) (*kit.Tools, *config.Workspace, error) {
	cfg, st, err := s.configured(ctx)
	if err != nil {
		return nil, nil, err
	}
	o.Trace = adapter.TraceOf(ctx)
	o.Warn = func(message, hint string) { s.warn("tool_cache", message, hint) }
	tools, problems := kit.FindTools(s.host(), cfg, st, o)
	s.writeProblems(problems)
	return tools, cfg, nil
}

// toolIDs returns the ids of the tools of the workspace, for completion.
func (s *session) toolIDs() (ids []string) {
	root, _, err := s.root()
	if err != nil {
		return nil
	}
	cfg, _ := config.Load(root, s.host().OwnConfig())
	tools, _ := kit.FindTools(s.host(), cfg, nil, kit.ToolOptions{})
	defer tools.Close()
	return idsOf(tools)
}

func idsOf(tools *kit.Tools) []string {
	var ids []string
	for _, f := range tools.List {
		ids = append(ids, f.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// toolNamed returns the tool that bento uses for an id.
func toolNamed(tools *kit.Tools, id string) (*kit.FoundTool, error) {
	var passedOver *kit.FoundTool
	for i := range tools.List {
		switch f := &tools.List[i]; {
		case f.ID != id:
		case f.Tool != nil:
			return f, nil
		case passedOver == nil:
			passedOver = f
		}
	}
	if passedOver != nil {
		hint := passedOver.SkipHint
		if hint == "" {
			hint = "bento tool list lists the tools"
		}
		return nil, notFound(passedOver.Skip, fmt.Sprintf("the tool %s is not used: %s", id, passedOver.SkipReason), hint)
	}
	return nil, notFound("tool_not_found", fmt.Sprintf("no tool %q is declared in bento.toml or found on PATH", id), orList(id, idsOf(tools), "bento tool list lists the tools"))
}

func toolListCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tools with their status", Example: "  bento tool list\n  bento tool list --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools, _, err := s.findTools(cmd.Context(), kit.ToolOptions{})
			if err != nil {
				return err
			}
			defer tools.Close()
			list := []report.ToolRow{}
			for i := range tools.List {
				list = append(list, rowOfTool(&tools.List[i]))
			}
			doc := report.NewToolList(list)
			return show(s, doc, report.WriteToolList)
		},
	}
}

// rowOfTool returns the row of a tool.
func rowOfTool(f *kit.FoundTool) report.ToolRow {
	row := report.ToolRow{PluginRow: report.PluginRow{ID: f.ID, Path: f.Path, Contract: f.Contract, Status: report.ToolReady}}
	if f.Declared != (diagnostics.Pos{}) {
		row.Declared = f.Declared.String()
	}
	switch {
	case f.Skip == adapters.SkipUnusable:
		row.Status, row.Message = "failed", f.SkipReason
	case f.Skip != "":
		row.Status, row.Message = f.Skip, f.SkipReason
	case f.Tool.Problem != "":
		row.Status, row.Message = "failed", f.Tool.Problem
	}
	return row
}

func toolInfoCommand(s *session) *cobra.Command {
	var handshake bool
	cmd := &cobra.Command{
		Use: "info ID", Short: "Show a tool, its digest and what it is granted", Example: "  bento tool info acme.fmt\n  bento tool info acme.fmt --handshake",
		Long: "Show a tool, its digest and what it is granted. It is not started: --handshake starts a\n" +
			"program for its manifest, or asks a module for its name and the schema of its input.",
		Args: exactly(1, "bento tool info requires the id of one tool"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.toolInfo(cmd.Context(), args[0], handshake) },
	}
	cmd.Flags().BoolVar(&handshake, "handshake", false, "start the tool, and show what it says of itself")
	return cmd
}

func (s *session) toolInfo(ctx context.Context, id string, handshake bool) error {
	tools, _, err := s.findTools(ctx, kit.ToolOptions{})
	if err != nil {
		return err
	}
	defer tools.Close()
	f, err := toolNamed(tools, id)
	if err != nil {
		return err
	}
	doc := report.ToolInfo{ToolRow: rowOfTool(f), Files: f.Tool.Files, Capabilities: append([]string{}, f.Settings.Capabilities...), AllowedHosts: f.Settings.AllowedHosts, Terms: map[string]string{}}
	if f.Tool.Problem == "" {
		is, err := f.Tool.Identity()
		if err != nil {
			doc.Status, doc.Message = "failed", err.Error()
		} else {
			doc.Digest = is.Digest
		}
		for _, term := range is.Terms {
			if !term.Secret {
				doc.Terms[term.Name] = term.Value
			}
		}
		if handshake {
			if doc.Manifest, err = introduce(ctx, f); err != nil {
				return err
			}
		}
	}
	doc = report.NewToolInfo(doc)
	return show(s, doc, report.WriteToolInfo)
}

// introduce starts a program for its manifest, or asks a module for its name and the schema of its input.
func introduce(ctx context.Context, f *kit.FoundTool) (*report.ToolManifest, error) {
	if f.Wasm != nil {
		self, err := f.Wasm.Self(ctx)
		if err != nil || self.Name == "" && self.Schema == nil {
			return nil, err
		}
		return &report.ToolManifest{Name: self.Name, InputSchema: self.Schema}, nil
	}
	m, err := f.Oneshot.Manifest(ctx)
	if err != nil {
		return nil, err
	}
	return &report.ToolManifest{Version: m.Version, Functions: m.Functions, Capabilities: m.Capabilities}, nil
}

func toolTraceCommand(s *session) *cobra.Command {
	cmd := pluginTraceCommand(s)
	cmd.Short = "Run a command and record the messages of its tools"
	cmd.Long = "Run a command of bento and write every message of its one-shot tools and its plugins to stderr,\n" +
		"or with -o to a file as one JSON object a line: time, ms since the start, id, sent (by bento) and body."
	cmd.Example = "  bento tool trace -- run lint\n  bento tool trace -- tool run acme.fmt fmt.check"
	return cmd
}

// toolPackageCommands are the commands that install, check and make packages.
func toolPackageCommands(s *session) []*cobra.Command {
	return []*cobra.Command{
		newToolAdd(s), newToolRemove(s), newToolVerify(s), newToolRollback(s), newToolEnable(s, true), newToolEnable(s, false), newToolPackage(s),
	}
}
