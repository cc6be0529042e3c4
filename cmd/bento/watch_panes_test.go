package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// panesPane opens a terminal of a size with a shell in a workspace for bento watch --ui.
func panesPane(t *testing.T, columns, rows int) *pane {
	t.Helper()
	bash := needTool(t, "bash")
	p := openPane(t, needTool(t, "tmux"), columns, rows)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/in", "good\n")
	write(t, p.dir, "d/hostile", "\x1b]0;evil\a\x1b[2J\x1b[31mred\x1b[0m\x1b[?1049l 世界 e\u0301\n")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n"+
		"[tasks.build]\nrun = \"echo building $(cat in); cat hostile; grep -q good in && echo x >> ../runs\"\ninputs = [\"in\"]\n"+
		"[tasks.long]\nrun = \"seq 300000\"\ninputs = []\n"+
		"[tasks.dev]\npersistent = true\nrun = \"echo serving $$; exec sleep 1000\"\ninputs = []\n")
	p.run("PS1='ready> ' exec " + bash + " --norc -i")
	p.untilText("ready>")
	p.keys("echo what was be''fore", "Enter")
	p.untilText("what was before")
	return p
}

// is returns a variable of the terminal.
func (p *pane) is(name string) string {
	return strings.TrimSpace(p.tmux("display-message", "-p", "-t", "pane", "#{"+name+"}"))
}

// watch starts bento watch --ui.
func (p *pane) watch(args string) {
	p.t.Helper()
	p.keys("stty > before; "+builtBento(p.t)+" watch --ui "+args+"; echo code $?", "Enter")
}

// untilLeft waits for the exit code, and for the terminal to be as before.
func (p *pane) untilLeft(code string) {
	p.t.Helper()
	p.until("the screen as before", func(screen []string) bool {
		all := strings.Join(screen, "\n")
		return strings.Contains(all, "what was before") && strings.Contains(all, "code "+code) && strings.HasSuffix(all, "ready>")
	})
	p.keys("stty > after; cmp before after && echo sa''me mode", "Enter")
	p.untilText("same mode")
	for name, want := range map[string]string{"alternate_on": "0", "cursor_flag": "1", "wrap_flag": "1", "mouse_any_flag": "0"} {
		if got := p.is(name); got != want {
			p.t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// untilPanes waits for the panes of a size: each text in the row of that number, from 1, or from -1 at the end.
func (p *pane) untilPanes(columns, rows int, texts map[int]string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%d×%d %v", columns, rows, texts), func(screen []string) bool {
		if len(screen) != rows || len([]rune(strings.TrimRight(screen[0], " "))) != columns {
			return false
		}
		for row, text := range texts {
			if row < 0 {
				row = rows + 1 + row
			}
			if !strings.Contains(screen[row-1], text) {
				return false
			}
		}
		return true
	})
}

// TestWatchPanes: bento watch --ui shows the tasks beside the log of one, at several sizes, and reacts to keys.
func TestWatchPanes(t *testing.T) {
	t.Parallel()
	t.Run("sizes", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.watch("d:build d:dev d:long")
		small := map[int]string{1: "bento watch d:build d:dev d:long", 2: "> built   d:build       │ d:build  built after", 3: "  serving d:dev         │ building good", 4: "  built   d:long        │ red 世界 e\u0301", -1: "q quit"}
		p.untilPanes(80, 24, small)
		p.tmux("resize-window", "-t", "pane", "-x", "200", "-y", "60")
		p.untilPanes(200, 60, small)
		p.keys("j", "Down")
		p.untilPanes(200, 60, map[int]string{2: "  built   d:build       │ d:long  built after", 4: "> built   d:long        │ 2999", 58: "│ 300000"})
		p.tmux("resize-window", "-t", "pane", "-x", "80", "-y", "24")
		p.untilPanes(80, 24, map[int]string{2: "d:long  built after", 3: "│ 299981", 22: "│ 300000"})
		if title := p.is("pane_title"); title == "evil" || p.is("alternate_on") != "1" {
			t.Errorf("a log has steered the terminal: its title is %q", title)
		}
		p.keys("q")
		p.untilLeft("0")
	})
	t.Run("keys", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.watch("d:build d:dev")
		p.untilText("> built   d:build", "serving d:dev", "building good")
		p.keys("?")
		p.untilText("run the chosen task again, or restart the server", "any key goes back")
		p.keys("x", "r")
		p.until("a second run", func([]string) bool { return p.runs() == 2 })
		p.edit("d/in", "bad\n")
		p.untilText("> FAILED  d:build", "building bad", "1 failed", "exit status 1")
		p.keys("Enter")
		p.until("the log alone", func(screen []string) bool {
			return len(screen) > 2 && strings.HasPrefix(screen[1], "d:build  FAILED") && strings.HasPrefix(screen[2], "building bad")
		})
		p.keys("Escape")
		p.untilText("> FAILED  d:build", "│ building bad")
		p.keys("/", "d", "e", "v", "Enter")
		p.until("the server alone", func(screen []string) bool {
			return len(screen) > 3 && strings.HasPrefix(screen[1], "> serving d:dev") && strings.HasPrefix(screen[2], "      ")
		})
		p.keys("r")
		p.untilText("bento: restart d:dev: on request", "> serving d:dev")
		p.edit("d/in", "good again\n")
		p.keys("Escape")
		p.untilText("built   d:build")
		p.keys("k", "R")
		p.until("a run of all", func([]string) bool { return p.runs() == 4 })
		p.keys("q")
		p.untilLeft("0")
	})
	t.Run("narrow", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 40, 20)
		p.watch("d:build d:long")
		p.untilPanes(40, 20, map[int]string{1: "2 tasks", 2: "> built   d:build", 3: "  built   d:long"})
		p.keys("j", "Enter")
		p.untilPanes(40, 20, map[int]string{2: "d:long  built after", 18: "300000"})
		p.keys("q")
		p.untilLeft("0")
	})
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.watch("d:build")
		p.untilText("> built   d:build")
		p.edit("d/dish.toml", "language = \"none\"\n[tasks.build\n")
		p.keys("m")
		p.untilText("messages of bento", "dish.toml:2")
		p.keys("q")
		p.untilLeft("0")
	})
	t.Run("colours", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.keys("export NO_COLOR=1", "Enter")
		p.watch("d:build")
		p.untilText("> built   d:build", "red 世界 e\u0301")
		if text := p.tmux("capture-pane", "-p", "-e", "-t", "pane"); strings.Contains(text, "\x1b") {
			t.Errorf("with NO_COLOR the screen is %q", text)
		}
		p.keys("q")
		p.untilLeft("0")
	})
}

// TestWatchPanesRestore: the terminal is as before bento watch --ui, however that ends.
func TestWatchPanesRestore(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *pane {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.watch("d:dev")
		p.untilText("> serving d:dev", "│ serving ")
		return p
	}
	t.Run("interrupt", func(t *testing.T) {
		p := open(t)
		p.keys("C-c")
		p.untilLeft("130")
	})
	t.Run("terminate", func(t *testing.T) {
		p := open(t)
		p.signal("TERM", "bento watch")
		p.untilLeft("130")
	})
	t.Run("kill", func(t *testing.T) {
		p := open(t)
		p.signal("KILL", "__keyed watch")
		p.untilLeft("137")
	})
	t.Run("kill the parent", func(t *testing.T) {
		p := open(t)
		p.signal("KILL", "bento watch")
		p.until("the screen as before", func([]string) bool { return p.is("alternate_on") == "0" })
		p.untilLeft("137")
	})
	t.Run("panic", func(t *testing.T) {
		p := open(t)
		p.signal("ABRT", "__keyed watch") // the Go runtime ends the process as in a panic
		p.until("the trace", func(screen []string) bool {
			return strings.Contains(strings.Join(screen, "\n"), "code 2") && p.is("alternate_on") == "0"
		})
		if history := p.tmux("capture-pane", "-p", "-S", "-", "-t", "pane"); !strings.Contains(history, "what was before") || !strings.Contains(history, "SIGABRT: abort") {
			t.Errorf("after a crash the terminal has\n%s", history)
		}
	})
	t.Run("error", func(t *testing.T) {
		t.Parallel()
		p := panesPane(t, 80, 24)
		p.watch("nope")
		p.untilText("no selected dish has a task \"nope\"")
		p.untilLeft("2")
	})
	t.Run("stop", func(t *testing.T) {
		p := open(t)
		p.keys("C-z")
		p.untilText("Stopped", "what was before")
		p.keys("stty > after; cmp before after && echo sa''me mode", "Enter")
		p.untilText("same mode")
		p.keys("fg; echo code $?", "Enter")
		p.untilText("> serving d:dev", "│ serving ")
		p.keys("q")
		p.untilLeft("0")
	})
}

// TestWatchPanesRefused: without a terminal that can show panes, bento watch --ui says so.
func TestWatchPanesRefused(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(builtBento(t), "watch", "build", "--ui")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "needs a terminal") || !strings.Contains(string(out), "leave out --ui") {
		t.Errorf("%v\n%s", err, out)
	}
	p := panesPane(t, 100, 24)
	p.keys("TERM=dumb "+builtBento(t)+" watch build --ui; echo code $?", "Enter")
	p.untilText("cannot draw on a terminal with TERM=\"dumb\"", "code 2")
}
