package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/report/terminal"
)

// TestLiveBlock runs bento in a real terminal of several widths, changes its size
// while the block is there, and looks at what is to be seen.
func TestLiveBlock(t *testing.T) {
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

// pane is a terminal of tmux.
type pane struct {
	t            *testing.T
	program, dir string
	socket       string
}

func openPane(t *testing.T, program string, columns, rows int) *pane {
	t.Helper()
	p := &pane{t: t, program: program, dir: t.TempDir()}
	p.socket = filepath.Join(p.dir, "tmux.sock")
	write(t, p.dir, ".git/HEAD", "")
	p.tmux("-f", os.DevNull, "new-session", "-d", "-s", "pane", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec cat")
	t.Cleanup(func() { p.tmux("kill-server") })
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(p.program, append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// start runs bento in the pane.
func (p *pane) start(args string) {
	p.t.Helper()
	bin := needTool(p.t, "bento") // the test binary by another name
	p.tmux("respawn-pane", "-k", "-t", "pane", fmt.Sprintf("cd %q && env -u CI -u NO_COLOR BENTO_CACHE_DIR=%q LC_ALL=C.UTF-8 %q %s; echo it has ended; exec cat", p.dir, filepath.Join(p.t.TempDir(), "cache"), bin, args))
}

// until waits for the lines of the screen, less empty ones at the end, to be as
// expected.
func (p *pane) until(what string, ok func([]string) bool) []string {
	p.t.Helper()
	var screen []string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		text := strings.TrimRight(p.tmux("capture-pane", "-p", "-t", "pane"), "\n ")
		screen = strings.Split(text, "\n")
		if ok(screen) {
			return screen
		}
	}
	p.t.Fatalf("%s does not come; the screen is\n%s", what, strings.Join(screen, "\n"))
	return nil
}

// needTool gives the path of a tool that the test cannot do without.
func needTool(t *testing.T, name string) string {
	t.Helper()
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
