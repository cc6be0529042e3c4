package node

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
)

const packageFile = "package.json"

// manager is a package manager, by the name of its executable.
type manager string

// The package managers that a project can be of.
const (
	npm  manager = "npm"
	pnpm manager = "pnpm"
	yarn manager = "yarn"
	bun  manager = "bun"
)

// lockfiles are the marks of the managers, in the order in which they count.
func lockfiles() []struct {
	name string
	of   manager
} {
	return []struct {
		name string
		of   manager
	}{
		{"pnpm-lock.yaml", pnpm},
		{"yarn.lock", yarn},
		{"bun.lock", bun},
		{"bun.lockb", bun},
		{"package-lock.json", npm},
		{"npm-shrinkwrap.json", npm},
	}
}

// decide tells whose the package in f's directory is. A packageManager field
// decides before a lockfile, the nearer before the farther. For a member the
// search ends at the root of its workspace; what belongs to none keeps its own
// lockfile whatever stands above it.
func (a *Adapter) decide(f *adapters.Files) manager {
	root, _ := a.workspaceOf(f)
	var locked manager
	for dir := range f.Ancestors() {
		m, _ := a.read(f, filepath.Join(dir, packageFile))
		if of, ok := declared(m); ok {
			return of
		}
		if locked == "" {
			locked = lockedBy(f, dir)
		}
		if root == nil && locked != "" || root != nil && dir == dirOf(root) {
			break
		}
	}
	if locked == "" {
		return npm
	}
	return locked
}

func declared(m *packagejson.Manifest) (of manager, ok bool) {
	if m == nil || m.PackageManager.Value == "" {
		return "", false
	}
	name, _ := m.Manager()
	switch of := manager(name); of {
	case pnpm, yarn, bun:
		return of, true
	}
	return npm, true
}

func lockedBy(f *adapters.Files, dir string) manager {
	for _, lock := range lockfiles() {
		if f.IsFile(filepath.Join(dir, lock.name)) {
			return lock.of
		}
	}
	return ""
}

func dirOf(m *packagejson.Manifest) string { return filepath.Dir(m.Path) }
