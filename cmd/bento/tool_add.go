package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
)

// addedTools is the document of `bento tool add`.
type addedTools struct {
	Schema string          `json:"schema"`
	Tools  []kit.AddedTool `json:"tools"` // the named one first, then its dependencies
}

func newToolAdd(s *session) *cobra.Command {
	var from, index string
	cmd := &cobra.Command{
		Use: "add PATH|NAME[@VERSION]", Short: "Install the package of a tool",
		Long: "Install the package of a tool below $XDG_DATA_HOME/bento/tools: a directory, a tar or a zip\n" +
			"with the manifest of a WebAssembly module (manifest.json) or of a program\n" +
			"(rterm-plugin.json). --from names a path, a URL or a git repository; --index the index of a\n" +
			"registry. bento checks names, sizes, digest and signature before it writes anything. No\n" +
			"other command fetches packages.",
		Example: "  bento tool add ./acme-fmt-1.2.0.tar\n  bento tool add acme-fmt@1.2 --from https://example.com/acme-fmt-1.2.0.tar\n" +
			"  bento tool add acme-fmt --from git+https://example.com/acme-fmt.git\n  bento tool add acme-fmt@1.2 --index https://example.com/index.json",
		Args: exactly(1, "bento tool add requires one package"),
		RunE: func(cmd *cobra.Command, args []string) error { return s.toolAdd(cmd.Context(), args[0], from, index) },
	}
	cmd.Flags().StringVar(&from, "from", "", "the `SOURCE` of the package: a path, a file, http or https URL, or git+URL")
	cmd.Flags().StringVar(&index, "index", "", "the `FILE` or URL of a registry's index that has the package")
	return cmd
}

func (s *session) toolAdd(ctx context.Context, name, from, index string) error {
	if from != "" && index != "" {
		return usageError("--from and --index both name the source of the package", "leave out one of them")
	}
	p, err := s.packages(kit.ToolPackages)
	if err != nil {
		return err
	}
	var added []kit.AddedTool
	if index != "" {
		added, err = p.AddIndexed(ctx, name, index)
	} else {
		added, err = p.AddTool(ctx, name, from)
	}
	if err != nil {
		return err
	}
	if s.flags.json {
		return report.Write(s.out, addedTools{report.Schema("tool.add"), added})
	}
	for _, t := range added {
		state := "installed"
		if t.Already {
			state = "already installed"
		}
		fmt.Fprintf(s.out, "%s %s: %s at %s\n", t.ID, t.Version, state, t.Path)
	}
	return nil
}
