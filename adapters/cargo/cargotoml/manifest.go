// Package cargotoml reads from Cargo.toml and .cargo/config.toml where packages are and how
// they are built.
//
// It ignores values of a wrong type: cargo reports them when it runs.
package cargotoml

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Manifest is a Cargo.toml, https://doc.rust-lang.org/cargo/reference/manifest.html.
type Manifest struct {
	Path         string   // absolute
	Package      *Package // nil in a virtual manifest
	Dependencies []Dependency
	Workspace    *Workspace   // nil unless it is the root of a workspace
	Patches      []Dependency // of [patch] and [replace], those that lead to directories
	Lints        Lints
	Outside      []string // directories of source files outside of the package
	Open         []string // globs of the files that packages which depend on it compile

	resolver, edition string // as written; the edition may be inherited from the workspace
}

// Package is the [package] table and the targets.
type Package struct {
	Name       string
	Version    string // "" when it is inherited
	Root       string // package.workspace, absolute; "" when missing
	DefaultRun string
	Bins       []string // names of [[bin]]
	Lib        bool     // has a [lib]
	Benches    bool     // has a [[bench]]
	BenchPaths []string // paths in [[bench]] tables, relative to the package
	Rust       RustVersion
}

// Workspace is the [workspace] table.
type Workspace struct {
	Members, Exclude []string  // as written
	Defaults         []Pattern // default-members
	Dependencies     map[string]Dependency
	Lints            bool // has [workspace.lints]
	Rust             RustVersion
	Version          string // which members may inherit
}

// RustVersion is a rust-version key, the zero value when it is missing.
type RustVersion struct {
	Text      string
	Line      int
	Inherited bool // inherited from the workspace
}

// Pattern is a glob of directories.
type Pattern struct {
	Text string
	Line int
}

// Dependency is a dependency on a directory, or one that may be.
type Dependency struct {
	Package   string // its name; "" if only its manifest has it
	Dir       string // absolute, "" when it comes from elsewhere
	Line      int
	Inherited string // its key in workspace.dependencies, "" if it is not inherited
	Dev       bool
}

// Lints describes a [lints] table.
type Lints struct{ Given, Inherited bool }

// Parse reads a Cargo.toml. A malformed one is a diagnostics.Problems error.
func Parse(path string, data []byte) (*Manifest, error) {
	root, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Path: path, Patches: patches(path, root)}
	if v := child(root, "package"); v != nil {
		m.Package = readPackage(path, root, v)
		m.Dependencies = dependencies(path, root)
		m.Outside, m.Open = outside(path, root), open(path, root)
	}
	if v := child(root, "workspace"); v != nil {
		m.Workspace = readWorkspace(path, v)
		if err := m.Workspace.bounded(path, v); err != nil {
			return nil, err
		}
	}
	m.resolver = cmp.Or(text(child(child(root, "workspace"), "resolver")), text(child(child(root, "package"), "resolver")))
	m.edition = cmp.Or(text(child(child(root, "package"), "edition")), text(child(child(child(root, "workspace"), "package"), "edition")))
	if v := child(root, "lints"); v != nil {
		m.Lints = Lints{Given: true, Inherited: truth(child(v, "workspace"))}
	}
	return m, nil
}

func parse(path string, data []byte) (*tomlfile.Value, error) {
	f, problems := tomlfile.ParseManifest(path, data)
	if f == nil {
		return nil, diagnostics.Problems(diagnostics.Sorted(problems))
	}
	return f.Root(), nil
}

// Dir returns the directory of the manifest.
func (m *Manifest) Dir() string { return filepath.Dir(m.Path) }

// SplitsFeatures reports whether cargo leaves dev-dependencies out when it chooses the features of a
// build that compiles none of them. m is the root of a workspace, or a package outside of one.
func (m *Manifest) SplitsFeatures() bool {
	switch {
	case m.resolver != "":
		return m.resolver != "1"
	case m.Package == nil: // a virtual workspace has no edition
		return false
	}
	return m.edition != "" && m.edition != "2015" && m.edition != "2018"
}

// PackageOf returns the name of the package that a dependency means, see DirOf.
func (m *Manifest) PackageOf(d Dependency) string {
	if d.Inherited != "" && m.Workspace != nil {
		return cmp.Or(m.Workspace.Dependencies[d.Inherited].Package, d.Package)
	}
	return d.Package
}

// DirOf returns the directory that a dependency of a member of m's workspace, or of m
// itself, leads to; "" for none.
func (m *Manifest) DirOf(d Dependency) string {
	if d.Inherited != "" && m.Workspace != nil {
		return m.Workspace.Dependencies[d.Inherited].Dir
	}
	return d.Dir
}

// Excludes reports whether m's workspace excludes dir. A member that it names by its path
// is a member in any case.
func (m *Manifest) Excludes(dir string) bool {
	below := func(name string) bool { return adapters.Within(resolve(m.Path, name), dir) }
	return slices.ContainsFunc(m.Workspace.Exclude, below) && !slices.ContainsFunc(m.Workspace.Members, below)
}

func readPackage(path string, root, v *tomlfile.Value) *Package {
	p := &Package{
		Name:       text(child(v, "name")),
		Version:    text(child(v, "version")),
		DefaultRun: text(child(v, "default-run")),
		Lib:        child(root, "lib") != nil,
		Benches:    child(root, "bench") != nil,
		Rust:       rustVersion(v),
	}
	if dir := text(child(v, "workspace")); dir != "" {
		p.Root = resolve(path, dir)
	}
	for _, bin := range elems(child(root, "bin")) {
		p.Bins = append(p.Bins, text(child(bin, "name")))
	}
	for _, bench := range elems(child(root, "bench")) {
		if at := text(child(bench, "path")); at != "" && filepath.IsLocal(at) {
			p.BenchPaths = append(p.BenchPaths, at)
		}
	}
	return p
}

func rustVersion(v *tomlfile.Value) RustVersion {
	given := child(v, "rust-version")
	if given == nil {
		return RustVersion{}
	}
	return RustVersion{text(given), given.KeyPos().Line, truth(child(given, "workspace"))}
}

func readWorkspace(path string, v *tomlfile.Value) *Workspace {
	w := &Workspace{
		Members:      texts(child(v, "members")),
		Exclude:      texts(child(v, "exclude")),
		Dependencies: make(map[string]Dependency),
		Lints:        child(v, "lints") != nil,
		Rust:         rustVersion(child(v, "package")),
		Version:      text(child(child(v, "package"), "version")),
	}
	for _, d := range elems(child(v, "default-members")) {
		w.Defaults = append(w.Defaults, Pattern{text(d), d.Pos().Line})
	}
	for name, dep := range children(child(v, "dependencies")) {
		w.Dependencies[name] = dependency(path, name, dep)
	}
	return w
}

// bounded refuses lists that are too long: each entry is compared with every directory of
// the workspace.
func (w *Workspace) bounded(path string, v *tomlfile.Value) error {
	return cmp.Or(
		diagnostics.Bounded(path, v.Pos().Line, "members", len(w.Members), adapters.MaxMembers),
		diagnostics.Bounded(path, v.Pos().Line, "excluded directories", len(w.Exclude), adapters.MaxMembers),
	)
}

// outside returns the directories of a package's sources outside of it.
func outside(path string, root *tomlfile.Value) []string {
	sources := []*tomlfile.Value{child(child(root, "package"), "build"), child(child(root, "lib"), "path")}
	for _, kind := range []string{"bin", "example", "test", "bench"} {
		for _, target := range elems(child(root, kind)) {
			sources = append(sources, child(target, "path"))
		}
	}
	var dirs []string
	for _, v := range sources {
		name := text(v)
		if name == "" {
			continue
		}
		if dir := filepath.Dir(resolve(path, name)); !adapters.Within(filepath.Dir(path), dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// open returns globs of the sources of a package that others compile: those of its library, and its
// build script.
func open(path string, root *tomlfile.Value) []string {
	globs := []string{"src/**", "build.rs"}
	for _, v := range []*tomlfile.Value{child(child(root, "package"), "build"), child(child(root, "lib"), "path")} {
		dir, err := filepath.Rel(filepath.Dir(path), filepath.Dir(resolve(path, text(v))))
		switch {
		case text(v) == "" || err != nil || !filepath.IsLocal(dir):
		case dir == ".":
			globs = append(globs, "**")
		default:
			globs = append(globs, filepath.ToSlash(dir)+"/**")
		}
	}
	return globs
}

// resolve returns the absolute path of name in the file at path.
func resolve(path, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(filepath.Dir(path), name)
}
