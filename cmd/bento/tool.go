package main

import "github.com/spf13/cobra"

func toolCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tool", GroupID: "setup",
		Short: "Install and check the packages of tools",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(toolPackageCommands(s)...)
	return cmd
}

// toolPackageCommands are the commands that install, check and make packages.
func toolPackageCommands(s *session) []*cobra.Command {
	return []*cobra.Command{
		newToolAdd(s), newToolRemove(s), newToolVerify(s), newToolRollback(s), newToolEnable(s, true), newToolEnable(s, false), newToolPackage(s),
	}
}
