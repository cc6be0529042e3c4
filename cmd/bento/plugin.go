package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/plugins"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/adapter"
)

func pluginCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", GroupID: "setup",
		Short: "Look at the adapters that are found on PATH",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List everything on PATH that may be an adapter, with its status",
		Example: "  bento plugin list\n  bento plugin list --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.pluginList(cmd.Context()) },
	}, pluginInfoCommand(s), pluginCallCommand(s), pluginTestCommand(s), pluginTraceCommand(s), pluginLockCommand(s))
	return cmd
}

// pluginList starts every plugin and says how that went. It needs a workspace only
// for what its bento.toml forbids.
func (s *session) pluginList(ctx context.Context) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	cfg, problems := config.Load(root)
	candidates, o, more := s.findPlugins(cfg, state.Open(root))
	set, err := s.startPlugins(ctx, candidates, o, builtin.All(adapters.Options{Env: s.environ, Root: root}))
	if err != nil {
		return err
	}
	defer set.Close()
	report.WriteProblems(s.err, s.style, append(problems, more...))
	doc := plugins.NewList(rows(set))
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	plugins.WriteList(s.out, s.style, doc)
	return nil
}

func rows(set *adapter.Set) []plugins.Row {
	list := []plugins.Row{}
	for _, p := range set.Status() {
		list = append(list, pluginRow(p))
	}
	return list
}

func pluginRow(p adapter.Status) plugins.Row {
	return plugins.Row{
		ID: p.ID, Path: p.Path, Contract: p.Contract, Status: p.Status, Code: string(p.Code), Message: p.Message,
		DisplayName: p.DisplayName, Identity: p.Identity, HandshakeMS: float64(p.Handshake.Microseconds()) / 1000,
	}
}
