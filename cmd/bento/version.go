package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/report"
)

// development is the version of a build without module information.
const development = "0.1.0-dev"

// released is the version of a build by internal/release, which sets it with the linker.
var released string

// version returns the version of bento.
func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return development
}

// publishedVersion returns the version of a release, "" for a build of development.
func publishedVersion() string {
	if v := trimV(version()); plainVersion.MatchString(v) {
		return v
	}
	return ""
}

func trimV(version string) string { return strings.TrimPrefix(version, "v") }

// versionInfo is the document of `bento version`.
type versionInfo struct {
	Schema          string `json:"schema"`
	Version         string `json:"version"`
	Go              string `json:"go"`
	Platform        string `json:"platform"`
	ProtocolVersion int    `json:"protocol_version"`
}

func versionCommand(s *session) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "version", GroupID: "other",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Print the version",
		Example:     "  bento version\n  bento version --json\n  bento version --check",
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check {
				return s.checkVersion(cmd.Context())
			}
			return s.printVersion()
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask where releases are for the newest version")
	return cmd
}

func (s *session) printVersion() error {
	if !s.flags.json {
		_, err := fmt.Fprintf(s.out, "bento %s\n", version())
		return err
	}
	return report.Write(s.out, versionInfo{report.Schema("version"), version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, adapters.ProtocolVersion})
}

func completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", GroupID: "other",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Print the completion script of bash, zsh, fish or powershell",
		Example:     "  source <(bento completion bash)\n  bento completion fish > ~/.config/fish/completions/bento.fish",
		ValidArgs:   shells,
		Args:        exactly(1, "bento completion requires one of bash, zsh, fish, powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usageError(fmt.Sprintf("no completion for shell %q", args[0]), "known: bash, zsh, fish, powershell")
		},
	}
}
