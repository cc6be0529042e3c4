//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// held is a workspace whose only task waits for the test.
type held struct {
	t    *testing.T
	root string
	gate string // a pipe that the task reads until its end
	env  []string
	mark string
}

// twoExtensions writes an extension of each contract, one and acme.ear, below dir, and returns their tables for the
// configuration.
func twoExtensions(t *testing.T, dir string) string {
	t.Helper()
	layExtension(t, dir, "one")
	layEar(t, dir)
	return fmt.Sprintf("[extensions.one]\npath = %q\ngrant = [\"event_bus\"]\nwait = \"5m\"\n"+
		"[extensions.'acme.ear']\npath = %q\ngrant = [\"events.subscribe\", \"notifications.create\"]\nenv = [\"LC_BENTO_MARK\"]\nwait = \"5m\"\n",
		filepath.Join(dir, "one"), filepath.Join(dir, "ear"))
}

func newHeld(t *testing.T, home string) *held {
	t.Helper()
	w := &held{t: t, root: filepath.Join(t.TempDir(), "ws")}
	w.gate = filepath.Join(t.TempDir(), "gate")
	w.mark = "LC_BENTO_MARK=" + w.root
	w.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "GITHUB_ACTIONS=", "BENTO_CACHE_DIR="+filepath.Join(home, "cache"), w.mark)
	if err := syscall.Mkfifo(w.gate, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, w.root, "bento.toml", "")
	write(t, w.root, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"cat '"+w.gate+"'\"\n")
	return w
}

// bento starts bento. The buffer has its output once it has ended.
func (w *held) bento(args ...string) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(builtBento(w.t), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.root, w.env, &said, &said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, &said
}

// run runs bento and returns what it printed.
func (w *held) run(args ...string) string {
	w.t.Helper()
	cmd, said := w.bento(args...)
	if err := cmd.Wait(); err != nil {
		w.t.Fatalf("bento %q: %v\n%s", args, err, said)
	}
	return said.String()
}

// entered waits until the task runs, and returns the file whose close ends the task.
func (w *held) entered() *os.File {
	w.t.Helper()
	f, err := os.OpenFile(w.gate, os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// TestTwoBentosOneExtension: two runs in two workspaces, and a command during a run, each start their own extensions.
// Each extension gets the events of its own run only, once.
func TestTwoBentosOneExtension(t *testing.T) {
	t.Parallel()
	needTool(t, "python3")
	home := t.TempDir()
	write(t, home, ".config/bento/config.toml", twoExtensions(t, home))
	var cmds []*exec.Cmd
	var said []*bytes.Buffer
	all := []*held{newHeld(t, home), newHeld(t, home)}
	for _, w := range all {
		cmd, text := w.bento("run", "build")
		cmds, said = append(cmds, cmd), append(said, text)
	}
	gates := []*os.File{all[0].entered(), all[1].entered()} // both runs are in their tasks
	if out := all[0].run("x", "one"); out != "0 runs\n" {
		t.Errorf("a command beside the run: %q", out)
	}
	for i, w := range all {
		gates[i].Close()
		if err := cmds[i].Wait(); err != nil || strings.Count(said[i].String(), "heard <run.finished>") != 1 || strings.Contains(said[i].String(), "warning") {
			t.Errorf("%v\n%s", err, said[i])
		}
		if left := leftOf(w.mark); len(left) > 0 {
			t.Errorf("left running: %q", left)
		}
		if out := w.run("x", "one"); out != "1 runs\n" {
			t.Errorf("workspace %d: %q", i, out)
		}
		if out := w.run("ext", "audit", "acme.ear"); !strings.Contains(out, "allow host.notifications.toast") {
			t.Errorf("audit of workspace %d: %q", i, out)
		}
	}
}

// TestWorkspaceDeletedUnderExtensions: after a deletion of the workspace, the run ends as without extensions, no
// process is left, and no process creates the workspace again.
func TestWorkspaceDeletedUnderExtensions(t *testing.T) {
	t.Parallel()
	needTool(t, "python3")
	w := newHeld(t, t.TempDir())
	table := twoExtensions(t, filepath.Join(w.root, "tools"))
	write(t, w.root, "bento.toml", strings.ReplaceAll(table, w.root+"/", ""))
	for _, id := range []string{"one", "acme.ear"} {
		w.run("ext", "approve", id)
	}
	cmd, said := w.bento("run", "build")
	gate := w.entered()
	if err := os.RemoveAll(w.root); err != nil {
		t.Fatal(err)
	}
	gate.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "done  1 task: 0 hits, 1 built") || strings.Contains(said.String(), "panic") {
		t.Errorf("%v\n%s", err, said)
	}
	if left := leftOf(w.mark); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	if _, err := os.Lstat(w.root); err == nil {
		t.Error("the workspace is there again")
	}
}
