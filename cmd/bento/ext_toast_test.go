//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestToastAboveTheBlock: during a run, bento prints the message of an extension as a line above the live block. The
// line stays when bento removes the block.
func TestToastAboveTheBlock(t *testing.T) {
	t.Parallel()
	needTool(t, "python3")
	p := openPane(t, needTool(t, "tmux"), 80, 24)
	home := t.TempDir()
	layEar(t, home)
	path := filepath.Join(home, "ear", "ear.py")
	ear, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const last = `p["event"] == "run.finished"`
	if !strings.Contains(string(ear), last) {
		t.Fatalf("the extension has no %s:\n%s", last, ear)
	}
	write(t, home, "ear/ear.py", strings.Replace(string(ear), last, `p["event"] == "task.started"`, 1))
	write(t, home, ".config/bento/config.toml", "[extensions.'acme.ear']\npath = '"+filepath.Join(home, "ear")+"'\ngrant = [\"events.subscribe\", \"notifications.create\"]\nwait = \"5m\"\n")
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo it works; until [ -e ../go ]; do sleep 0.05; done\"\n")
	p.run("export HOME='" + home + "' XDG_CONFIG_HOME= XDG_STATE_HOME= GITHUB_ACTIONS=; '" + builtBento(t) + "' run build; echo it has ended; exec cat")
	const toast = "bento: acme.ear: heard <run.finished>"
	p.until("the message above the block", func(screen []string) bool {
		if len(screen) != 4 || !slices.Contains(screen[:2], toast) || !slices.Contains(screen[:2], "it works") { // what one task prints is above the block, too
			return false
		}
		return strings.Contains(screen[2], "d:build") && strings.Contains(screen[3], "0/1  1 running")
	})
	write(t, p.dir, "go", "")
	p.until("the end, and nothing of the block", func(screen []string) bool {
		text := strings.Join(screen, "\n")
		return slices.Contains(screen, toast) && strings.Contains(text, "built     d:build") && strings.Contains(text, "it has ended") && !strings.Contains(text, "running")
	})
}
