package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// watchPane opens a terminal with a shell in a workspace for bento watch.
func watchPane(t *testing.T, columns int) *pane {
	t.Helper()
	bash := needTool(t, "bash")
	p := openPane(t, needTool(t, "tmux"), columns, 30)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/in", "good\n")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n"+
		"[tasks.build]\nrun = \"echo building $(cat in); grep -q good in && echo x >> ../runs\"\ninputs = [\"in\"]\n"+
		"[tasks.slow]\nrun = \"echo it is slow; until [ -e ../go ]; do sleep 0.05; done\"\ninputs = [\"in\"]\n"+
		"[tasks.dev]\npersistent = true\nrun = \"echo serving; exec sleep 1000\"\ninputs = []\n")
	p.run("PS1='ready> ' exec " + bash + " --norc -i")
	p.untilText("ready>")
	return p
}

// begin types a command line.
func (p *pane) begin(args string) {
	p.t.Helper()
	p.keys("clear; stty > before; "+builtBento(p.t)+" "+args+"; echo code $?", "Enter")
}

// untilRestored waits for the exit code, and then for the terminal mode to be as before.
func (p *pane) untilRestored(code string) {
	p.t.Helper()
	p.untilText("code "+code, "ready>")
	p.keys("stty > after; cmp before after && echo sa''me mode", "Enter")
	p.untilText("same mode")
}

// edit replaces a file atomically: no watcher reads half of it.
func (p *pane) edit(name, text string) {
	p.t.Helper()
	write(p.t, p.dir, name+".new", text)
	if err := os.Rename(filepath.Join(p.dir, name+".new"), filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// runs returns the number of successes of d:build.
func (p *pane) runs() int {
	data, _ := os.ReadFile(filepath.Join(p.dir, "runs"))
	return strings.Count(string(data), "x")
}

const waits = "waiting for changes"

// TestWatchKeys: bento watch at a terminal shows what it waits for, and reacts to keys.
func TestWatchKeys(t *testing.T) {
	t.Parallel()
	t.Run("keys", func(t *testing.T) {
		t.Parallel()
		p := watchPane(t, 100)
		p.begin("watch d:build")
		p.untilText("built     d:build", waits+", 1 task", "Enter runs all again, f what failed, l shows the last log, q ends")
		p.keys("l")
		p.untilText("the log of d:build: ", "building good", waits)
		p.keys("f")
		p.untilText("no task has failed", waits)
		if n := p.runs(); n != 1 {
			t.Errorf("f has run %d tasks that had not failed", n-1)
		}
		p.keys("Enter")
		p.untilCount("built     d:build", 2)
		p.edit("d/in", "bad\n")
		p.untilText("FAILED    d:build", waits+", 1 task, 1 failed")
		p.keys("f")
		p.untilCount("FAILED    d:build", 2)
		p.edit("d/in", "good again\n")
		p.untilCount("built     d:build", 3)
		p.untilText(waits)
		p.untilText("the log of d:build: ") // earlier output stays visible
		p.keys("q")
		p.untilRestored("0")
	})
	t.Run("running", func(t *testing.T) {
		t.Parallel()
		p := watchPane(t, 100)
		p.begin("watch d:slow d:dev")
		p.untilText("it is slow", "0/1  1 running")
		p.keys("l") // no task has ended yet
		p.untilText("no task has ended yet", "0/1  1 running")
		p.keys("f")
		write(t, p.dir, "go", "")
		p.untilText("built     d:slow", "no task has failed", "d:dev | serving", waits+", 2 tasks, 1 server running")
		p.keys("l")
		p.untilText("the log of d:dev: ", "\nserving", waits)
		p.keys("q")
		p.untilText("stopped   d:dev  after ")
		p.untilRestored("0")
	})
	t.Run("narrow", func(t *testing.T) {
		t.Parallel()
		p := watchPane(t, 20)
		p.begin("watch d:build")
		p.until("the block", func(screen []string) bool {
			n := len(screen)
			return n > 2 && screen[n-1] == "  Enter f l q" && strings.HasPrefix(screen[n-2], "  waiting for") && len([]rune(screen[n-2])) < 20
		})
		p.keys("q")
		p.untilRestored("0")
	})
	t.Run("early", func(t *testing.T) {
		t.Parallel()
		p := watchPane(t, 100)
		p.keys("clear; stty > before; read -t 1 -p 'typing> '; "+builtBento(t)+" watch d:slow; echo code $?", "Enter")
		p.untilText("typing>")
		p.keys("Enter", "f", "l", "x", "Up", "q") // before the first run
		p.untilRestored("0")
	})
}

// TestWatchRestores: the terminal has its old mode again after bento watch, however it ends.
func TestWatchRestores(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, args string) *pane {
		t.Parallel()
		p := watchPane(t, 100)
		p.begin(args)
		return p
	}
	t.Run("interrupt", func(t *testing.T) {
		p := open(t, "watch d:dev")
		p.untilText("d:dev | serving", waits)
		p.keys("C-c")
		p.untilText("stopped   d:dev")
		p.untilRestored("130")
	})
	t.Run("terminate", func(t *testing.T) {
		p := open(t, "watch d:slow & fg")
		p.untilText("it is slow", "1 running")
		p.signal("TERM", "bento watch")
		p.untilRestored("130")
	})
	t.Run("kill", func(t *testing.T) {
		p := open(t, "watch d:dev")
		p.untilText("d:dev | serving", waits)
		p.signal("KILL", "__keyed watch")
		p.untilRestored("137")
	})
	t.Run("panic", func(t *testing.T) {
		p := open(t, "watch d:dev")
		p.untilText("d:dev | serving", waits)
		p.signal("ABRT", "__keyed watch") // the Go runtime ends the process as in a panic
		p.untilRestored("2")
	})
	t.Run("error", func(t *testing.T) {
		p := open(t, "watch nope")
		p.untilRestored("2")
	})
	t.Run("stop", func(t *testing.T) {
		p := open(t, "watch d:build")
		p.untilText("built     d:build", waits)
		p.keys("C-z")
		p.untilText("Stopped")
		p.keys("stty > after; cmp before after && echo sa''me mode", "Enter")
		p.untilText("same mode")
		p.keys("fg; echo code $?", "Enter")
		p.until("the block again", func(screen []string) bool { return strings.Contains(screen[len(screen)-1], "q ends") })
		p.keys("Enter")
		p.untilCount("built     d:build", 2)
		p.keys("q")
		p.untilRestored("0")
	})
}

// TestWatchNoKeys: without a terminal as stdin, bento watch draws no line for keys and reads no key.
func TestWatchNoKeys(t *testing.T) {
	t.Parallel()
	p := watchPane(t, 100)
	p.begin("watch d:build < /dev/null")
	p.untilText("built     d:build", "bento: watching; Ctrl-C ends it")
	p.keys("q", "l", "C-c")
	p.untilText("code 130")
	if text := strings.Join(p.until("the end", func([]string) bool { return true }), "\n"); strings.Contains(text, waits) || strings.Contains(text, "the log of") {
		t.Errorf("the screen is\n%s", text)
	}
}
