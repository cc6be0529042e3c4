package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/companion"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
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
	cmd.AddCommand(extListCommand(s), extInfoCommand(s), extLogsCommand(s), extAuditCommand(s), extTestCommand(s), extNewCommand(s))
	cmd.AddCommand(extDecisions(s)...)
	for _, c := range cmd.Commands() {
		if c.ValidArgsFunction == nil && c.Name() != "list" && c.Name() != "new" {
			c.ValidArgsFunction = once(s.extensionIDs)
		}
	}
	return cmd
}

// extensionPlaces returns the directories in which the extensions of the workspace are found.
func (s *session) extensionPlaces() (companion.Places, error) {
	root, _, err := s.root()
	return companion.PlacesOf(root, s.environ.Get), err
}

// extensions returns the extensions of the workspace; outside of a workspace, the user's own. It starts none.
func (s *session) extensions(ctx context.Context) ([]companion.Extension, companion.Places, error) {
	p, err := s.extensionPlaces()
	if err != nil {
		return nil, p, err
	}
	if err := state.Open(p.Root).Check(ctx); err != nil {
		return nil, p, err
	}
	cfg, problems := config.Load(p.Root, s.host().OwnConfig())
	report.WriteProblems(s.err, s.style, problems)
	return companion.Find(cfg, p), p, nil
}

// extensionIDs returns the ids of the extensions, for completion.
func (s *session) extensionIDs() []string {
	p, err := s.extensionPlaces()
	if err != nil {
		return nil
	}
	cfg, _ := config.Load(p.Root, s.host().OwnConfig())
	return cfg.ExtensionIDs()
}

// extensionNamed returns the extension with an id.
func (s *session) extensionNamed(ctx context.Context, id string) (*companion.Extension, companion.Places, error) {
	list, p, err := s.extensions(ctx)
	if err != nil {
		return nil, p, err
	}
	if i := slices.IndexFunc(list, func(e companion.Extension) bool { return e.ID == id }); i >= 0 {
		return &list[i], p, nil
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return nil, p, notFound("extension_not_found", fmt.Sprintf("no extension %q is in [extensions]", id), orList(id, ids, "bento ext list lists the extensions"))
}

// rowOfExtension returns the row of an extension of a workspace.
func rowOfExtension(e *companion.Extension, p companion.Places) report.ExtensionRow {
	row := report.ExtensionRow{
		ID: e.ID, Path: e.Dir, Contract: e.Contract, Version: e.Version, Declared: e.Settings.Pos.String(), Own: e.Settings.Own, Status: e.Status,
		Eager: e.Eager, Namespaces: append([]string{}, e.Namespaces()...),
	}
	if e.Ainb != nil {
		row.Screens = e.Ainb.Manifest.Provides.Screens
	}
	for _, p := range e.Panels() {
		row.Panels = append(row.Panels, report.Panel{ID: p.ID, Title: p.Title, Slot: p.Slot})
	}
	if e.SEP != nil {
		row.Counters = &companion.LoadJournal(state.Open(p.Root), e.ID).Counters
	}
	if p := e.Problem; p != nil {
		row.Code, row.Message, row.Hint = p.Rule, p.String(), p.Hint
	}
	return row
}

func extListCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the extensions with their status", Example: "  bento ext list\n  bento ext list --json",
		Annotations: traits{Reads: true}.annotations(),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, places, err := s.extensions(cmd.Context())
			if err != nil {
				return err
			}
			rows := []report.ExtensionRow{}
			for i := range list {
				rows = append(rows, rowOfExtension(&list[i], places))
			}
			doc := report.NewExtensionList(rows)
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteExtensionList(s.out, s.style, doc)
			return nil
		},
	}
}

func extInfoCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "info ID", Short: "Show an extension and what it is granted", Example: "  bento ext info acme.notify",
		Annotations: traits{Reads: true}.annotations(),
		Args:        exactly(1, "bento ext info requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, places, err := s.extensionNamed(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			doc := report.NewExtensionInfo(infoOfExtension(e, places))
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteExtensionInfo(s.out, s.style, doc)
			return nil
		},
	}
}

func infoOfExtension(e *companion.Extension, p companion.Places) report.ExtensionInfo {
	doc := report.ExtensionInfo{
		ExtensionRow: rowOfExtension(e, p), Digest: e.Digest, Approved: e.Record.Approved, Output: e.Settings.Output, Topics: append([]string{}, e.Topics()...),
	}
	doc.Permissions, doc.AskedOnly = grantsOf(e.Asked())
	doc.Granted, doc.GrantedOnly = grantsOf(e.Granted())
	doc.Variables = slices.Clone(e.Settings.Env)
	for name := range e.Settings.SetEnv {
		doc.Variables = append(doc.Variables, name)
	}
	slices.Sort(doc.Variables)
	for _, d := range e.Notes {
		doc.Warnings = append(doc.Warnings, d.String())
	}
	return doc
}

// grantsOf returns the sorted names of permissions, and the lists of those permissions that have one.
func grantsOf(all map[string]manifest.Grant) (names []string, only map[string][]string) {
	names = []string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		names = append(names, name)
		if list := all[name].Only; len(list) > 0 {
			if only == nil {
				only = make(map[string][]string)
			}
			only[name] = list
		}
	}
	return names, only
}

func extLogsCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "logs ID", Short: "Print what an extension has logged", Example: "  bento ext logs acme.notify",
		Annotations: traits{Reads: true}.annotations(),
		Long:        "Print the end of what an extension has logged in this workspace: its own messages, what it\nwrote to stderr, and why it was ended.",
		Args:        exactly(1, "bento ext logs requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := s.journal(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			doc := report.NewExtensionLog(args[0], append([]report.ExtensionLine{}, j.Lines...))
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteExtensionLog(s.out, doc)
			return nil
		},
	}
}

func extAuditCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "audit ID", Short: "Print what an extension has asked for, and what was decided", Example: "  bento ext audit acme.notify",
		Annotations: traits{Reads: true}.annotations(),
		Args:        exactly(1, "bento ext audit requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := s.journal(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			doc := report.NewExtensionAudit(args[0], append([]report.ExtensionDecision{}, j.Decisions...))
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteExtensionAudit(s.out, doc)
			return nil
		},
	}
}

// journal returns the journal of an extension.
func (s *session) journal(ctx context.Context, id string) (*companion.Journal, error) {
	_, p, err := s.extensionNamed(ctx, id)
	if err != nil {
		return nil, err
	}
	return companion.LoadJournal(state.Open(p.Root), id), nil
}
