package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/scaffold"
)

func extNewCommand(s *session) *cobra.Command {
	var language, dir, sdk string
	cmd := &cobra.Command{
		Use: "new ID", Short: "Write the project of a new extension",
		Long:    "Write a small, complete extension of ainb v2 in the language of --lang: it hears of runs and\nhas a command. The directory has the name of the extension, as the contract requires.",
		Example: "  bento ext new counter --lang python\n  bento ext new counter --lang go --dir tools/counter",
		Args:    exactly(1, "bento ext new requires the id of the extension"),
		RunE: func(_ *cobra.Command, args []string) error {
			return s.extNew(args[0], newPlugin{Language: language, Dir: dir}, sdk)
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", "the `LANGUAGE` of the extension: "+strings.Join(scaffold.ExtensionLanguages(), ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "the new `DIRECTORY`; default ID")
	cmd.Flags().StringVar(&sdk, "sdk", "", sdkUsage)
	return cmd
}

func (s *session) extNew(id string, doc newPlugin, sdk string) error {
	language, dir := doc.Language, cmp.Or(doc.Dir, id)
	if !slices.Contains(scaffold.ExtensionLanguages(), language) {
		return usageError(fmt.Sprintf("--lang %q is no language of an extension", language), "expected one of "+strings.Join(scaffold.ExtensionLanguages(), ", "))
	}
	if why := manifest.WrongName(id); why != "" || strings.ToLower(id) != id {
		return usageError(fmt.Sprintf("%q is no id of an extension", id), "expected [a-z0-9][a-z0-9._-]* of at most 100 bytes")
	}
	if filepath.Base(dir) != id {
		return usageError(fmt.Sprintf("--dir %q is not named %q, as the contract requires of its directory", dir, id), "name a directory that ends in "+id)
	}
	module, err := s.sdk(language, sdk)
	if err != nil {
		return err
	}
	files, err := scaffold.Extension(id, language, module)
	if err != nil {
		return err
	}
	operand := dir // a word without a slash would be an id
	if !strings.ContainsRune(dir, filepath.Separator) {
		operand = "./" + dir
	}
	doc.Schema, doc.ID, doc.Dir = report.Schema("ext.new"), id, dir
	return s.newProject(doc, files, "bento ext test "+operand)
}
