package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
)

func ownersCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "owners PATH…", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Print who owns paths by CODEOWNERS",
		Long:        "Print the owners of each PATH, and the line that decides: the last one of CODEOWNERS,\n.github/CODEOWNERS or docs/CODEOWNERS that matches, by the rules of GitHub. A PATH may be\nmissing. The owners of a directory are those of a new file in it.",
		Example:     "  bento owners services/api\n  git diff --name-only | xargs bento owners --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("bento owners requires paths", "")
			}
			return s.owners(cmd.Context(), args)
		},
	}
}

func (s *session) owners(ctx context.Context, paths []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	doc := report.Owners{Schema: report.Schema("owners"), Entries: []report.OwnersRow{}}
	for _, path := range paths {
		rel, err := w.inside(path)
		if err != nil {
			return err
		}
		fi, err := os.Stat(filepath.Join(w.Root, rel))
		row, err := report.NewOwnersRow(w.Workspace.Workspace, rel, err == nil && fi.IsDir())
		if err != nil {
			return err
		}
		doc.Entries = append(doc.Entries, row)
	}
	return show(s, doc, report.WriteOwners)
}
