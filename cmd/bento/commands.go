package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
)

// subcommand is a command of bento that does not need the tree of all commands.
type subcommand struct {
	name string
	make func(*session) *cobra.Command
}

// commands returns the commands of bento, without those that need the tree of all commands.
func commands() []subcommand {
	list := []subcommand{{"run", runCommand}, {"ci", ciCommand}, {"watch", watchCommand}, {"verify", verifyCommand}, {"install", installCommand}}
	for _, task := range adapters.Lifecycle() {
		list = append(list, subcommand{task, func(s *session) *cobra.Command { return lifecycleCommand(s, task) }})
	}
	return append(list, []subcommand{
		{"plan", planCommand}, {"why", whyCommand}, {"graph", graphCommand}, {"query", queryCommand}, {"dishes", dishesCommand}, {"tasks", tasksCommand}, {"owners", ownersCommand},
		{"last", lastCommand}, {"logs", logsCommand}, {"artifacts", artifactsCommand}, {"explain", explainCommand}, {"x", xCommand}, {"ui", uiCommand},
		{"init", initCommand}, {"new", newCommand}, {"prune", subsetCommand}, {"add", addCommand}, {"dish", dishCommand}, {"box", boxCommand}, {"toolchain", toolchainCommand}, {"container", containerCommand}, {"shell", shellCommand},
		{"doctor", doctorCommand}, {"clean", cleanCommand}, {"cache", cacheCommand}, {"plugin", pluginCommand}, {"tool", toolCommand},
		{"ext", extCommand}, {"mcp", mcpCommand}, {"schema", schemaCommand}, {"version", versionCommand}, {"self", selfCommand},
	}...)
}

// addCommands adds the command called only to the root, or all if only is "". A run needs one command.
// To define the flags of the others would be most of the work of bento's start.
func (s *session) addCommands(root *cobra.Command, only string) {
	for _, c := range commands() {
		if only == "" || c.name == only {
			root.AddCommand(c.make(s))
		}
	}
	if only == "" {
		root.AddCommand(completionCommand(), manCommand(s))
	}
	root.CompletionOptions.DisableDefaultCmd = only != ""
}

// named returns the one command that the line needs, "" if it may need them all.
func named(args []string) string {
	if len(args) > 0 && slices.ContainsFunc(commands(), func(c subcommand) bool { return c.name == args[0] }) {
		return args[0]
	}
	return ""
}
