package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
)

// TestHelp: the help of every command fits in 80 columns and begins with the usage.
func TestHelp(t *testing.T) {
	root := newRoot(&session{process: process{environ: adapters.NewEnviron(nil)}}, "")
	for _, cmd := range append(allCommands(root), root) {
		if cmd.Hidden {
			continue
		}
		var b bytes.Buffer
		writeHelp(&b, cmd)
		text := b.String()
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		if !cmd.HasSubCommands() && !cmd.HasExample() {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		if at := strings.Index(text, "Examples:"); at > strings.Index(text, "Usage:") {
			t.Errorf("%s: examples come after the usage", cmd.CommandPath())
		}
		if cmd.HasParent() && cmd.Parent() == root && cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.CommandPath())
		}
	}
}

// TestCommandsPage: docs/commands.md names every command.
func TestCommandsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(&session{process: process{environ: adapters.NewEnviron(nil)}}, "")
	for _, cmd := range allCommands(root) {
		if !cmd.HasSubCommands() && !cmd.Hidden && !strings.Contains(string(page), cmd.Name()) {
			t.Errorf("docs/commands.md does not mention %s", cmd.CommandPath())
		}
	}
}

// TestOneCommand: the tree for one command line has its command as in the whole tree, and no others.
func TestOneCommand(t *testing.T) {
	for _, c := range commands() {
		whole, one := newRoot(&session{}, ""), newRoot(&session{}, named([]string{c.name}))
		if found, _, err := whole.Find([]string{c.name}); err != nil || found.Name() != c.name {
			t.Errorf("%s: found %v, %v", c.name, found.Name(), err)
		}
		var help [2]strings.Builder
		for i, root := range []*cobra.Command{whole, one} {
			root.SetOut(&help[i])
			root.SetArgs([]string{c.name, "--help"})
			if err := root.Execute(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if diff := cmp.Diff(help[0].String(), help[1].String()); diff != "" || help[0].Len() == 0 {
			t.Errorf("%s: help in the whole tree (-) and alone (+):\n%s", c.name, diff)
		}
		if n := len(one.Commands()); n > 2 { // help is one of the two
			t.Errorf("%s: the tree has %d commands, want no others", c.name, n)
		}
	}
	for _, line := range []string{"", "help", "bento", "man", "completion", "__complete", "-w", "rn"} {
		if only := named([]string{line}); only != "" {
			t.Errorf("%q: found only %q", line, only)
		}
	}
}
