package cargo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// project is a Cargo.toml with the workspace that it belongs to.
type project struct {
	*cargotoml.Manifest
	root *cargotoml.Manifest // of the workspace; the manifest itself outside of one
}

// lock returns the path of p's lockfile, which may be missing.
func (p *project) lock() string { return filepath.Join(p.root.Dir(), "Cargo.lock") }

func (a *Adapter) project(f *snapshot.Files) (*project, error) {
	m, err := a.manifests.Read(f, "Cargo.toml")
	if err != nil {
		return nil, err
	}
	root, err := a.workspaceRoot(f, m)
	if err != nil {
		return nil, err
	}
	if root == nil {
		root = m
	}
	return &project{m, root}, nil
}

// workspaceRoot returns the manifest of m's workspace, as cargo finds it
// (https://doc.rust-lang.org/cargo/reference/workspaces.html): m itself, the one it names,
// or the nearest above that does not exclude it. It returns nil outside of a workspace.
func (a *Adapter) workspaceRoot(f *snapshot.Files, m *cargotoml.Manifest) (*cargotoml.Manifest, error) {
	if m.Workspace != nil {
		return m, nil
	}
	if m.Package != nil && m.Package.Root != "" {
		return a.optional(f, m.Package.Root)
	}
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		up, err := a.optional(f, dir)
		switch {
		case err != nil:
			return nil, err
		case up == nil:
		case up.Workspace != nil:
			if up.Excludes(m.Dir()) {
				return nil, nil
			}
			return up, nil
		case up.Package != nil && up.Package.Root != "":
			return a.optional(f, up.Package.Root)
		}
	}
	return nil, nil
}

// optional reads the manifest in dir and returns nil when it is missing.
func (a *Adapter) optional(f *snapshot.Files, dir string) (*cargotoml.Manifest, error) {
	m, err := a.manifests.Read(f, filepath.Join(dir, "Cargo.toml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// members returns the directories of other packages that belong to a manifest: those that
// its workspace names, and the path dependencies of all of them that lie below it. Without
// a workspace they are the path dependencies below the package.
func (a *Adapter) members(f *snapshot.Files, m *cargotoml.Manifest) ([]string, error) {
	c := &collector{a: a, f: f, top: m, seen: map[string]bool{m.Dir(): true}}
	if m.Workspace != nil {
		for _, pattern := range m.Workspace.Members {
			for _, dir := range expand(f, m.Dir(), pattern) {
				if err := c.add(dir); err != nil {
					return nil, err
				}
			}
		}
	}
	err := c.follow(m)
	slices.Sort(c.dirs)
	return c.dirs, err
}

// collector collects the members of one manifest.
type collector struct {
	a    *Adapter
	f    *snapshot.Files
	top  *cargotoml.Manifest
	seen map[string]bool
	dirs []string
}

// add adds a directory that holds a package, and the package's dependencies.
func (c *collector) add(dir string) error {
	if c.seen[dir] || c.top.Workspace != nil && c.top.Excludes(dir) {
		return nil
	}
	c.seen[dir] = true
	m, err := c.a.optional(c.f, dir)
	if err != nil || m == nil {
		return err
	}
	c.dirs = append(c.dirs, dir)
	return c.follow(m)
}

// follow adds the path dependencies of m that lie below the top.
func (c *collector) follow(m *cargotoml.Manifest) error {
	for _, d := range m.Dependencies {
		dir := c.top.DirOf(d)
		if dir == "" || !adapters.Within(c.top.Dir(), dir) {
			continue
		}
		if err := c.add(dir); err != nil {
			return err
		}
	}
	return nil
}
