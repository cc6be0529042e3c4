package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

func extCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ext", GroupID: "setup",
		Short: "Inspect and approve extensions",
		Long: "Inspect and approve the extensions that [extensions] of bento.toml or of your own\n" +
			"configuration name. An extension that only bento.toml names starts after bento ext approve.\n" +
			"Only test starts an extension.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(extListCommand(s), extTestCommand(s), extNewCommand(s))
	cmd.AddCommand(append(extAbout(s), extDecisions(s)...)...)
	for _, c := range cmd.Commands() {
		if c.ValidArgsFunction == nil && c.Name() != "list" && c.Name() != "new" {
			c.ValidArgsFunction = once(s.extensionIDs)
		}
	}
	return cmd
}

// extensions returns the extensions of the workspace. It starts none.
func (s *session) extensions(ctx context.Context) (*kit.Extensions, *state.Dir, error) {
	cfg, st, err := s.configured(ctx)
	if err != nil {
		return nil, nil, err
	}
	return kit.FindExtensions(s.host(), cfg), st, nil
}

// extensionIDs returns the ids of the extensions, for completion.
func (s *session) extensionIDs() []string {
	root, _, err := s.root()
	if err != nil {
		return nil
	}
	cfg, _ := config.Load(root, s.host().OwnConfig())
	return cfg.ExtensionIDs()
}

// extensionNamed returns the extension with an id.
func (s *session) extensionNamed(ctx context.Context, id string) (*kit.Extension, *state.Dir, error) {
	all, st, err := s.extensions(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := all.Named(id)
	return e, st, err
}

func extListCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the extensions with their status", Example: "  bento ext list\n  bento ext list --json",
		Annotations: traits{Reads: true}.annotations(),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, st, err := s.extensions(cmd.Context())
			if err != nil {
				return err
			}
			rows := []report.ExtensionRow{}
			for i := range all.List {
				rows = append(rows, all.List[i].Row(st))
			}
			doc := report.NewExtensionList(rows)
			return show(s, doc, report.WriteExtensionList)
		},
	}
}

// extAbout are the commands that show one extension.
func extAbout(s *session) []*cobra.Command {
	return []*cobra.Command{
		aboutExtension(s, "info", "Show an extension and what it is granted", "", func(e *kit.Extension, st *state.Dir) error {
			return show(s, report.NewExtensionInfo(e.Info(st)), report.WriteExtensionInfo)
		}),
		aboutExtension(s, "logs", "Print what an extension has logged",
			"Print the end of what an extension has logged in this workspace: its own messages, what it\nwrote to stderr, and why it was ended.", func(e *kit.Extension, st *state.Dir) error {
				return show(s, report.NewExtensionLog(e.ID, append([]report.ExtensionLine{}, e.Journal(st).Lines...)), report.WriteExtensionLog)
			}),
		aboutExtension(s, "audit", "Print what an extension has asked for, and what was decided", "", func(e *kit.Extension, st *state.Dir) error {
			return show(s, report.NewExtensionAudit(e.ID, append([]report.ExtensionDecision{}, e.Journal(st).Decisions...)), report.WriteExtensionAudit)
		}),
	}
}

// aboutExtension returns one command of extAbout.
func aboutExtension(s *session, name, short, long string, about func(*kit.Extension, *state.Dir) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long, Example: "  bento ext " + name + " acme.notify",
		Annotations: traits{Reads: true}.annotations(),
		Args:        exactly(1, "bento ext "+name+" requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, st, err := s.extensionNamed(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return about(e, st)
		},
	}
}
