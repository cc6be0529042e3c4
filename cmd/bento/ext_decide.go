package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/companion"
	"github.com/bentobuild/bento/internal/extension"
	"github.com/bentobuild/bento/internal/report"
)

// extDecisions are the commands that save a decision of the user.
func extDecisions(s *session) []*cobra.Command {
	return []*cobra.Command{
		extDecision(s, "approve", "Allow an extension of bento.toml to start, as its files are",
			"Allow an extension that bento.toml names to start, as long as none of its files changes, nor\nwhat its table grants or sets in its environment. The approval is for you and this workspace, and lies outside of it.", (*companion.Extension).Approve),
		extDecision(s, "enable", "Allow the start of a disabled extension", "", func(_ *companion.Extension, r *extension.Record) error {
			r.Disabled = false
			return nil
		}),
		extDecision(s, "disable", "Forbid the start of an extension in this workspace", "", func(_ *companion.Extension, r *extension.Record) error {
			r.Disabled = true
			return nil
		}),
		extDecision(s, "reload", "Forget the failures of an extension, so that it starts again",
			"Forget the failures of an extension that failed three times within a minute, so that it\nstarts again, and read its manifest again.", func(_ *companion.Extension, r *extension.Record) error {
				r.Quarantined, r.Failures = "", ""
				return nil
			}),
	}
}

// extDecision returns one command of extDecisions.
func extDecision(s *session, name, short, long string, decide func(*companion.Extension, *extension.Record) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Long: long, Example: "  bento ext " + name + " acme.notify",
		Args: exactly(1, "bento ext "+name+" requires the id of one extension"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.decideExtension(cmd.Context(), name, args[0], decide)
		},
	}
}

// decideExtension changes the record of an extension and prints its new status.
func (s *session) decideExtension(ctx context.Context, name, id string, decide func(*companion.Extension, *extension.Record) error) error {
	e, p, err := s.extensionNamed(ctx, id)
	if err != nil {
		return err
	}
	if p.Records == nil {
		return usageError("neither XDG_STATE_HOME nor HOME is set, so the decision cannot be saved", "set HOME")
	}
	var refused error
	err = p.Records.Change(p.Root, id, func(r *extension.Record) { refused = decide(e, r) })
	if err := errors.Join(refused, err); err != nil {
		return err
	}
	e, _, err = s.extensionNamed(ctx, id)
	if err != nil {
		return err
	}
	doc := report.ExtensionChanged{Schema: report.Schema("ext." + name), ID: id, Status: e.Status}
	if name == "approve" {
		doc.Digest = e.Record.Approved
		doc.Granted, doc.GrantedOnly = grantsOf(e.Granted())
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	report.WriteExtensionChanged(s.out, doc)
	return nil
}
