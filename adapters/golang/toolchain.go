package golang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil {
		return "", err
	}
	b := probe.NewBasis(a.env)
	if seen.shim {
		a.shim(b, dir)
	}
	if a.download {
		err = a.demanded(b, dir)
	}
	return seen.basis + b.String(), err
}

// machine is the part of the basis that all directories share.
type machine struct {
	basis string
	shim  bool // go is a shim of a version manager
}

func (a *Adapter) look() (machine, error) {
	b := probe.NewBasis(a.env)
	tool, err := b.Tool("go")
	if err != nil {
		return machine{}, a.missing(err)
	}
	b.Env("GOROOT", "GOENV", "HOME")
	b.Env(a.set(a.manifest.SteeringEnv)...)
	b.File(a.userSettings())
	for _, cc := range []string{"gcc", "clang"} { // CGO_ENABLED is 0 by default without a C compiler
		path, _ := a.env.LookPath(cc)
		b.Text(cc, path)
	}
	root, ok := distribution(tool)
	if ok {
		b.File(filepath.Join(root, "VERSION"))
		b.File(filepath.Join(root, "go.env"))
	}
	return machine{b.String(), !ok}, nil
}

// set returns the names in a's environment that patterns select.
func (a *Adapter) set(patterns []string) []string {
	var names []string
	for _, kv := range a.env.Select(patterns...) {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}

// distribution returns the GOROOT of a go command; a shim has none.
func distribution(tool string) (root string, ok bool) {
	real, err := filepath.EvalSymlinks(tool)
	if err != nil {
		return "", false
	}
	root = filepath.Dir(filepath.Dir(real))
	fi, err := os.Stat(filepath.Join(root, "VERSION"))
	return root, err == nil && fi.Mode().IsRegular()
}

// shim adds what version managers choose by: the version files in dir and above, and the
// directories of installed versions.
func (a *Adapter) shim(b *probe.Basis, dir string) {
	b.Env("PATH", "GOENV_ROOT", "GOENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "ASDF_GOLANG_VERSION", "MISE_DATA_DIR", "MISE_GO_VERSION")
	b.Above(dir, append(probe.ManagerFiles(), ".go-version")...)
	home := a.env.Get("HOME")
	for _, installed := range []string{
		a.or("ASDF_DATA_DIR", filepath.Join(home, ".asdf"), "installs", "golang"),
		a.or("MISE_DATA_DIR", filepath.Join(home, ".local", "share", "mise"), "installs", "go"),
		a.or("GOENV_ROOT", filepath.Join(home, ".goenv"), "versions"),
		"/snap/go/current",
	} {
		b.File(installed)
	}
}

// or joins sub to the directory that a variable names, or to the usual one.
func (a *Adapter) or(name, usual string, sub ...string) string {
	if v := a.env.Get(name); v != "" {
		usual = v
	}
	return filepath.Join(append([]string{usual}, sub...)...)
}

// demanded adds the versions that go would download for dir.
func (a *Adapter) demanded(b *probe.Basis, dir string) error {
	p, err := a.project(a.Files(dir))
	if err != nil {
		return err
	}
	for _, d := range p.demands() {
		b.Text("asks", d.GoVersion+" "+d.Toolchain)
	}
	return nil
}

// ToolchainFingerprint implements adapters.Adapter: the settings of `go env`, one
// NAME=value a line. It holds the C compiler of cgo by name only.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	tool, err := a.env.LookPath("go")
	if err != nil {
		return "", a.missing(err)
	}
	output, err := a.asker.Ask(ctx, probe.GoEnv, probe.At{Dir: dir, Path: tool})
	if err != nil {
		return "", err
	}
	print, err := format(output.Out)
	if err == nil && a.download {
		err = a.becomes(dir, print)
	}
	return print, err
}

// becomes returns an error if go would switch to another version of itself when it runs.
func (a *Adapter) becomes(dir, fingerprint string) error {
	f := a.Files(dir)
	if v := a.setting(f, "GOTOOLCHAIN"); v != "" && v != "auto" && v != "local" {
		return &adapters.KnownAtRun{Why: "GOTOOLCHAIN is " + v}
	}
	p, err := a.project(f)
	if err != nil {
		return err
	}
	for _, d := range p.demands() {
		for _, want := range []string{"go" + d.GoVersion, d.Toolchain} {
			if version.Compare(want, foundVersion(fingerprint)) > 0 {
				return &adapters.KnownAtRun{Why: d.File + " requires " + want + ", which go has not downloaded yet"}
			}
		}
	}
	return nil
}

// ToolchainAtRun implements adapters.LateTeller.
func (a *Adapter) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	tool, err := a.env.LookPath("go")
	if err != nil {
		return "", a.missing(err)
	}
	output, err := a.asker.Ask(ctx, probe.GoEnv, probe.At{Dir: req.Dir, Path: tool, Leave: req.Leave()})
	if err != nil {
		return "", err
	}
	return format(output.Out)
}

// format returns the answer of `go env -json` as lines. It skips earlier output of a shim.
func format(out string) (string, error) {
	values := make(map[string]string)
	if err := json.Unmarshal([]byte(out[max(0, strings.IndexByte(out, '{')):]), &values); err != nil {
		return "", fmt.Errorf("answer of go env: %w", err)
	}
	if values["GOVERSION"] == "" {
		return "", errors.New("answer of go env: no GOVERSION")
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != "" {
			fmt.Fprintf(&b, "%s=%s\n", name, values[name])
		}
	}
	return b.String(), nil
}

// missing adds how to install go.
func (a *Adapter) missing(err error) error {
	return adapters.Packages{
		Apt: "golang-go", Dnf: "golang", Zypper: "go", Pacman: "go", Apk: "go", Brew: "go",
		Else: "see https://go.dev/doc/install",
	}.Missing(err, a.env)
}
