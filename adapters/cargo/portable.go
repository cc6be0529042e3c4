package cargo

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Portable implements adapters.Porter: the packages of registries that the lockfile names, with their entries in the index.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	f := a.Now().Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.Portable{}, err
	}
	switch other, err := a.unread(f, p); {
	case err != nil:
		return adapters.Portable{}, err
	case other != "":
		return adapters.Portable{Stays: "cargo reads the manifests of all packages of a workspace, and " + other + " is no dependency"}, nil
	}
	home := a.home("CARGO_HOME", ".cargo")
	for _, name := range []string{"config.toml", "config"} {
		if f.Beyond().IsFile(filepath.Join(home, name)) {
			return adapters.Portable{Stays: "cargo's settings in " + filepath.Join(home, name) + " are not sent"}, nil
		}
	}
	tree := adapters.PortableTree{Dir: home, Variable: "CARGO_HOME", Only: []string{"registry/index/*/config.json"}}
	if lock, err := a.locks.Read(f, p.lock()); err == nil { // without one, the install makes it
		if len(lock.Sources) == 0 {
			return adapters.Portable{Stays: "its lockfile names no package that can be sent"}, nil
		}
		for _, of := range lock.Sources {
			if !strings.HasPrefix(of.Source, "registry+") && !strings.HasPrefix(of.Source, "sparse+") {
				return adapters.Portable{Stays: "its dependency " + of.Name + " comes from no registry"}, nil
			}
			release := of.Name + "-" + of.Version
			tree.Only = append(tree.Only, "registry/index/*/.cache/"+inIndex(of.Name), "registry/cache/*/"+release+".crate", "registry/src/*/"+release)
		}
	}
	return adapters.Portable{Trees: []adapters.PortableTree{tree}, Set: map[string]string{"CARGO_NET_OFFLINE": "true"}}, nil
}

// unread returns a package of p's workspace that p does not depend on, relative to the workspace; "" for none. Its manifest and its
// sources are no inputs of the tasks of p, and cargo looks for both.
func (a *Adapter) unread(f *snapshot.Files, p *project) (string, error) {
	reached := map[string]bool{p.Dir(): true}
	for todo := []string{p.Dir()}; len(todo) > 0; todo = todo[1:] {
		m, err := a.optional(f, todo[0])
		if err != nil {
			return "", err
		}
		if m == nil {
			continue
		}
		for _, d := range m.Dependencies {
			if dir := p.root.DirOf(d); dir != "" && !d.Dev && !reached[dir] {
				reached[dir] = true
				todo = append(todo, dir)
			}
		}
	}
	members, err := a.members(f, p.root)
	if p.root.Package != nil {
		members = append(members, p.root.Dir())
	}
	for _, dir := range members {
		if !reached[dir] {
			rel, err := filepath.Rel(p.root.Dir(), dir)
			return filepath.ToSlash(rel), err
		}
	}
	return "", err
}

// inIndex returns the path of a package in an index, https://doc.rust-lang.org/cargo/reference/registry-index.html#index-files.
func inIndex(name string) string {
	name = strings.ToLower(name)
	switch len(name) {
	case 1, 2:
		return path.Join(string(rune('0'+len(name))), name)
	case 3:
		return path.Join("3", name[:1], name)
	}
	return path.Join(name[:2], name[2:4], name)
}
