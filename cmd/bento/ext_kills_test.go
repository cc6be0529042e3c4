//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/plugin/scaffold"
)

// layExtension writes a new extension of ainb v2 below dir.
func layExtension(t *testing.T, dir, id string) {
	t.Helper()
	files, err := scaffold.Extension(id, "python", scaffold.SDK{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		write(t, dir, filepath.Join(id, f.Path), f.Text)
	}
	if err := os.Chmod(filepath.Join(dir, id, id), 0o755); err != nil {
		t.Fatal(err)
	}
}

// layEar writes the extension acme.ear of SEP v1 of the script ext_hears below dir.
func layEar(t *testing.T, dir string) {
	t.Helper()
	script, err := txtar.ParseFile(filepath.Join("testdata", "script", "ext_hears.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range script.Files {
		if filepath.Dir(f.Name) == "tools/ear" {
			write(t, dir, filepath.Join("ear", filepath.Base(f.Name)), string(f.Data))
		}
	}
}

// fourExtensions writes a workspace with four extensions of the user: two that get the events of runs, a
// sidecar, and one that never answers, forks, and ignores SIGTERM. It returns bento's environment.
func fourExtensions(t *testing.T, root, mark string) []string {
	t.Helper()
	home := t.TempDir()
	config := ""
	for _, id := range []string{"one", "two"} {
		layExtension(t, home, id)
		config += fmt.Sprintf("[extensions.%s]\npath = %q\ngrant = [\"event_bus\"]\n", id, filepath.Join(home, id))
	}
	layEar(t, home)
	config += fmt.Sprintf("[extensions.'acme.ear']\npath = %q\ngrant = [\"events.subscribe\"]\nenv = [\"LC_BENTO_MARK\"]\n", filepath.Join(home, "ear"))
	write(t, home, "stuck/manifest.toml", "[plugin]\nname = \"stuck\"\nversion = \"1.0.0\"\nabi_version = 2\n[lifecycle]\nspawn = \"eager\"\n")
	write(t, home, "stuck/stuck", "#!/bin/sh\ntrap '' TERM INT HUP\nsleep 300 &\n(setsid sleep 300; true) &\nwhile :; do sleep 1; done\n")
	config += fmt.Sprintf("[extensions.stuck]\npath = %q\n", filepath.Join(home, "stuck"))
	if err := os.Chmod(filepath.Join(home, "stuck/stuck"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, home, ".config/bento/config.toml", config)
	write(t, root, "bento.toml", "")
	for i := range 3 {
		write(t, root, fmt.Sprintf("d%d/dish.toml", i), "language = \"none\"\n[tasks.build]\nrun = \"sleep 0.1; echo built\"\n")
	}
	// A killed bento leaves the directories of its sockets, which a later bento removes. So they must not be
	// in the shared directory of temporary files.
	return append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR="+t.TempDir(),
		"BENTO_CACHE_DIR="+filepath.Join(home, "cache"), mark)
}

// TestExtensionsEndWithBento: no process of an extension is left after bento has exited, or was killed at any
// moment.
func TestExtensionsEndWithBento(t *testing.T) {
	t.Parallel()
	needTool(t, "python3")
	kills := 4
	if s := os.Getenv(killCount); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s=%q: not a number", killCount, s)
		}
	}
	root := t.TempDir()
	mark := "LC_BENTO_MARK=" + root
	env := fourExtensions(t, root, mark)
	start := func() *exec.Cmd {
		cmd := exec.Command(builtBento(t), "run", "build", "--force", "-j1")
		cmd.Dir, cmd.Env = root, env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	began := time.Now()
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	if left := leftOf(mark); len(left) > 0 {
		t.Fatalf("left running: %q", left)
	}
	random := sampling.Rand(t)
	for n := range kills {
		cmd := start()
		time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		if left := leftOf(mark); len(left) > 0 {
			t.Fatalf("killed for the %dth time: left running: %q", n+1, left)
		}
	}
}
