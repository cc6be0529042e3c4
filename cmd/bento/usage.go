package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
)

// badFlag converts the error of a flag to a problem.
func badFlag(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return usageError(fmt.Sprintf("--%s %q: expected %s", value.GetFlag().Name, value.GetValue(), expected(value.GetFlag().Value.Type())), "")
	}
	var unknown *pflag.NotExistError
	hint := "see " + cmd.CommandPath() + " --help"
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		add := func(f *pflag.Flag) { known = append(known, "--"+f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		name := "--" + unknown.GetSpecifiedName()
		if other := flagFor(name); slices.Contains(known, other) {
			hint = "did you mean " + strconv.Quote(other) + "?"
		} else if near := diagnostics.Nearest(name, known); len(near) > 0 {
			hint = diagnostics.Suggest(name, near)
		} else if name == "--watch" {
			hint = "bento watch runs tasks again after each change of their inputs"
		}
	}
	return usageError(err.Error(), hint)
}

// flagFor returns the flag of bento for a flag of other build tools, "" if there is none.
func flagFor(name string) string {
	switch name {
	case "--project", "--projects", "--package", "--scope":
		return "--dish"
	case "--concurrency", "--parallel", "--max-parallel", "--max-workers", "--workers":
		return "--jobs"
	case "--base", "--changed", "--ref":
		return "--since"
	case "--skip-cache", "--skip-nx-cache", "--rerun", "--update-cache":
		return "--force"
	case "--continue", "--continue-on-error", "--no-bail":
		return "--keep-going"
	case "--output-logs", "--output-style", "--log":
		return "--output"
	case "--ignore", "--skip":
		return "--exclude"
	case "--cwd", "--root":
		return "--workspace"
	}
	return ""
}

func expected(kind string) string {
	switch kind {
	case "int", "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

// badUsage converts cobra's error of a command line to a problem.
func (s *session) badUsage(root *cobra.Command, err error) error {
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		return err
	}
	hint := ""
	if text, found := strings.CutPrefix(err.Error(), "unknown command "); found {
		for _, cmd := range append(allCommands(root), root) {
			quoted, ok := strings.CutSuffix(text, " for "+strconv.Quote(cmd.CommandPath()))
			switch name, _ := strconv.Unquote(quoted); {
			case !ok:
			case !cmd.HasAvailableSubCommands():
				return usageError(fmt.Sprintf("%s takes no argument such as %q", cmd.CommandPath(), name), "see "+cmd.CommandPath()+" --help")
			case cmd == root && s.standsFor(name) != "":
				hint = s.standsFor(name)
			default:
				hint = nearCommands(cmd, name)
			}
		}
	}
	return usageError(err.Error(), hint)
}

// standsFor returns a hint for a command that bento does not have: the commands that run the tasks of that
// name, or the equivalent command of bento. It returns "" if there are none.
func (s *session) standsFor(name string) string {
	var ids []string
	for _, d := range s.names().Dishes {
		if slices.Contains(d.Tasks, name) {
			ids = append(ids, "bento run "+d.Name+":"+name)
		}
	}
	switch {
	case len(ids) > 0:
		return report.PrintableLine(strings.Join(ids[:min(len(ids), maxCandidates)], " or ")) + " runs the task; bento watch repeats it after changes"
	case slices.Contains([]string{"serve", "dev", "start", "preview"}, name):
		return "bento run DISH:TASK runs a server, bento watch DISH:TASK restarts it after changes; bento tasks lists the tasks"
	case name == "list", name == "ls", name == "projects":
		return "bento dishes and bento tasks list the dishes and their tasks"
	case name == "affected":
		return "bento plan --affected lists the tasks that changes concern, bento ci --affected runs them"
	}
	return ""
}

// maxCandidates is the maximal number of commands that a hint names.
const maxCandidates = 3

// nearCommands returns a hint with the commands of cmd that are near to name.
func nearCommands(cmd *cobra.Command, name string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if hint := diagnostics.Suggest(name, names); hint != "" {
		return hint
	}
	return cmd.CommandPath() + " --help lists them"
}
