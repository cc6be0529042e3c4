package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
)

// TestHelp: the help of every command fits in 80 columns and shows how it is used
// before anything else.
func TestHelp(t *testing.T) {
	root := newRoot(&session{process: process{environ: adapters.NewEnviron(nil)}})
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
	root := newRoot(&session{process: process{environ: adapters.NewEnviron(nil)}})
	for _, cmd := range allCommands(root) {
		if !cmd.HasSubCommands() && !cmd.Hidden && !strings.Contains(string(page), cmd.Name()) {
			t.Errorf("docs/commands.md does not mention %s", cmd.CommandPath())
		}
	}
}
