package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

// manPages is the document of `bento man`.
type manPages struct {
	Schema string   `json:"schema"`
	Dir    string   `json:"dir"`
	Files  []string `json:"files"`
}

func manCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", GroupID: "other",
		Short:   "Write manual pages for every command into DIR",
		Example: "  bento man ~/.local/share/man/man1\n  man bento-run",
		Args:    exactly(1, "bento man requires a directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return s.man(cmd.Root(), args[0]) },
	}
}

func (s *session) man(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return notFound("unusable_directory", fmt.Sprintf("%q cannot be used: %v", dir, err), "name a writable directory")
	}
	pages := manPages{Schema: report.Schema("man"), Dir: dir, Files: []string{}}
	for _, cmd := range append(allCommands(root), root) {
		if !cmd.IsAvailableCommand() && cmd != root {
			continue
		}
		name := manName(cmd) + ".1"
		if err := state.WriteFile(filepath.Join(dir, name), manPage(cmd), 0o644); err != nil {
			return err
		}
		pages.Files = append(pages.Files, name)
	}
	if s.flags.json {
		return report.Write(s.out, pages)
	}
	fmt.Fprintf(s.out, "%s in %s\n", report.Count(len(pages.Files), "page"), report.PrintableLine(dir))
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command in the macros of man(7). The generator of cobra is not used: it
// imports a Markdown parser, whose initialization would slow down every run.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"\" \"bento %s\" bento\n", roff(strings.ToUpper(manName(cmd))), roff(version()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, paragraph := range strings.Split(about, "\n\n") {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(strings.TrimSpace(paragraph)))
	}
	general, special := globalFlags(cmd)
	special.AddFlagSet(ownFlags(cmd))
	manFlags(&b, "OPTIONS", special)
	manFlags(&b, "OPTIONS OF EVERY COMMAND", general)
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, manName(c))
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(also, "(1), ")+"(1)"))
	}
	return b.Bytes()
}

func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if name != "" {
			head += " " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(head), roff(usage))
	})
}

// roff quotes the characters that roff interprets.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
