package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pane is a terminal of tmux.
type pane struct {
	t            *testing.T
	program, dir string
	socket       string
	fifo         string
	output       chan struct{} // receives after output to the terminal
}

func openPane(t *testing.T, program string, columns, rows int) *pane {
	t.Helper()
	p := &pane{t: t, program: program, dir: t.TempDir(), output: make(chan struct{}, 1)}
	p.socket, p.fifo = filepath.Join(p.dir, "tmux.sock"), filepath.Join(p.dir, "output")
	write(t, p.dir, ".git/HEAD", "")
	if err := syscall.Mkfifo(p.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	go p.listen(f)
	t.Cleanup(func() { f.Close() })
	p.tmux("-f", os.DevNull, "new-session", "-d", "-s", "pane", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec cat")
	t.Cleanup(func() { p.tmux("kill-server") })
	// The output of an ended process stays visible, and its end does not end the server.
	p.tmux("set-option", "-g", "remain-on-exit", "on")
	return p
}

// listen signals output until f is closed.
func (p *pane) listen(f *os.File) {
	buf := make([]byte, 32<<10)
	for {
		if _, err := f.Read(buf); err != nil {
			return
		}
		select {
		case p.output <- struct{}{}:
		default:
		}
	}
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
	bin := builtBento(p.t)
	p.run(fmt.Sprintf("%q %s; echo it has ended; exec cat", bin, args))
}

// run runs a shell command in the pane.
func (p *pane) run(command string) {
	p.t.Helper()
	p.tmux("respawn-pane", "-k", "-t", "pane", fmt.Sprintf("cd %q && export BENTO_CACHE_DIR=%q LC_ALL=C.UTF-8; unset CI NO_COLOR; %s", p.dir, filepath.Join(p.t.TempDir(), "cache"), command))
	p.tmux("pipe-pane", "-O", "-t", "pane", fmt.Sprintf("exec cat > %q", p.fifo))
}

// keys presses keys.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "-t", "pane"}, keys...)...)
}

// until waits until ok accepts the lines of the screen, without empty lines at the end.
func (p *pane) until(what string, ok func([]string) bool) []string {
	p.t.Helper()
	late := time.After(5 * time.Minute)
	for {
		text := strings.TrimRight(p.tmux("capture-pane", "-p", "-t", "pane"), "\n ")
		screen := strings.Split(text, "\n")
		if ok(screen) {
			return screen
		}
		select {
		case <-p.output:
		case <-time.After(time.Second): // the output may have ended before the state of the terminal was read
		case <-late:
			p.t.Fatalf("%s does not come; the screen is\n%s", what, text)
		}
	}
}

// untilText waits until all texts are on the screen.
func (p *pane) untilText(texts ...string) {
	p.t.Helper()
	p.until(strings.Join(texts, ", "), func(screen []string) bool {
		all := strings.Join(screen, "\n")
		for _, text := range texts {
			if !strings.Contains(all, text) {
				return false
			}
		}
		return true
	})
}

// untilCount waits until a text is n times on the screen.
func (p *pane) untilCount(text string, n int) {
	p.t.Helper()
	p.until(fmt.Sprintf("%d times %q", n, text), func(screen []string) bool { return strings.Count(strings.Join(screen, "\n"), text) == n })
}

// signal sends a signal to the process below the pane's shell whose command line contains line.
func (p *pane) signal(sig, line string) {
	p.t.Helper()
	shell := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "pane", "#{pane_pid}"))
	for pids := []string{shell}; len(pids) > 0; pids = pids[1:] {
		args, _ := os.ReadFile("/proc/" + pids[0] + "/cmdline")
		if strings.Contains(strings.ReplaceAll(string(args), "\x00", " "), line) {
			pid, _ := strconv.Atoi(pids[0])
			if err := exec.Command("kill", "-"+sig, strconv.Itoa(pid)).Run(); err != nil {
				p.t.Fatal(err)
			}
			return
		}
		children, _ := filepath.Glob("/proc/" + pids[0] + "/task/*/children")
		for _, file := range children {
			text, _ := os.ReadFile(file)
			pids = append(pids, strings.Fields(string(text))...)
		}
	}
	p.t.Fatalf("no process of %s is %q", shell, line)
}
