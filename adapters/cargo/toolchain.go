package cargo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil {
		return "", err
	}
	b := probe.NewBasis(a.env)
	if seen.rustup != nil {
		seen.rustup.Choose(b, a.Files(dir))
	}
	beyond, err := a.beyond(dir)
	b.Text("beyond", beyond)
	return seen.basis + b.String(), err
}

// machine is the part of the basis that all directories share.
type machine struct {
	basis  string
	rustup *rustup.Home // nil where cargo and rustc are not its proxies
}

func (a *Adapter) look() (machine, error) {
	b := probe.NewBasis(a.env)
	cargo, err := b.Tool("cargo")
	if err != nil {
		return machine{}, a.missing(err)
	}
	rustc, err := a.rustc()
	if err != nil {
		return machine{}, a.missing(err)
	}
	b.File(rustc)
	b.Env("RUSTUP_TOOLCHAIN")
	var home *rustup.Home
	if rustup.IsProxy(cargo) || rustup.IsProxy(rustc) {
		home = rustup.Look(b, a.home("RUSTUP_HOME", ".rustup"))
	}
	return machine{b.String(), home}, nil
}

// rustc returns the compiler that cargo calls.
func (a *Adapter) rustc() (string, error) {
	if name := a.env.Get("RUSTC"); filepath.IsAbs(name) {
		return name, nil
	} else if name != "" {
		return a.env.LookPath(name)
	}
	return a.env.LookPath("rustc")
}

// beyond returns the digests of cargo's configuration outside of the project, which is not
// an input of its tasks; "" when none of it changes a build.
func (a *Adapter) beyond(dir string) (string, error) {
	f := a.Files(dir).Beyond()
	top := f.Dir()
	for dir := range f.Ancestors() {
		top = dir
	}
	if top == a.Root() { // all of it belongs to the machine
		return a.above.Of(a.Source, top, func() (string, error) { return a.steering(f, top) })
	}
	return a.steering(f, top)
}

// steering returns the digests of cargo's configuration above a directory, and in CARGO_HOME.
func (a *Adapter) steering(f *snapshot.Files, top string) (string, error) {
	configs, err := a.configsBeyond(f, top)
	var digests []string
	for _, c := range configs {
		if c.Steers != "" {
			digests = append(digests, c.Steers)
		}
	}
	return strings.Join(digests, " "), err
}

// ToolchainFingerprint implements adapters.Adapter: the answers of `rustc -vV` and `cargo
// -V` in dir, and the digest of the user's own configuration of cargo.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil {
		return "", err
	}
	at := probe.At{Dir: dir}
	if seen.rustup != nil && a.env.Get("RUSTUP_TOOLCHAIN") == "" {
		name, err := seen.rustup.Chosen(a.Files(dir))
		if err != nil {
			return "", err
		}
		if name != "" {
			at.Set = map[string]string{"RUSTUP_TOOLCHAIN": name}
		}
	}
	text, err := a.asked(ctx, at)
	var missing *adapters.MissingTool
	if a.download && seen.rustup != nil && errors.As(err, &missing) {
		err = &adapters.KnownAtRun{Why: missing.Tool + " is not fetched yet"}
	}
	return text, err
}

// ToolchainAtRun implements adapters.LateTeller.
func (a *Adapter) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	return a.asked(ctx, probe.At{Dir: req.Dir, Leave: req.Leave()})
}

// asked runs the probes.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	rustc, err := a.rustc()
	if err != nil {
		return "", a.missing(err)
	}
	cargo, err := a.env.LookPath("cargo")
	if err != nil {
		return "", a.missing(err)
	}
	compiler, err := a.ask(ctx, probe.RustcVersion, at.Of(rustc), "rustc")
	if err != nil {
		return "", err
	}
	tool, err := a.ask(ctx, probe.CargoVersion, at.Of(cargo), "cargo")
	if err != nil {
		return "", err
	}
	beyond, err := a.beyond(at.Dir)
	if beyond != "" {
		tool += "\nconfig " + beyond
	}
	return compiler + "\n" + tool + "\n", err
}

// ask returns a tool's version from the line that begins with its name.
func (a *Adapter) ask(ctx context.Context, q probe.Question, at probe.At, name string) (string, error) {
	if !rustup.IsProxy(at.Path) {
		at.Set = nil // only rustup chooses
	}
	output, err := a.asker.Ask(ctx, q, at)
	var refused *probe.Refusal
	if errors.As(err, &refused) {
		if toolchain := rustup.Missing(refused.Stderr); toolchain != "" {
			hint := fmt.Sprintf("install it with %q", "rustup toolchain install "+toolchain)
			return "", &adapters.MissingTool{Tool: "rust toolchain " + toolchain, Hint: hint}
		}
		refused.Stderr, _, _ = strings.Cut(refused.Stderr, "Stack backtrace")
	}
	if err != nil {
		return "", err
	}
	text, ok := output.From(name + " ")
	if !ok {
		return "", fmt.Errorf("%s: no version in its answer %.80q", name, output.Out)
	}
	return text, nil
}

// missing adds how to install Rust.
func (a *Adapter) missing(err error) error {
	return adapters.Packages{
		Apt: "rustup", Dnf: "rustup", Zypper: "rustup", Pacman: "rustup", Apk: "rustup", Brew: "rustup",
		Else: "see https://www.rust-lang.org/tools/install",
	}.Missing(err, a.env)
}
