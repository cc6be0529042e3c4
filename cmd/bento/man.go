package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/bentobuild/bento/internal/report"
)

// manPages is the document of `bento man`.
type manPages struct {
	Schema string   `json:"schema"`
	Dir    string   `json:"dir"`
	Files  []string `json:"files"`
}

func manCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", GroupID: "other",
		Short:   "Write manual pages for every command into DIR",
		Example: "  bento man ~/.local/share/man/man1\n  man bento-run",
		Args:    exactly(1, "bento man needs a directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return s.man(cmd.Root(), args[0]) },
	}
}

func (s *session) man(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return notFound("unusable_directory", fmt.Sprintf("%q cannot be used: %v", dir, err), "name a directory that can be written")
	}
	root.DisableAutoGenTag = true
	pages := manPages{Schema: report.Schema("man"), Dir: dir, Files: []string{}}
	header := &doc.GenManHeader{Title: "BENTO", Section: "1", Source: "bento " + version(), Manual: "bento"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "bento*.1"))
	if err != nil {
		return err
	}
	for _, name := range names {
		pages.Files = append(pages.Files, filepath.Base(name))
	}
	if s.flags.json {
		return report.Write(s.out, pages)
	}
	fmt.Fprintf(s.out, "%d pages in %s\n", len(pages.Files), dir)
	return nil
}
