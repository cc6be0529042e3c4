package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/workspace"
)

// addedPlugins is the document of `bento plugin add` and `bento plugin update`.
type addedPlugins struct {
	Schema  string            `json:"schema"`
	Plugins []kit.AddedPlugin `json:"plugins"`
}

func newPluginAdd(s *session) *cobra.Command {
	var from, key string
	var relock bool
	cmd := &cobra.Command{
		Use: "add NAME[@VERSION] --from SOURCE", Short: "Install a plugin, and pin its digest in " + config.LockFile,
		Long: "Install a plugin below $XDG_DATA_HOME/bento/plugins, where bento looks for plugins after PATH,\n" +
			"and write its digest to " + config.LockFile + " of the workspace. SOURCE is a directory with packages,\n" +
			"a package (a directory, a tar or a zip), its http or https URL, or oci://HOST/NAME. bento checks\n" +
			"names, sizes, platform and signature before it writes anything. No other command but update\n" +
			"fetches plugins, and neither starts one.",
		Example: "  bento plugin add cmake@1.2 --from ./packages\n  bento plugin add cmake --from https://example.com/cmake.tar --key cmake.pub\n" +
			"  bento plugin add cmake@1.2 --from oci://registry.example.com/plugins/cmake",
		Args: exactly(1, "bento plugin add requires one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return usageError("--from is missing", "name a directory, an archive, a URL or oci://HOST/NAME")
			}
			return s.addPlugins(cmd.Context(), key, func(p *kit.Packages) ([]kit.AddedPlugin, error) {
				return p.AddPlugin(cmd.Context(), args[0], from, relock)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the `SOURCE` of the package")
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` with the only public key that may have signed the package: of minisign, or PEM of cosign")
	cmd.Flags().BoolVar(&relock, "relock", false, "pin this digest in place of another one in "+config.LockFile)
	return cmd
}

func newPluginUpdate(s *session) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use: "update [NAME[@VERSION]...]", Short: "Install newer versions of plugins from where they came",
		Long: "Look for a higher version of each installed plugin, or of those named, where it came from;\n" +
			"install it, and write its digest to " + config.LockFile + ". The older version stays installed.",
		Example: "  bento plugin update\n  bento plugin update cmake@2",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.addPlugins(cmd.Context(), key, func(p *kit.Packages) ([]kit.AddedPlugin, error) { return p.UpdatePlugins(cmd.Context(), args) })
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` with the only public key that may have signed the packages: of minisign, or PEM of cosign")
	return cmd
}

// packageOpener is kit.PluginPackages or kit.ToolPackages.
type packageOpener func(h *workspace.Host, root string, report func([]diagnostics.Diagnostic)) (*kit.Packages, error)

// packages opens the packages of plugins or of tools.
func (s *session) packages(open packageOpener) (*kit.Packages, error) {
	root, _, _ := s.root() // "" outside of a workspace
	return open(s.host(), root, s.writeProblems)
}

// addPlugins installs packages of plugins, which only the key of a file may have signed unless that is "".
func (s *session) addPlugins(ctx context.Context, key string, add func(*kit.Packages) ([]kit.AddedPlugin, error)) error {
	p, err := s.packages(kit.PluginPackages)
	if err != nil {
		return err
	}
	if key != "" {
		if err := p.TrustOnly(ctx, key); err != nil {
			return usageError("--key: "+err.Error(), "")
		}
	}
	added, err := add(p)
	if err != nil {
		return err
	}
	if s.flags.json {
		return report.Write(s.out, addedPlugins{report.Schema("plugin.add"), added})
	}
	for _, p := range added {
		text := "installed"
		switch {
		case p.Already && p.From != "":
			text = "up to date"
		case p.Already:
			text = "already installed"
		case p.From != "":
			text = "installed in place of " + p.From
		}
		if p.Locked {
			text += ", pinned in " + config.LockFile
		}
		signed := map[string]string{"valid": ", signed with the key " + p.Signer, "unsigned": ", not signed"}[p.Signature]
		fmt.Fprintf(s.out, "%s %s: %s%s\n  %s\n", p.ID, p.Version, text, signed, p.Path)
	}
	return nil
}

func newPluginRemove(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME[@VERSION]", Example: "  bento plugin remove cmake\n  bento plugin remove cmake@1.2.0",
		Short: "Remove an installed plugin, or one version of it",
		Long:  "Remove all versions of an installed plugin, or one. " + config.LockFile + " keeps its digest.",
		Args:  exactly(1, "bento plugin remove requires one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.removePackage(cmd.Context(), "plugin.remove", kit.PluginPackages, args[0])
		},
	}
}
