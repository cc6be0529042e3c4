package project

import (
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Manager is a package manager, by the name of its executable.
type Manager string

// The package managers of a project.
const (
	NPM  Manager = "npm"
	PNPM Manager = "pnpm"
	Yarn Manager = "yarn"
	Bun  Manager = "bun"
)

// marks returns the files that identify the managers, by precedence.
func marks() []struct {
	name string
	of   Manager
} {
	return []struct {
		name string
		of   Manager
	}{
		{"pnpm-lock.yaml", PNPM},
		{"yarn.lock", Yarn},
		{"bun.lock", Bun},
		{"bun.lockb", Bun},
		{"package-lock.json", NPM},
		{"npm-shrinkwrap.json", NPM},
		{"pnpm-workspace.yaml", PNPM},
	}
}

// Decide returns the manager of the package in f's directory. A packageManager field wins
// over a lockfile, the nearer over the farther. For a member the search ends at the root of
// its workspace; a package outside of one keeps its own lockfile whatever stands above it.
func (s *Shelf) Decide(f *snapshot.Files) Manager {
	own, _ := s.Read(f, f.Dir())
	if of, ok := declared(own); ok {
		return of
	}
	above := s.above(f)
	outer, _ := outerSpace(above, f.Dir())
	locked := lockedBy(f.IsFile)
	for _, l := range above {
		if outer == nil && locked != "" {
			break
		}
		if of, ok := declared(l.manifest); ok {
			return of
		}
		if locked == "" {
			locked = lockedBy(l.isFile)
		}
		if outer != nil && l.Dir == outer.Dir {
			break
		}
	}
	if locked == "" {
		return NPM
	}
	return locked
}

// declared returns the manager of packageManager, else of devEngines.
func declared(m *packagejson.Manifest) (of Manager, ok bool) {
	if m == nil {
		return "", false
	}
	name, _ := m.Manager()
	for _, e := range m.DevEngines {
		if name == "" && e.Kind == "packageManager" {
			name = e.Name
		}
	}
	switch of := Manager(name); of {
	case "":
		return "", false
	case PNPM, Yarn, Bun:
		return of, true
	}
	return NPM, true
}

func lockedBy(isFile func(name string) bool) Manager {
	for _, m := range marks() {
		if isFile(m.name) {
			return m.of
		}
	}
	return ""
}
