package cargo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/internal/proc"
)

const (
	probeTimeout = 30 * time.Second
	probeLimit   = 64 << 10 // bytes that a tool may answer
)

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.look)
	if err != nil {
		return "", err
	}
	b := adapters.NewBasis(a.env)
	if seen.rustup != nil {
		seen.rustup.Choose(b, a.Files(dir))
	}
	beyond, err := a.beyond(dir)
	b.Text("beyond", beyond)
	return seen.basis + b.String(), err
}

// machine is what the fingerprint depends on in every directory.
type machine struct {
	basis  string
	rustup *rustup.Home // nil where cargo and rustc are not its proxies
}

func (a *Adapter) look() (machine, error) {
	b := adapters.NewBasis(a.env)
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

// rustc gives the compiler that cargo calls.
func (a *Adapter) rustc() (string, error) {
	if name := a.env.Get("RUSTC"); filepath.IsAbs(name) {
		return name, nil
	} else if name != "" {
		return a.env.LookPath(name)
	}
	return a.env.LookPath("rustc")
}

// beyond gives the digests of the configuration of cargo that is no part of the
// project and so no input of its tasks; "" when none of it changes a build.
func (a *Adapter) beyond(dir string) (string, error) {
	configs, err := a.configsBeyond(a.Files(dir).Beyond())
	var digests []string
	for _, c := range configs {
		if c.Steers != "" {
			digests = append(digests, c.Steers)
		}
	}
	return strings.Join(digests, " "), err
}

// ToolchainFingerprint implements adapters.Adapter: what `rustc -vV` and `cargo -V`
// say in dir, and the digest of the user's own configuration of cargo.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	rustc, err := a.rustc()
	if err != nil {
		return "", a.missing(err)
	}
	cargo, err := a.env.LookPath("cargo")
	if err != nil {
		return "", a.missing(err)
	}
	compiler, err := a.ask(ctx, dir, "rustc", rustc, "-vV")
	if err != nil {
		return "", err
	}
	tool, err := a.ask(ctx, dir, "cargo", cargo, "-V")
	if err != nil {
		return "", err
	}
	beyond, err := a.beyond(dir)
	if beyond != "" {
		tool += "\nconfig " + beyond
	}
	return compiler + "\n" + tool + "\n", err
}

// ask gives what a tool says of its version, from the line that begins with its
// name: a shim may have printed something in front.
func (a *Adapter) ask(ctx context.Context, dir, name string, argv ...string) (string, error) {
	env := a.env.With(map[string]string{"RUST_BACKTRACE": "0"})
	out, errText, res, err := proc.Output(ctx, proc.Spec{Argv: argv, Dir: dir, Env: env, Timeout: probeTimeout}, probeLimit)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, argv[1], err)
	}
	if res.ExitCode != 0 {
		if toolchain := rustup.Missing(string(errText)); toolchain != "" {
			hint := fmt.Sprintf("install it with %q", "rustup toolchain install "+toolchain)
			return "", &adapters.MissingTool{Tool: "rust toolchain " + toolchain, Hint: hint}
		}
		return "", fmt.Errorf("%s %s exited with status %d: %s", name, argv[1], res.ExitCode, firstError(errText))
	}
	text := "\n" + string(out)
	i := strings.Index(text, "\n"+name+" ")
	if i < 0 {
		return "", fmt.Errorf("%s %s: no version in its answer %.80q", name, argv[1], out)
	}
	return strings.TrimSpace(text[i:]), nil
}

// firstError gives what a tool printed up to a stack backtrace.
func firstError(said []byte) string {
	text, _, _ := strings.Cut(string(said), "Stack backtrace")
	return strings.TrimSpace(text)
}

// missing tells how to get Rust.
func (a *Adapter) missing(err error) error {
	var m *adapters.MissingTool
	if !errors.As(err, &m) {
		return err
	}
	hint := adapters.Packages{
		Apt: "rustup", Dnf: "rustup", Zypper: "rustup", Pacman: "rustup", Apk: "rustup", Brew: "rustup",
		Else: "see https://www.rust-lang.org/tools/install",
	}.Hint(a.env)
	return &adapters.MissingTool{Tool: m.Tool, Hint: hint}
}
