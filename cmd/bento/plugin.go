package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
)

func pluginCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", GroupID: "setup",
		Short: "Install, inspect and test adapters",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the adapters on PATH and of the workspace",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento plugin list\n  bento plugin list --json",
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.pluginList(cmd.Context()) },
	}, pluginInfoCommand(s), pluginCallCommand(s), pluginNewCommand(s), pluginTestCommand(s), pluginTraceCommand(s), pluginReplayCommand(s), pluginLockCommand(s),
		newPluginAdd(s), newPluginUpdate(s), newPluginRemove(s), newPluginPublish(s))
	return cmd
}

// pluginList starts every plugin and reports its status. A workspace is optional: its
// bento.toml can forbid plugins.
func (s *session) pluginList(ctx context.Context) error {
	cfg, st, err := s.configured(ctx)
	if err != nil {
		return err
	}
	candidates, o, problems := s.host().FindPlugins(cfg, st, nil)
	about := snapshot.Options{Env: s.environ, Clone: clone.At(cfg.Root)}
	own := s.host().Adapters(about)
	defined, faults := workspace.Defined(cfg.Adapters, own, about)
	set, err := s.host().StartPlugins(ctx, candidates, o, own)
	if err != nil {
		return err
	}
	defer set.Close()
	s.writeProblems(append(problems, faults...))
	doc := report.NewPluginList(append(definedRows(cfg, defined), rows(set)...))
	return show(s, doc, report.WritePluginList)
}

// definedRows lists the adapters that the workspace defines.
func definedRows(cfg *config.Workspace, defined []adapters.Adapter) []report.PluginRow {
	list := []report.PluginRow{}
	for _, a := range defined {
		m := a.Manifest()
		i := slices.IndexFunc(cfg.Adapters, func(c config.Adapter) bool { return c.ID == m.AdapterID })
		list = append(list, report.PluginRow{
			ID: m.AdapterID, Path: cfg.Adapters[i].Pos.String(), Contract: adapters.ContractDefinition, Status: adapter.Loaded, DisplayName: m.DisplayName, Identity: m.Identity,
		})
	}
	return list
}

func rows(set *adapter.Set) []report.PluginRow {
	list := []report.PluginRow{}
	for _, p := range set.Status() {
		list = append(list, pluginRow(p))
	}
	return list
}

func pluginRow(p adapter.Status) report.PluginRow {
	return report.PluginRow{
		ID: p.ID, Path: p.Path, Contract: p.Contract, Status: p.Status, Code: string(p.Code), Message: p.Message,
		DisplayName: p.DisplayName, Identity: p.Identity, HandshakeMS: float64(p.Handshake.Microseconds()) / 1000,
	}
}
