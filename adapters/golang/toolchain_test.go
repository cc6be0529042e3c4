package golang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func basis(t *testing.T, o snapshot.Options, dir string) string {
	t.Helper()
	text, err := golang.New(o).ToolchainBasis(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFingerprintIsTheSameInEveryDish(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Fixture(t, "go")
	a := golang.New(snapshot.Options{Env: adaptertest.Env()})
	var first string
	for _, dish := range []string{"lib", "app"} {
		got, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, dish))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = got
		}
		if got != first || !strings.Contains(got, "\nGOVERSION=go1.") {
			t.Errorf("%s: %s", dish, got)
		}
	}
	if basis(t, snapshot.Options{Env: adaptertest.Env()}, root+"/lib") != basis(t, snapshot.Options{Env: adaptertest.Env()}, root+"/app") {
		t.Error("the basis differs")
	}
}

func TestFingerprintFollowsTheUsersSettings(t *testing.T) {
	adaptertest.Drive(t, "go")
	settings := filepath.Join(t.TempDir(), "env")
	env := adaptertest.Env("GOENV="+settings, "GOFLAGS=")
	ask := func() (fingerprint, based string) {
		t.Helper()
		got, err := golang.New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return got, basis(t, snapshot.Options{Env: env}, "/")
	}
	was, wasBasis := ask()
	adaptertest.Write(t, settings, "CGO_CFLAGS=-O1\n") // CGO_ENABLED is 0 without a C compiler
	if now, nowBasis := ask(); now == was || nowBasis == wasBasis {
		t.Errorf("go env -w changed nothing; fingerprint:\n%s", now)
	}
}

// fakeGo writes a go command in a distribution or, without one, a shim.
func fakeGo(t *testing.T, goroot string, distribution bool) adapters.Environ {
	t.Helper()
	script := filepath.Join(goroot, "bin", "go")
	adaptertest.Write(t, script, "#!/bin/sh\necho a shim speaks\necho '{\"GOVERSION\": \"go1.22.0\"}'\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if distribution {
		adaptertest.Write(t, filepath.Join(goroot, "VERSION"), "go1.22.0\n")
	}
	return adapters.NewEnviron([]string{"PATH=" + filepath.Dir(script), "HOME=" + goroot})
}

func TestBasisChangesWithTheTool(t *testing.T) {
	goroot := t.TempDir()
	env := fakeGo(t, goroot, true)
	seen := map[string]string{basis(t, snapshot.Options{Env: env}, "/"): "the beginning"}
	step := func(what string, env adapters.Environ) {
		t.Helper()
		now := basis(t, snapshot.Options{Env: env}, "/")
		if was, ok := seen[now]; ok {
			t.Errorf("%s: the same basis as %s", what, was)
		}
		seen[now] = what
	}
	if err := os.Chtimes(filepath.Join(goroot, "bin", "go"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	step("another binary", env)
	adaptertest.Write(t, filepath.Join(goroot, "VERSION"), "go1.22.10\n")
	step("another version", env)
	adaptertest.Write(t, filepath.Join(goroot, ".config", "go", "env"), "GOFLAGS=-x\n")
	step("another user setting", env)
	step("another variable", env.With(map[string]string{"GOARCH": "arm64"}))
	step("another empty variable", env.With(map[string]string{"GOARCH": ""}))
}

func TestBasisOfAShimFollowsItsFiles(t *testing.T) {
	goroot := t.TempDir()
	env := fakeGo(t, goroot, false)
	root := adaptertest.Project(t, "-- a/b/x --\n-- c/x --\n")
	was := basis(t, snapshot.Options{Env: env}, root+"/a/b")
	if other := basis(t, snapshot.Options{Env: env}, root+"/c"); other != was {
		t.Error("two directories without a choice differ")
	}
	adaptertest.Write(t, root+"/a/.tool-versions", "golang 1.21.0\n")
	if basis(t, snapshot.Options{Env: env}, root+"/a/b") == was {
		t.Error(".tool-versions above changed nothing")
	}
	if basis(t, snapshot.Options{Env: env}, root+"/c") != was {
		t.Error(".tool-versions beside changed something")
	}
	got, err := golang.New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), root)
	if err != nil || got != "GOVERSION=go1.22.0\n" {
		t.Errorf("fingerprint %q, %v", got, err)
	}
}

func TestBasisFollowsGoModWhereDownloadsAreAllowed(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Project(t, "-- a/go.mod --\nmodule a\ngo 1.22\n-- b/go.mod --\nmodule b\ngo 1.23\n")
	o := snapshot.Options{Env: adaptertest.Env(), AllowDownload: true}
	if basis(t, o, root+"/a") == basis(t, o, root+"/b") {
		t.Error("go lines change nothing")
	}
	if basis(t, snapshot.Options{Env: adaptertest.Env()}, root+"/a") != basis(t, snapshot.Options{Env: adaptertest.Env()}, root+"/b") {
		t.Error("go lines change the local toolchain")
	}
	if set := golang.New(o).Manifest().SetEnv; len(set) != 0 {
		t.Errorf("sets %v", set)
	}
}
