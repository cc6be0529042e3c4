package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tools"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/probe"
)

// executable writes a script that always prints the same.
func executable(t *testing.T, path, says string) {
	t.Helper()
	adaptertest.Write(t, path, "#!/bin/sh\necho "+says+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// ask returns the fingerprint of a project with this package.json, "late" where it is known
// at run time, and "missing" where the version is missing.
func ask(t *testing.T, manager project.Manager, home, manifest string, follows bool, env ...string) string {
	t.Helper()
	root := adaptertest.Project(t, "-- app/package.json --\n"+manifest+"\n-- app/pnpm-lock.yaml --\n")
	e := adapters.NewEnviron(append([]string{"HOME=" + home, "PATH=" + home + "/bin:/usr/bin:/bin"}, env...))
	o := snapshot.Options{Env: e, Clone: clone.At(root)}
	shelf := project.NewShelf(o, func(string) bool { return false })
	all := tools.Tools{Shelf: shelf, Manager: manager, Env: e, Asker: probe.New(o.Source(), e), Follows: follows}
	print, err := all.Fingerprint(t.Context(), probe.At{Dir: filepath.Join(root, "app")})
	var late *adapters.KnownAtRun
	var missing *adapters.MissingTool
	switch {
	case errors.As(err, &late):
		return "late"
	case errors.As(err, &missing):
		return "missing"
	case err != nil:
		t.Fatal(err)
	}
	return print
}

func TestCorepack(t *testing.T) {
	home := t.TempDir()
	executable(t, home+"/bin/node", "v20.0.0")
	executable(t, home+"/lib/corepack/dist/pnpm.js", "8.0.0") // the default, which it prints outside of a project
	if err := os.Symlink("../lib/corepack/dist/pnpm.js", home+"/bin/pnpm"); err != nil {
		t.Fatal(err)
	}
	adaptertest.Write(t, home+"/.cache/node/corepack/v1/pnpm/9.1.0/package.json", "{}")
	adaptertest.Write(t, home+"/.cache/node/corepack/pnpm/9.0.0/package.json", "{}") // by corepack 0.24
	for manifest, want := range map[string]string{
		`{}`:                               "node=v20.0.0 pnpm=8.0.0",
		`{"packageManager": "pnpm@9.1.0"}`: "node=v20.0.0 pnpm=9.1.0",
		`{"packageManager": "pnpm@9.0.0"}`: "node=v20.0.0 pnpm=9.0.0",
		`{"packageManager": "pnpm@9.1.0+sha512.0a1b"}`:                                   "node=v20.0.0 pnpm=9.1.0",
		`{"packageManager": "pnpm@9.9.9"}`:                                               "missing",
		`{"packageManager": "yarn@4.0.0"}`:                                               "missing",
		`{"packageManager": "pnpm@../../../ws"}`:                                         "late",
		`{"packageManager": "pnpm@https://example.com/x.tgz"}`:                           "late",
		`{"packageManager": "pnpm@9"}`:                                                   "late",
		`{"devEngines": {"packageManager": {"name": "pnpm", "version": "9.1.0"}}}`:       "late",
		`{"packageManager": "pnpm@9.1.0", "devEngines": {"packageManager": {"name":1}}}`: "node=v20.0.0 pnpm=9.1.0",
	} {
		if got := ask(t, project.PNPM, home, manifest, false); got != want {
			t.Errorf("%s: %s, want %s", manifest, got, want)
		}
	}
	if got := ask(t, project.PNPM, home, `{"packageManager": "pnpm@9.9.9"}`, true); got != "late" {
		t.Errorf("what may be fetched: %s", got)
	}
	if got := ask(t, project.PNPM, home, `{"packageManager": "pnpm@9.1.0"}`, false, "COREPACK_ENABLE_PROJECT_SPEC=0"); got != "node=v20.0.0 pnpm=8.0.0" {
		t.Errorf("without the project's choice: %s", got)
	}
	if got := ask(t, project.PNPM, home, `{"packageManager": "yarn@4.0.0"}`, false, "COREPACK_ENABLE_STRICT=0"); got != "node=v20.0.0 pnpm=8.0.0" {
		t.Errorf("not strict: %s", got)
	}
}

// TestPNPMThatFollows: with permission, pnpm switches to the version that a project
// requires.
func TestPNPMThatFollows(t *testing.T) {
	home := t.TempDir()
	executable(t, home+"/bin/node", "v20.0.0")
	executable(t, home+"/bin/pnpm", "9.1.0")
	for version, want := range map[string]string{"9.1.0": "node=v20.0.0 pnpm=9.1.0", "9.2.0": "late"} {
		if got := ask(t, project.PNPM, home, `{"packageManager": "pnpm@`+version+`"}`, true); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

func TestVolta(t *testing.T) {
	home := t.TempDir()
	executable(t, home+"/lib/volta-shim", "20.0.0") // the default
	for _, name := range []string{"node", "npm"} {
		adaptertest.Write(t, home+"/bin/x", "")
		if err := os.Symlink("../lib/volta-shim", filepath.Join(home, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	adaptertest.Write(t, home+"/.volta/tools/image/node/18.1.0/lib/node_modules/npm/package.json", `{"version": "8.8.0"}`)
	adaptertest.Write(t, home+"/.volta/tools/image/npm/9.0.0/x", "")
	for manifest, want := range map[string]string{
		`{}`:                            "node=20.0.0 npm=20.0.0",
		`{"volta": {"node": "18.1.0"}}`: "node=v18.1.0 npm=8.8.0",
		`{"volta": {"node": "18.1.0", "npm": "9.0.0"}}`: "node=v18.1.0 npm=9.0.0",
		`{"volta": {"node": "99.0.0"}}`:                 "late",
		`{"volta": {"node": "../../../../ws"}}`:         "late",
		`{"volta": {"extends": "../x.json"}}`:           "late",
	} {
		if got := ask(t, project.NPM, home, manifest, false); got != want {
			t.Errorf("%s: %s, want %s", manifest, got, want)
		}
	}
}
