package main

import (
	"strings"
	"testing"
)

// TestTerminalOutput: the output of a task can only show text on a terminal. Lines of bento have colours
// by default.
func TestTerminalOutput(t *testing.T) {
	p := openPane(t, needTool(t, "tmux"), 80, 24)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.bad]\n"+
		`run = "printf 'first\\033[2J\\033[1;1H\\033]0;title\\007\\033[31mred\\000\\377 last\\n'; exit 1"`+"\n")
	for _, mode := range []string{"grouped", "stream", "full"} {
		p.start("run bad --output " + mode)
		screen := p.until("the end", func(screen []string) bool { return strings.Contains(strings.Join(screen, "\n"), "it has ended") })
		if text := strings.Join(screen, "\n"); !strings.Contains(text, "firstred� last") || !strings.Contains(text, "FAILED    d:bad") {
			t.Errorf("%s: the screen is\n%s", mode, text)
		}
		if coloured := p.tmux("capture-pane", "-e", "-p", "-t", "pane"); !strings.Contains(coloured, "d:bad \x1b[31mfailed\x1b[39m: exit status 1") {
			t.Errorf("%s: failed is not red: %q", mode, coloured)
		}
		if title := p.tmux("display-message", "-p", "-t", "pane", "#{pane_title}"); strings.Contains(title, "title") {
			t.Errorf("%s: the title was changed", mode)
		}
	}
	p.start("last d:bad")
	p.untilText("firstred� last", "it has ended")
}
