package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/update"
)

// releasesVariable names another place of the releases, such as a mirror.
const releasesVariable = "BENTO_RELEASES"

func selfCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "self", GroupID: "other", Short: "Update this program",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var version string
	up := &cobra.Command{
		Use: "update", Short: "Replace this program by a released version",
		Long: "Download a released version of bento, compare its checksum, and put it in the place of this\nprogram. Nothing else changes. bento never looks for versions by itself. $" + releasesVariable + " names a mirror.\n" +
			"A program that npm, pip, apt, Homebrew or mise has installed is updated by them.",
		Example: "  bento self update\n  bento self update --version 0.2.1",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.selfUpdate(cmd.Context(), trimV(version)) },
	}
	up.Flags().StringVar(&version, "version", "", "the `VERSION`; default the newest")
	cmd.AddCommand(up)
	return cmd
}

// updated is the document of `bento self update` and of `bento version --check`.
type updated struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of this program, before
	Newest  string `json:"newest"`  // or the version of --version
	Path    string `json:"path"`
	Changed bool   `json:"changed"`
}

func (s *session) releases() update.Source {
	return update.Source{URL: s.environ.Get(releasesVariable)}
}

// selfUpdate replaces the program by the version want, "" for the newest.
func (s *session) selfUpdate(ctx context.Context, want string) error {
	if want != "" && !plainVersion.MatchString(want) {
		return usageError(fmt.Sprintf("--version %q is no version", want), "expected MAJOR.MINOR.PATCH, such as 0.2.0")
	}
	path, err := executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	if by := update.Manager(path); by != "" {
		return notFound("managed_program", fmt.Sprintf("another program has installed %s", path), "run "+by)
	}
	source := s.releases()
	if want == "" {
		if want, err = source.Newest(ctx); err != nil {
			return fmt.Errorf("find the newest version: %w", err)
		}
	}
	doc := updated{Schema: report.Schema("self.update"), Version: trimV(version()), Newest: want, Path: path}
	line := "bento %s is that version already\n"
	if doc.Version != want {
		if err := source.Install(ctx, want, path); err != nil {
			return fmt.Errorf("update to %s: %w", want, err)
		}
		doc.Changed, line = true, "bento %s is replaced by %s\n"
	}
	return s.tellUpdate(doc, line)
}

// checkVersion compares this version with the newest.
func (s *session) checkVersion(ctx context.Context) error {
	newest, err := s.releases().Newest(ctx)
	if err != nil {
		return fmt.Errorf("find the newest version: %w", err)
	}
	path, err := executable()
	if err != nil {
		return err
	}
	doc := updated{Schema: report.Schema("version.check"), Version: trimV(version()), Newest: newest, Path: path}
	line := "bento %s, the newest is %s: bento self update\n"
	if doc.Version == newest {
		line = "bento %s is the newest\n"
	}
	return s.tellUpdate(doc, line)
}

// tellUpdate prints the document, or a line with the version of this program and the other one.
func (s *session) tellUpdate(doc updated, line string) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	versions := []any{doc.Version, doc.Newest}
	_, err := fmt.Fprintf(s.out, line, versions[:strings.Count(line, "%s")]...)
	return err
}
