// Command bento-adapter-zig is an adapter that starts no process: bento asks Zig for its version and
// installs for it. So the same source is an executable and a WebAssembly module (module_wasip1.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin"
)

// The files of a project.
const (
	script   = "build.zig"
	manifest = "build.zig.zon"
)

type zig struct{ plugin.Defaults }

func (zig) Manifest() *adapters.Manifest {
	failed := adapters.Hook{Rerun: adapters.Rerun{Kind: adapters.RerunAppend}, Parser: adapters.ParserPlugin, InDish: true}
	return &adapters.Manifest{
		AdapterID: "zig", DisplayName: "Zig", FingerprintFiles: []string{script, manifest},
		DefaultTasks: []adapters.Task{
			{Name: "build", Run: "zig build", Outputs: []string{"zig-out/**"}},
			{Name: "test", Run: "zig build test"},
		},
		Capabilities:    adapters.Capabilities{Detect: true, RequiredToolchain: true, Install: true},
		DiagnosticHooks: map[string]adapters.Hook{"build": failed, "test": failed},
		DerivedPaths:    []string{"zig-out/**", ".zig-cache/**"},
		Exec:            []string{"zig", "version"},
	}
}

func (zig) Detect(_ context.Context, dir string) (bool, error) {
	return isFile(filepath.Join(dir, script))
}

func isFile(path string) (bool, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && fi.Mode().IsRegular(), err
}

var minimum = regexp.MustCompile(`\.minimum_zig_version\s*=\s*"([^"]*)"`)

// RequiredToolchain returns minimum_zig_version of build.zig.zon.
func (zig) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	path := filepath.Join(dir, manifest)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	found := minimum.FindSubmatchIndex(text)
	if err != nil || found == nil {
		return nil, err
	}
	line := 1 + strings.Count(string(text[:found[0]]), "\n")
	return &adapters.Toolchain{Tool: "zig", Version: ">=" + string(text[found[2]:found[3]]), File: path, Line: line}, nil
}

var isVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]{0,100}$`)

// ResolvedToolchain returns what "zig version" printed.
func (zig) ResolvedToolchain(ctx context.Context, _ string) (*adapters.ResolvedToolchain, error) {
	output := plugin.ExecOutput(ctx).Stdout
	version := strings.TrimSpace(output)
	if !isVersion.MatchString(version) {
		return nil, fmt.Errorf("zig version printed %.100q, no version", output)
	}
	return &adapters.ResolvedToolchain{Fingerprint: "zig " + version, Version: version}, nil
}

// InstallScope says that a project without a manifest has no dependencies.
func (zig) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	path := filepath.Join(dir, manifest)
	has, err := isFile(path)
	return adapters.Scope{Dir: dir, Files: []string{path}, Command: "zig build --fetch", Nothing: !has, Reads: adapters.ReadsOf(path)}, err
}

// InstallCommands returns the command that fetches the packages of build.zig.zon.
func (zig) InstallCommands(context.Context, adapters.InstallRequest) ([][]string, error) {
	return [][]string{{"zig", "build", "--fetch"}}, nil
}

var message = regexp.MustCompile(`(?m)^([^\s:][^:\n]*\.zig):(\d+):(\d+): (error|note): (.*)$`)

// ParseDiagnostics reads the errors of the compiler.
func (zig) ParseDiagnostics(_ context.Context, req adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	var list []diagnostics.Diagnostic
	for _, found := range message.FindAllStringSubmatch(req.Stdout+"\n"+req.Stderr, -1) {
		d := diagnostics.Diagnostic{File: found[1], Line: number(found[2]), Col: number(found[3]), Severity: diagnostics.Error, Message: found[5], Source: "zig"}
		if !filepath.IsAbs(d.File) {
			d.File = filepath.Join(req.DishDir, d.File)
		}
		if found[4] == "note" {
			d.Severity = diagnostics.Info
		}
		list = append(list, d)
	}
	return list, nil
}

// number returns the value of decimal digits, at most a million.
func number(digits string) int {
	n := 0
	for _, c := range digits {
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	return n
}

func main() { plugin.Main(zig{}) }
