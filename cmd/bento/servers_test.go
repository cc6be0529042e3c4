package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/cache/remote/servertest"
)

// TestScriptWithServers runs the scripts of testdata/server with real servers of remote caches, whose URL is $SERVER.
func TestScriptWithServers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "server", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for name, url := range map[string]func(testing.TB) string{
		"BuildGrid":            func(t testing.TB) string { return "grpc://" + servertest.BuildGrid(t).GRPC },
		"buildbox-casd":        func(t testing.TB) string { return "grpc://" + servertest.Casd(t).GRPC },
		"bazel-remote by gRPC": func(t testing.TB) string { return "grpc://" + servertest.BazelRemote(t).GRPC + "/an/instance" },
		"bazel-remote by HTTP": func(t testing.TB) string { return "http://" + servertest.BazelRemote(t).HTTP },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := url(t)
			runScriptsWith(t, "", files, func(env *testscript.Env) { env.Setenv("SERVER", server) })
		})
	}
}

// TestBeside: servers that other tools fill, too. Pants requires Python 3.9, so scripts/toolchains does not install it.
func TestBeside(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it drives real tools")
	}
	beside := func(t *testing.T, tool string, set map[string]string) {
		t.Helper()
		runScriptsWith(t, "", []string{filepath.Join("testdata", "beside", tool+".txtar")}, func(env *testscript.Env) {
			for name, value := range set {
				env.Setenv(name, value)
			}
		})
	}
	t.Run("bazel-remote", func(t *testing.T) { // one server for all
		t.Parallel()
		s := servertest.BazelRemote(t)
		t.Run("Clients", func(t *testing.T) {
			for _, tool := range []string{"bazel", "pants"} {
				t.Run(tool, func(t *testing.T) {
					t.Parallel()
					optional(t, tool)
					beside(t, tool, map[string]string{"GRPC": s.GRPC, "HTTP": s.HTTP, "USER": "tester"}) // Bazel asks for USER
				})
			}
		})
	})
	t.Run("turborepo-remote-cache", func(t *testing.T) {
		t.Parallel()
		s := servertest.Turborepo(t, "hush")
		adaptertest.Need(t, "turbo", "npm")
		beside(t, "turbo", map[string]string{"HTTP": s.HTTP})
	})
}

// optional skips a test whose tool not every machine can have.
func optional(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip(tool + " is not installed")
	}
}
