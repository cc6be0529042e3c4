// Package golang is the adapter "go": modules (go.mod) and workspaces (go.work).
//
// It reads manifests with golang.org/x/mod/modfile, never with the go command, so that a
// plan starts no process. https://go.dev/ref/mod describes how go finds and reads them.
package golang

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// identity is an ingredient of every key. It changes when a change to a recipe or a reader
// of manifests changes what a task does.
const identity = "builtin:4"

// Adapter is the adapter "go".
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	env      adapters.Environ // of child processes
	asker    *probe.Asker
	download bool // go may fetch the toolchain that a go.mod requires
	manifest *adapters.Manifest
	mods     *snapshot.Parsed[*gomod.Module]
	works    *snapshot.Parsed[*gomod.Work]
	sums     *snapshot.Parsed[gomod.Sums]
	spaces   snapshot.Memo[*space] // by the path of go.work
	seen     snapshot.Machine[machine]
}

// New returns the adapter. With o.AllowDownload the go command may fetch the toolchain that
// a go.mod requires (GOTOOLCHAIN=auto); without it go uses the installed one.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{
		Source:   o.Source(),
		download: o.AllowDownload,
		mods:     snapshot.NewParsed(gomod.ParseModule),
		works:    snapshot.NewParsed(gomod.ParseWork),
		sums:     snapshot.NewParsed(gomod.ParseSums),
	}
	a.manifest = newManifest(a.download)
	pass := append(a.manifest.PassEnv[:len(a.manifest.PassEnv):len(a.manifest.PassEnv)], a.manifest.SteeringEnv...)
	a.env = o.Env.Strict(pass...).With(a.manifest.SetEnv)
	a.asker = probe.New(o.Source(), a.env)
	return a
}

func newManifest(download bool) *adapters.Manifest {
	m := &adapters.Manifest{
		ProtocolVersion:  adapters.ProtocolVersion,
		AdapterID:        "go",
		DisplayName:      "go",
		Projects:         []string{"go.mod", "go.work"},
		Inside:           insideRule,
		FingerprintFiles: []string{"go.mod", "go.sum", "go.work", "go.work.sum", ".tool-versions"},
		DefaultTasks:     lifecycle(),
		Capabilities:     adapters.BuiltinCapabilities(),
		EmbedsIn:         []string{".go"},
		StopsAtFamily:    true, // a module ends where the next begins
		DiagnosticHooks: map[string]adapters.Hook{
			"build": {Parser: "go-build"},
			"check": {Parser: "go-build"},
			"test":  {Parser: "go-test"},
			"lint": {Parser: "golangci-lint", Rerun: adapters.Rerun{
				Kind: adapters.RerunAppend, Args: []string{"--output.json.path=stdout"},
			}},
		},
		Parallel:    8,
		Identity:    identity,
		PassEnv:     passEnv(),
		SteeringEnv: steeringEnv(),
	}
	if !download {
		m.SetEnv = map[string]string{"GOTOOLCHAIN": "local"}
	}
	return m
}

// passEnv returns homes, caches and the sources of modules.
func passEnv() []string {
	return []string{
		"GOPATH", "GOCACHE", "GOMODCACHE", "GOBIN", "GOTMPDIR", "GOENV", "GOROOT", "GOCACHEPROG",
		"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOVCS",
		"GOTELEMETRY", "GOTELEMETRYDIR", "GOLANGCI_LINT_CACHE", "NETRC", "GIT_SSH", "GIT_SSH_COMMAND",
		"GOENV_ROOT", "GOENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "ASDF_GOLANG_VERSION", "MISE_DATA_DIR", "MISE_GO_VERSION",
	}
}

// steeringEnv returns the variables of `go help environment` that change a build, and those
// of the runtime, which change a test.
func steeringEnv() []string {
	return []string{
		"GOOS", "GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM",
		"GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "GODEBUG", "GO111MODULE", "GOWORK", "GOTOOLCHAIN",
		"CGO_*", "CC", "CXX", "FC", "AR", "GCCGO", "PKG_CONFIG", "PKG_CONFIG_*",
		"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GORACE", "GOTRACEBACK",
	}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter: a module, or the root of a workspace of
// modules.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	return f.IsFile("go.mod") || f.IsFile("go.work"), nil
}
