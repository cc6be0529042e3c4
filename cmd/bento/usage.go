package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/diagnostics"
)

// badFlag returns the error of a flag as a problem.
func badFlag(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return usageError(fmt.Sprintf("--%s %q: expected %s", value.GetFlag().Name, value.GetValue(), expected(value.GetFlag().Value.Type())), "")
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		add := func(f *pflag.Flag) { known = append(known, "--"+f.Name) }
		cmd.Flags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		hint := "see " + cmd.CommandPath() + " --help"
		if near := diagnostics.Nearest("--"+unknown.GetSpecifiedName(), known); len(near) > 0 {
			hint = diagnostics.Suggest("--"+unknown.GetSpecifiedName(), near)
		}
		return usageError(err.Error(), hint)
	}
	return usageError(err.Error(), "see "+cmd.CommandPath()+" --help")
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

// badUsage returns cobra's error of a command line as a problem.
func badUsage(root *cobra.Command, err error) error {
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
			default:
				hint = nearCommands(cmd, name)
			}
		}
	}
	return usageError(err.Error(), hint)
}

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
