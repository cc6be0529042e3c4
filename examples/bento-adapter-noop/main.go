// Command bento-adapter-noop is the smallest useful bento adapter: dishes with a noop.toml,
// whose tasks do nothing. Put it on PATH and set the language of a dish to "noop".
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin"
)

type noop struct{ plugin.Defaults }

func (noop) Manifest() *adapters.Manifest {
	return &adapters.Manifest{
		AdapterID: "noop", DisplayName: "noop (Go)", FingerprintFiles: []string{"noop.toml"},
		DefaultTasks:    []adapters.Task{{Name: "build", Run: "echo noop build"}, {Name: "test", Run: "true"}, {Name: "lint", Run: "true"}},
		Capabilities:    adapters.Capabilities{Detect: true, Install: true},
		DiagnosticHooks: map[string]adapters.Hook{"lint": {Rerun: adapters.Rerun{Kind: adapters.RerunReplace, Command: "false"}, Parser: adapters.ParserPlugin}},
	}
}

func (noop) Detect(_ context.Context, dir string) (bool, error) {
	fi, err := os.Stat(filepath.Join(dir, "noop.toml"))
	return err == nil && fi.Mode().IsRegular(), nil
}

func (noop) Install(_ context.Context, _ adapters.InstallRequest, log adapters.LogFunc) error {
	log(adapters.Log{Level: "info", Message: "noop install\n"})
	return nil
}

func (noop) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return []diagnostics.Diagnostic{{File: "noop.toml", Line: 1, Severity: diagnostics.Warning, Message: "nothing is checked here", Rule: "noop-demo", Source: "noop"}}, nil
}

func main() { plugin.Main(noop{}) }
