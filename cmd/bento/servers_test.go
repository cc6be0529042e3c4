package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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

// TestBesideBazel: a server that Bazel uses too. Bazel is large, so scripts/toolchains does not install it: its package
// in Debian is bazel-bootstrap.
func TestBesideBazel(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bazel"); err != nil || testing.Short() {
		t.Skip("bazel is not installed")
	}
	s := servertest.BazelRemote(t)
	runScriptsWith(t, "", []string{filepath.Join("testdata", "bazel", "beside.txtar")}, func(env *testscript.Env) {
		env.Setenv("GRPC", s.GRPC)
		env.Setenv("HTTP", s.HTTP)
		env.Setenv("USER", "tester") // which Bazel asks for
	})
}
