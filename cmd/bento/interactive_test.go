package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInteractive: an interactive task has the terminal to itself, Ctrl-C and Ctrl-Z
// included, and returns it unchanged.
func TestInteractive(t *testing.T) {
	t.Parallel()
	tmux, bash, bin := needTool(t, "tmux"), needTool(t, "bash"), builtBento(t)
	open := func(t *testing.T) *pane {
		t.Parallel()
		p := openPane(t, tmux, 100, 30)
		write(t, p.dir, "bento.toml", "")
		write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.ask]\ninteractive = true\n"+
			"run = \"stty -echo; echo your name?; read x; echo hello $x of $(tty)\"\n"+
			"[tasks.deaf]\ninteractive = true\nrun = \"trap 'echo not me' INT; echo deaf; read x; echo went on with $x\"\n"+
			"[tasks.pausing]\ninteractive = true\nrun = \"trap 'echo going on' CONT; echo your name?; until read x; do :; done; echo hello $x\"\n"+
			"[tasks.after]\nrun = \"echo after > ../after\"\ndepends_on = [\"ask\"]\n")
		p.run("PS1='ready> ' exec " + bash + " --norc -i")
		p.untilText("ready>")
		return p
	}
	t.Run("answer", func(t *testing.T) {
		p := open(t)
		p.keys(bin+" run d:after", "Enter")
		p.untilText("your name?")
		p.keys("bob", "Enter")
		p.untilText("hello bob of /dev/pts", "built     d:after", "2 tasks: 0 hits, 2 built")
		p.until("the prompt", func(screen []string) bool { return screen[len(screen)-1] == "ready>" })
		p.keys("echo e''cho is on", "Enter") // the terminal echoes again
		p.untilText("ready> echo e''cho is on", "\necho is on")
	})
	t.Run("interrupt", func(t *testing.T) {
		p := open(t)
		p.keys(bin+" run d:after; echo code $?", "Enter")
		p.untilText("your name?")
		p.keys("C-c")
		p.untilText("interrupted  2 tasks", "code 130")
	})
	t.Run("own interrupt", func(t *testing.T) {
		p := open(t)
		p.keys(bin+" run d:deaf; echo code $?", "Enter")
		p.untilText("\ndeaf")
		p.keys("C-c")
		p.untilText("not me")
		p.keys("it", "Enter")
		p.until("the end", func(screen []string) bool {
			text := strings.Join(screen, "\n")
			return strings.Contains(text, "code 0") && strings.Contains(text, "1 built")
		})
	})
	t.Run("background", func(t *testing.T) {
		p := open(t)
		p.keys(bin+" run d:ask --output full & wait $!; echo code $?", "Enter")
		p.untilText("hello of not a tty", "code 0") // the shell has the terminal: bento is in the background
	})
	t.Run("not started", func(t *testing.T) {
		p := open(t)
		write(t, p.dir, "c/dish.toml", "language = \"none\"\n[tasks.broken]\ninteractive = true\nrun = [\"./broken\"]\n")
		write(t, p.dir, "c/broken", "#!/no/such/interpreter\n")
		if err := os.Chmod(filepath.Join(p.dir, "c", "broken"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, p.dir, "e/dish.toml", "language = \"none\"\n[tasks.wait]\nrun = \"sleep 600\"\n")
		p.keys(bin+" run c:broken e:wait --keep-going -j 1; echo code $?", "Enter")
		p.untilText("FAILED    c:broken", "1 running")
		p.keys("C-c") // reaches bento, which has the terminal again
		p.untilText("code 130")
	})
	t.Run("stop", func(t *testing.T) {
		p := open(t)
		p.keys(bin+" run d:pausing", "Enter")
		p.untilText("your name?")
		p.keys("C-z")
		p.untilText("Stopped")
		p.keys("fg", "Enter")
		p.untilText("\ngoing on")
		p.keys("eve", "Enter")
		p.untilText("hello eve", "1 built")
	})
}
