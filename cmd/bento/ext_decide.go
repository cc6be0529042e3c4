package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
)

// extDecisions are the commands that save a decision of the user.
func extDecisions(s *session) []*cobra.Command {
	return []*cobra.Command{
		extDecision(s, "approve", "Allow an extension of bento.toml to start, as its files are",
			"Allow an extension that bento.toml names to start, as long as none of its files changes, nor\nwhat its table grants or sets in its environment. The approval is for you and this workspace, and lies outside of it."),
		extDecision(s, "enable", "Allow the start of a disabled extension", ""),
		extDecision(s, "disable", "Forbid the start of an extension in this workspace", ""),
		extDecision(s, "reload", "Forget the failures of an extension, so that it starts again",
			"Forget the failures of an extension that failed three times within a minute, so that it\nstarts again, and read its manifest again."),
	}
}

// extDecision returns one command of extDecisions.
func extDecision(s *session, name, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long, Example: "  bento ext " + name + " acme.notify",
		Args: exactly(1, "bento ext "+name+" requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.decideExtension(cmd.Context(), name, args[0]) },
	}
}

// decideExtension saves a decision about an extension and prints its new status.
func (s *session) decideExtension(ctx context.Context, name, id string) error {
	all, _, err := s.extensions(ctx)
	if err != nil {
		return err
	}
	e, err := all.Named(id)
	if err == nil {
		err = all.Decide(e, name)
	}
	if err != nil {
		return err
	}
	e, _, err = s.extensionNamed(ctx, id)
	if err != nil {
		return err
	}
	doc := report.ExtensionChanged{Schema: report.Schema("ext." + name), ID: id, Status: e.Status}
	if name == "approve" {
		doc.Digest = e.Record.Approved
		doc.Granted, doc.GrantedOnly = e.Granted()
	}
	return show(s, doc, report.WriteExtensionChanged)
}
