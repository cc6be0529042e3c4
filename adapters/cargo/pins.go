package cargo

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// toolchainFile returns the nearest toolchain file of the project, or nil.
func (a *Adapter) toolchainFile(f *snapshot.Files) (*rustup.File, error) {
	for dir := range f.Ancestors() {
		for _, name := range rustup.Names() {
			if path := filepath.Join(dir, name); f.IsFile(path) {
				return a.toolchains.Read(f, path)
			}
		}
	}
	return nil, nil
}

// RequiredToolchain implements adapters.Adapter: the channel of the nearest
// toolchain file, else .tool-versions, else the rust-version of Cargo.toml, which is
// a minimum.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *snapshot.Files, p *project) (*adapters.Toolchain, error) {
	file, err := a.toolchainFile(f)
	if err != nil {
		return nil, err
	}
	if file != nil && file.Channel != "" {
		return &adapters.Toolchain{Tool: "rust", Version: file.Channel, File: file.Path, Line: file.Line, Strict: true}, nil
	}
	if file != nil && file.Dir != "" {
		return nil, nil
	}
	t, err := f.ToolVersions("rust", "rust")
	if t != nil || err != nil {
		return t, err
	}
	return p.minimum(), nil
}

// minimum returns the rust-version of a package, also if it is inherited from the
// workspace.
func (p *project) minimum() *adapters.Toolchain {
	if p.Package == nil {
		return nil
	}
	at, from := p.Package.Rust, p.Manifest
	if at.Inherited && p.root.Workspace != nil {
		at, from = p.root.Workspace.Rust, p.root
	}
	if at.Text == "" {
		return nil
	}
	return &adapters.Toolchain{Tool: "rust", Version: at.Text, File: from.Path, Line: at.Line, Strict: true}
}

// CheckPin implements adapters.PinChecker. A version from Cargo.toml is a minimum. Any
// other is a channel of rustup, a version or a prefix of one, or a range.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	have := rustup.ParseRelease(fingerprint)
	if have.Text == "" {
		return adapters.Verdict{OK: true}
	}
	v := adapters.Verdict{Found: have.Text}
	if filepath.Base(want.File) == "Cargo.toml" {
		v.OK = have.AtLeast(want.Version)
	} else {
		v.OK = have.Satisfies(want.Version)
	}
	if !v.OK {
		v.Hint = pinHint(want)
	}
	return v
}

// pinHint returns how to get a pinned version. rustup itself follows rust-toolchain.toml alone: an
// installed version of another file has to be selected, too.
func pinHint(want adapters.Toolchain) string {
	version := want.Version
	if strings.HasPrefix(filepath.Base(want.File), "rust-toolchain") {
		return fmt.Sprintf("install it with %q", "rustup toolchain install "+version)
	}
	if strings.ContainsAny(version, "<>=^~*, ") {
		version = "VERSION"
	}
	return fmt.Sprintf("run %q in the root of the workspace: it installs and selects the version", "rustup override set "+version)
}
