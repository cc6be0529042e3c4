package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the number of columns that help fits in.
const helpWidth = 80

// writeHelp prints the help of a command: the description, examples, usage, commands and flags.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	for i, paragraph := range strings.Split(about, "\n\n") {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, wrapped(paragraph, helpWidth))
	}
	writeUsage(w, cmd)
}

// wrapped breaks a paragraph into lines of at most width columns.
func wrapped(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
	return b.String()
}

// writeUsage prints the help after the description.
func writeUsage(w io.Writer, cmd *cobra.Command) {
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprint(w, "\nUsage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	} else {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	writeCommands(w, cmd)
	general, special := globalFlags(cmd)
	special.AddFlagSet(ownFlags(cmd))
	writeFlags(w, "Flags", special)
	writeFlags(w, "Flags of every command", general)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help prints the help of a command.\n", cmd.CommandPath())
	}
}

// writeCommands lists the commands below cmd by their groups.
func writeCommands(w io.Writer, cmd *cobra.Command) {
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Commands:"}) {
		head := "\n" + g.Title + "\n"
		for _, c := range cmd.Commands() {
			if c.GroupID != g.ID || !c.IsAvailableCommand() && c.Name() != "help" {
				continue
			}
			fmt.Fprintf(w, "%s  %-*s %s\n", head, cmd.NamePadding(), c.Name(), c.Short)
			head = ""
		}
	}
}

func writeFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", title, flags.FlagUsagesWrapped(helpWidth))
	}
}
