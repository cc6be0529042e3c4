//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPluginAddCrash: at whatever point a bento that adds or updates a plugin is killed, each installed version
// is complete and the lock file has the digest of one version or none. The same command then succeeds.
func TestPluginAddCrash(t *testing.T) {
	t.Parallel()
	bento := crashing(t)
	for name, args := range map[string][]string{
		"add": {"add", "acme@=1.0.0", "--from", "dist"}, "update": {"update", "acme"}, "remove": {"remove", "acme@1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := func() *pluginWorld {
				w := newPluginWorld(t, newWorld(t, bento))
				if name != "add" {
					w.must("add", "acme@=1.0.0", "--from", "dist")
				}
				return w
			}
			w := fresh()
			log := filepath.Join(w.dir, "log")
			if out, err := w.plugin([]string{"BENTO_CRASH_LOG=" + log}, args...); err != nil {
				t.Fatal(err, out)
			}
			want := w.state()
			points, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range choose(t, strings.Count(string(points), "\n")) {
				w := fresh()
				before := w.state()
				if _, err := w.plugin([]string{"BENTO_CRASH_AT=" + strconv.Itoa(k)}, args...); err == nil {
					t.Fatalf("not killed at %d", k)
				}
				if got := w.state(); got != want {
					if name == "remove" && !strings.Contains(got, "1.0.0") && strings.Contains(before, "1.0.0") {
						continue // it is removed, but the state file may still name it
					}
					w.must(args...)
				}
				if got := w.state(); got != want {
					t.Errorf("killed at %d, and run again: %q, want %q", k, got, want)
				}
			}
		})
	}
}

// pluginWorld is a workspace with its own data directory, and two versions of the plugin acme in dist.
type pluginWorld struct{ *world }

func newPluginWorld(t *testing.T, in *world) *pluginWorld {
	w := &pluginWorld{in}
	if err := os.MkdirAll(filepath.Join(w.dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		file := filepath.Join(w.dir, "bento-adapter-acme")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n# "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.must("publish", file, "--version", version, "--to", filepath.Join(w.dir, "dist"))
	}
	return w
}

func (w *pluginWorld) plugin(env []string, args ...string) (string, error) {
	args = slices.Clone(args)
	if n := len(args); args[n-1] == "dist" {
		args[n-1] = filepath.Join(w.dir, "dist")
	}
	env = append(env, "XDG_DATA_HOME="+filepath.Join(w.dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"))
	out, stderr, err := w.run(env, append([]string{"plugin"}, args...)...)
	return out + stderr, err
}

func (w *pluginWorld) must(args ...string) {
	w.t.Helper()
	if out, err := w.plugin(nil, args...); err != nil {
		w.t.Fatalf("%s: %v\n%s", args, err, out)
	}
}

// state returns the installed versions, with "locked" after the version whose digest is pinned. It checks that
// each is complete.
func (w *pluginWorld) state() string {
	w.t.Helper()
	lock, _ := os.ReadFile(filepath.Join(w.dir, "bento.plugins.lock"))
	dirs, _ := filepath.Glob(filepath.Join(w.dir, "data/bento/plugins/acme/*"))
	var list []string
	for _, dir := range dirs {
		version := filepath.Base(dir)
		data, err := os.ReadFile(filepath.Join(dir, "bento-adapter-acme"))
		if err != nil || string(data) != "#!/bin/sh\n# "+version+"\n" {
			w.t.Errorf("%s is not whole: %q %v", dir, data, err)
		}
		if strings.Contains(string(lock), fmt.Sprintf("acme = \"%x\"", sha256.Sum256(data))) {
			version += " locked"
		}
		list = append(list, version)
	}
	return strings.Join(list, ", ")
}
