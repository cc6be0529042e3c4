package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
)

// publishedPlugin is the document of `bento plugin publish`.
type publishedPlugin struct {
	Schema     string   `json:"schema"`
	ID         string   `json:"id"`
	Version    string   `json:"version"`
	Platform   string   `json:"platform,omitempty"` // "" for every platform
	To         string   `json:"to"`                 // the path of the tar, or oci://HOST/NAME:TAG@DIGEST
	SHA256     string   `json:"sha256"`             // of the executable or module
	Digest     string   `json:"digest"`             // of the package
	Signatures []string `json:"signatures"`         // the suffixes of their files
}

func newPluginPublish(s *session) *cobra.Command {
	var to, version, platform string
	cmd := &cobra.Command{
		Use: "publish FILE|DIR", Short: "Pack a plugin, so that others can add it",
		Long: "Pack the executable or module bento-adapter-ID, or a directory with its bento-plugin.json, as\n" +
			"ID-VERSION.tar, or with oci:// behind --to push it to a registry. FILE may be such a tar, too: its\n" +
			"signatures (FILE.minisig, FILE.sig) are published with it. The same files make the same bytes.\n" +
			"The command starts nothing.",
		Example: "  bento plugin publish ./bento-adapter-cmake --version 1.2.0\n  minisign -Sm cmake-1.2.0.tar\n" +
			"  bento plugin publish cmake-1.2.0.tar --to oci://registry.example.com/cmake",
		Args: exactly(1, "bento plugin publish requires one file or directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.publish(cmd.Context(), kit.Pack{Source: args[0], Version: version, Platform: platform, To: to})
		},
	}
	cmd.Flags().StringVar(&to, "to", ".", "the `DIR` to write the tar to, or oci://HOST/NAME")
	cmd.Flags().StringVar(&version, "version", "", "the `VERSION` of the executable or module")
	cmd.Flags().StringVar(&platform, "platform", "", "the `OS/ARCH` of the executable, or any; by default this one, and any for scripts and modules")
	return cmd
}

func (s *session) publish(ctx context.Context, o kit.Pack) error {
	if !strings.HasPrefix(o.To, "oci://") && !isDir(o.To) {
		return usageError(fmt.Sprintf("--to %q is no directory", o.To), "make the directory, or choose another one")
	}
	p, to, err := kit.PublishPlugin(ctx, s.host(), o)
	if err != nil {
		return err
	}
	doc := publishedPlugin{
		Schema: report.Schema("plugin.publish"), ID: p.ID, Version: p.Version, Platform: p.Adapter.Platform, To: to, SHA256: p.SHA256(), Digest: p.Digest, Signatures: []string{},
	}
	for _, sig := range p.Signatures {
		doc.Signatures = append(doc.Signatures, sig.Suffix)
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	signed := "not signed"
	if len(doc.Signatures) > 0 {
		signed = "signed (" + strings.Join(doc.Signatures, ", ") + ")"
	}
	_, err = fmt.Fprintf(s.out, "%s: %s %s, %s\n", doc.To, doc.ID, doc.Version, signed)
	return err
}
