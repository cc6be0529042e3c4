//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/testrun"
)

// lockfiles returns the files that the tools of each adapter write, by adapter.
func lockfiles() map[string][]string {
	return map[string][]string{
		"go":        {"go.mod", "go.sum", "go.work.sum"},
		"cargo":     {"Cargo.toml", "Cargo.lock"},
		"python-uv": {"pyproject.toml", "uv.lock"},
		"python":    {"requirements.txt", "poetry.lock", "uv.lock"},
		"ruby":      {"Gemfile", "Gemfile.lock", "gems.locked"},
		"php":       {"composer.json", "composer.lock"},
		"maven":     {"pom.xml"},
		"gradle":    {"gradle.lockfile", "buildscript-gradle.lockfile", "settings-gradle.lockfile", "gradle/dependency-locks/x.lockfile"},
		"deno":      {"deno.json", "deno.lock", "package.json"},
		"bun":       {"package.json", "bun.lock", "bun.lockb"},
		"node-pnpm": {"package.json", "pnpm-lock.yaml"},
		"node-yarn": {"package.json", "yarn.lock", ".pnp.cjs"},
		"node-npm":  {"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock"},
	}
}

// TestToolsBehindLinksOut: bento starts no tool that would write through a link out of the workspace, whether
// the target exists or not. The tools of this test write to every lockfile.
func TestToolsBehindLinksOut(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	var every []string
	for _, names := range lockfiles() {
		every = append(every, names...)
	}
	script := "#!/bin/sh\nfor f in " + strings.Join(every, " ") + "; do [ -L $f ] && echo written > $f; done 2>/dev/null\necho 20.0.0\n"
	tools := make(map[string]string)
	for _, tool := range strings.Fields("go cargo rustc uv python3 python pip poetry ruby bundle php composer java mvn gradle deno bun node npm pnpm yarn corepack") {
		tools[tool] = script
	}
	for _, a := range builtin.All(snapshot.Options{}) {
		id := a.Manifest().AdapterID
		names := lockfiles()[id]
		if len(names) == 0 {
			t.Errorf("%s has no row in lockfiles()", id)
		}
		for _, name := range names {
			t.Run(id+"/"+name, func(t *testing.T) {
				base, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(base, "bin"), tools)
				for tool := range tools {
					if err := os.Chmod(filepath.Join(base, "bin", tool), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				root, outside := filepath.Join(base, "ws"), filepath.Join(base, "outside")
				put(t, root, map[string]string{"bento.toml": "", "d/dish.toml": "language = \"" + id + "\"\n"})
				put(t, filepath.Join(root, "d"), smallestOf()[id].files)
				linkOut(t, outside, filepath.Join(root, "d", name))
				manifest := slices.Contains([]string{"go.mod", "Cargo.toml", "pyproject.toml", "composer.json", "pom.xml", "deno.json", "package.json"}, name)
				toolsLeave(t, base, root, "", manifest)
				put(t, base, map[string]string{"outside": canary})
				toolsLeave(t, base, root, canary, manifest)
			})
		}
	}
}

// toolsLeave checks that neither add nor install changes files outside of the workspace, and that add reports
// why it does nothing.
func toolsLeave(t *testing.T, base, root, want string, manifest bool) {
	t.Helper()
	env := adapters.NewEnviron([]string{"HOME=" + base + "/home", "PATH=" + base + "/bin:/usr/bin:/bin", "BENTO_CACHE_DIR=" + base + "/cache", "XDG_CONFIG_HOME=" + base + "/config"})
	for _, line := range []string{"add x --dish d", "install"} {
		var out, said bytes.Buffer
		code := execute(t.Context(), append([]string{"-C", root}, strings.Fields(line)...), process{out: &out, err: &said, environ: env})
		if data, _ := os.ReadFile(filepath.Join(base, "outside")); string(data) != want {
			t.Fatalf("bento %s left %q outside\n%s", line, data, said.String())
		}
		told := strings.Contains(said.String(), "leads out of the workspace") && strings.Contains(said.String(), "replace the link")
		if strings.HasPrefix(line, "add") && (code == 0 || !manifest && (code != exitInput || !told)) {
			t.Errorf("bento %s: exit %d\n%s", line, code, said.String())
		}
	}
}
