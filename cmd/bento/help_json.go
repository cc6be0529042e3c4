package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/internal/report"
)

// helpDoc is the document of `bento help --json`.
type helpDoc struct {
	Schema    string        `json:"schema"`
	Commands  []commandHelp `json:"commands"` // with help COMMAND only those of it
	Flags     []helpFlag    `json:"flags"`    // those of every command
	ExitCodes []helpExit    `json:"exit_codes"`
}

type commandHelp struct {
	Name     string     `json:"name"` // with its parents, as in "dish add"
	Usage    string     `json:"usage"`
	About    string     `json:"about"`
	Examples string     `json:"examples,omitempty"`
	ReadOnly bool       `json:"read_only"` // without flags that make it change something
	Flags    []helpFlag `json:"flags"`     // its own, and those of every command that have an effect on it
}

type helpFlag struct {
	Name    string `json:"name"`
	Short   string `json:"short,omitempty"`
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	About   string `json:"about"`
}

type helpExit struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// writeHelpDoc prints the help of a command, and of those below it, as a document.
func writeHelpDoc(w io.Writer, about *cobra.Command) error {
	doc := helpDoc{Schema: report.Schema("help"), Commands: []commandHelp{}, Flags: []helpFlag{}, ExitCodes: []helpExit{
		{exitOK, "success"}, {exitTask, "a task or an install failed"}, {exitInput, "the input is wrong: configuration, a name, a missing tool; nothing ran"},
		{exitFault, "bento, a plugin or the machine failed"}, {exitInterrupted, "interrupted"},
	}}
	general, _ := globalFlags(about)
	general.VisitAll(func(f *pflag.Flag) { doc.Flags = append(doc.Flags, helpOf(f)) })
	doc.add(about)
	return report.Write(w, doc)
}

// add adds a command and those below it.
func (doc *helpDoc) add(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			doc.add(c)
		}
	}
	if cmd.HasAvailableSubCommands() {
		return
	}
	row := commandHelp{
		Name: cmd.CommandPath()[len("bento "):], Usage: cmd.UseLine(), About: cmd.Long, Examples: cmd.Example, ReadOnly: traitsOf(cmd).Reads, Flags: []helpFlag{},
	}
	if row.About == "" {
		row.About = cmd.Short
	}
	add := func(f *pflag.Flag) { row.Flags = append(row.Flags, helpOf(f)) }
	ownFlags(cmd).VisitAll(add)
	_, special := globalFlags(cmd)
	special.VisitAll(add)
	doc.Commands = append(doc.Commands, row)
}

func helpOf(f *pflag.Flag) helpFlag {
	name, about := pflag.UnquoteUsage(f)
	if name == "" {
		name = f.Value.Type()
	}
	h := helpFlag{Name: "--" + f.Name, Type: name, About: about}
	if f.Shorthand != "" {
		h.Short = "-" + f.Shorthand
	}
	if f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		h.Default = f.DefValue
	}
	return h
}
