//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestToolCrash: at whatever point a bento that installs or removes a package is killed, the installed packages
// are complete, and the same command then succeeds.
func TestToolCrash(t *testing.T) {
	t.Parallel()
	bento := crashing(t)
	for _, c := range []struct {
		name   string
		before [][]string
		args   []string
		after  string // the installed versions, with "*" behind the active one
	}{
		{"first", nil, []string{"add", "1.0.0"}, "1.0.0*"},
		{"second", [][]string{{"add", "1.0.0"}}, []string{"add", "1.1.0"}, "1.1.0* 1.0.0"},
		{"remove", [][]string{{"add", "1.0.0"}, {"add", "1.1.0"}}, []string{"remove", "acme@1.1.0"}, "1.0.0*"},
		{"remove all", [][]string{{"add", "1.0.0"}, {"add", "1.1.0"}}, []string{"remove", "acme"}, ""},
		{"rollback", [][]string{{"add", "1.0.0"}, {"add", "1.1.0"}}, []string{"rollback", "acme"}, "1.1.0 1.0.0*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fresh := func() *toolWorld {
				w := &toolWorld{newWorld(t, bento)}
				for _, args := range c.before {
					w.must(args...)
				}
				return w
			}
			w := fresh()
			log := filepath.Join(w.dir, "log")
			if out, err := w.tool([]string{"BENTO_CRASH_LOG=" + log}, c.args...); err != nil {
				t.Fatal(err, out)
			}
			points, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range choose(t, strings.Count(string(points), "\n")) {
				w := fresh()
				if _, err := w.tool([]string{"BENTO_CRASH_AT=" + strconv.Itoa(k)}, c.args...); err == nil {
					t.Fatalf("not killed at %d", k)
				}
				w.check(k, c.args, c.after)
			}
		})
	}
}

// toolWorld is a workspace with its own data directory, and packages of the tool acme.
type toolWorld struct{ *world }

// tool runs a command of bento tool. "add" takes a version, and tool makes its package.
func (w *toolWorld) tool(env []string, args ...string) (string, error) {
	if args[0] == "add" {
		args = []string{"add", w.source(args[1])}
	}
	env = append(env, "XDG_DATA_HOME="+filepath.Join(w.dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"))
	out, stderr, err := w.run(env, append([]string{"tool"}, args...)...)
	return out + stderr, err
}

func (w *toolWorld) must(args ...string) {
	w.t.Helper()
	if out, err := w.tool(nil, args...); err != nil {
		w.t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// source returns the directory of a program's package.
func (w *toolWorld) source(version string) string {
	dir := filepath.Join(w.dir, "source", version)
	text := fmt.Sprintf(`{"plugin_id": "acme", "plugin_version": %q, "protocol_version": "rterm.plugin.v1", "process": {"command": "bin/run"}, "tools": [{"name": "t"}]}`, version)
	for name, data := range map[string]string{"rterm-plugin.json": text, "bin/run": "#!/bin/sh\n", "lib/a": "a", "lib/b": version} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	return dir
}

// versions returns the installed versions, with "*" after the active one. All must be complete.
func (w *toolWorld) versions() string {
	w.t.Helper()
	out, err := w.tool(nil, "verify", "--json")
	var doc verifiedTools
	if err == nil {
		err = json.Unmarshal([]byte(out), &doc) // fails if the output has a warning, too
	}
	if err != nil {
		w.t.Errorf("verify: %v\n%s", err, out)
	}
	var list []string
	for _, tool := range doc.Tools {
		version := tool.Version
		if tool.Active {
			version += "*"
		}
		list = append(list, version)
	}
	return strings.Join(list, " ")
}

// check checks the installed versions after bento was killed at point k, and runs the command again.
func (w *toolWorld) check(k int, args []string, after string) {
	w.t.Helper()
	if w.versions() != after { // the command had not finished
		w.must(args...)
	}
	if got := w.versions(); got != after {
		w.t.Errorf("killed at %d, and run again: %q, want %q", k, got, after)
	}
	w.must("add", "1.0.0") // each later command removes leftover files
	w.must("remove", "acme")
	if left := w.versions(); left != "" {
		w.t.Errorf("killed at %d: left: %s", k, left)
	}
	if entries, _ := os.ReadDir(filepath.Join(w.dir, "data/bento/tools/.tmp")); len(entries) > 0 {
		w.t.Errorf("killed at %d: left: %v", k, entries)
	}
}
