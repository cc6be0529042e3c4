// Package rustup finds the toolchain that rustup chooses in a directory, without starting
// it (https://rust-lang.github.io/rustup/overrides.html).
package rustup

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// File is a rust-toolchain or rust-toolchain.toml.
type File struct {
	Path       string // absolute
	Channel    string // "" when missing, as with a Dir
	Line       int    // of the channel
	Dir        string // of a toolchain named by its path, absolute
	Components []string
}

// Names returns the names of toolchain files. Where both exist, rustup takes the first.
func Names() []string { return []string{"rust-toolchain", "rust-toolchain.toml"} }

// Parse reads a toolchain file. A rust-toolchain holds the name of a channel or TOML. A
// malformed file is a diagnostics.Problems error.
func Parse(path string, data []byte) (*File, error) {
	if name := bytes.TrimSpace(data); filepath.Ext(path) == "" && !bytes.ContainsAny(name, "\n[=") {
		f := &File{Path: path, Channel: string(name), Line: 1}
		return f, f.check()
	}
	doc, problems := tomlfile.ParseManifest(path, data)
	if doc == nil {
		return nil, diagnostics.Problems(diagnostics.Sorted(problems))
	}
	var content struct {
		Toolchain struct {
			Channel    string   `toml:"channel"`
			Path       string   `toml:"path"`
			Components []string `toml:"components"`
		} `toml:"toolchain"`
	}
	if err := diagnostics.AsError(doc.DecodeKnown(&content)); err != nil {
		return nil, err
	}
	t := content.Toolchain
	f := &File{Path: path, Channel: t.Channel, Components: t.Components}
	f.Line, _ = doc.Pos("toolchain", "channel")
	if t.Path != "" {
		f.Dir = filepath.Join(filepath.Dir(path), filepath.FromSlash(t.Path))
		if filepath.IsAbs(t.Path) {
			f.Dir = filepath.Clean(t.Path)
		}
	}
	return f, f.check()
}

// check returns an error for a file that rustup refuses.
func (f *File) check() error {
	if f.Channel == "" && (f.Dir != "" || len(f.Components) > 0) {
		return nil
	}
	if f.Channel != "" && !strings.ContainsFunc(f.Channel, func(r rune) bool { return r <= ' ' || r == '/' || r == '\\' }) {
		return nil
	}
	return diagnostics.Problems{diagnostics.Pos{File: f.Path, Line: max(1, f.Line)}.Error("invalid_toolchain", "%q is not the name of a toolchain", f.Channel).
		WithHint(`write a channel such as "stable", "1.85" or "nightly-2025-02-20"`)}
}
