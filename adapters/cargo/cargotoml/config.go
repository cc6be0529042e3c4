package cargotoml

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// Config is a .cargo/config.toml,
// https://doc.rust-lang.org/cargo/reference/config.html.
type Config struct {
	Path    string            // absolute
	Aliases map[string]string // name → its arguments
	Patches []Dependency      // of [patch] and paths, those that lead to directories
	// Steers is a digest of the settings that change a build, "" when there are none. It
	// leaves out registries, network, aliases and appearance.
	Steers string
}

// ParseConfig reads a .cargo/config.toml. A malformed one is a diagnostics.Problems error.
func ParseConfig(path string, data []byte) (*Config, error) {
	root, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	// Paths in it are relative to the directory that holds .cargo.
	base := filepath.Join(filepath.Dir(filepath.Dir(path)), "Cargo.toml")
	c := &Config{Path: path, Aliases: make(map[string]string), Patches: patches(base, root), Steers: steers(root)}
	for _, v := range elems(child(root, "paths")) {
		if name := text(v); name != "" {
			c.Patches = append(c.Patches, Dependency{Dir: resolve(base, name), Line: v.Pos().Line})
		}
	}
	for name, v := range children(child(root, "alias")) {
		words := texts(v)
		if s := text(v); s != "" {
			words = strings.Fields(s)
		}
		if len(words) > 0 {
			c.Aliases[name] = strings.Join(words, " ")
		}
	}
	return c, nil
}

// steers returns the digest of the tables that change a build.
func steers(root *tomlfile.Value) string {
	kept := make(map[string]any)
	for name, v := range children(root) {
		switch name {
		case "alias", "cache", "cargo-new", "credential-alias", "future-incompat-report", "http", "install", "net",
			"registries", "registry", "source", "term":
		default:
			kept[name] = v.Any()
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%#v", kept)))
}
