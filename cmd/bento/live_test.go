package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/report/terminal"
)

// TestLiveBlock runs bento in a real terminal of several widths, changes its size while the live block is
// shown, and checks the screen.
func TestLiveBlock(t *testing.T) {
	t.Parallel()
	tmux := needTool(t, "tmux")
	for _, columns := range []int{40, 80, 200} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p := openPane(t, tmux, columns, 24)
			root := p.dir
			write(t, root, "bento.toml", "")
			for _, dish := range []string{"one", "two"} {
				write(t, root, dish+"/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo 構築中 "+strings.Repeat("and on ", 40)+"; until [ -e ../go ]; do sleep 0.05; done\"\n")
			}
			p.start("run build -j 2")
			block := p.until("the block", func(screen []string) bool {
				return len(screen) == 3 && strings.Contains(screen[2], "0/2  2 running") && strings.Contains(screen[0], "構築中") && strings.Contains(screen[1], "構築中")
			})
			for _, line := range block {
				if w := terminal.Width(line); w >= columns {
					t.Errorf("a row of %d columns is %d wide: %q", columns, w, line)
				}
			}
			p.tmux("resize-window", "-t", "pane", "-x", strconv.Itoa(columns*3/4))
			p.until("the block in a narrower window", func(screen []string) bool {
				return len(screen) == 3 && terminal.Width(screen[0]) < columns*3/4 && strings.Contains(screen[2], "0/2")
			})
			write(t, root, "go", "")
			p.until("the end, and nothing of the block", func(screen []string) bool {
				text := strings.Join(screen, "\n")
				return strings.Contains(text, "built     one:build") && strings.Contains(text, "done  2 tasks") && strings.Contains(text, "it has ended") && !strings.Contains(text, "構築中")
			})
		})
	}
}

// TestTerminalCloses: a run ends when its terminal is closed, and so do all processes that it has started.
func TestTerminalCloses(t *testing.T) {
	t.Parallel()
	p := openPane(t, needTool(t, "tmux"), 80, 24)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"(trap '' HUP; sleep 300) & setsid sleep 300 & echo it is up; wait\"\n")
	mark := "LC_BENTO_MARK=" + p.dir
	p.run(fmt.Sprintf("export %s; exec %q run build", mark, builtBento(t)))
	p.untilText("0/1  1 running", "it is up")
	p.tmux("respawn-pane", "-k", "-t", "pane", "exec cat") // closes it and opens another
	if left := leftOf(mark + "\x00"); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	p.run(fmt.Sprintf("%q last; exec cat", builtBento(t)))
	p.untilText("interrupted  bento run build")
}

// needTool returns the path of a tool that the test requires.
func needTool(t *testing.T, name string) string {
	t.Helper()
	if name == "bento" {
		t.Fatal("the tests build bento: use builtBento")
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("BENTO_REQUIRE_TOOLS") != "":
		t.Fatalf("%s is not installed", name)
	default:
		t.Skipf("%s is not installed", name)
	}
	return path
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
