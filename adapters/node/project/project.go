package project

import (
	"fmt"

	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Project is a package with the directories above it. It is shared and does not change.
type Project struct {
	*packagejson.Manifest
	Dir   string
	Above []*Level
	Space *Space // that it belongs to, or is the root of; or nil

	own *Space // that it is the root of
}

// Open reads the package in f's directory. The error is a diagnostics.Problems, also when
// the manifest of a workspace above it cannot be read.
func (s *Shelf) Open(f *snapshot.Files) (*Project, error) {
	return s.projects.Get(f, f.Dir(), s.open)
}

func (s *Shelf) open(f *snapshot.Files) (*Project, error) {
	p := &Project{Dir: f.Dir()}
	var err error
	if p.Manifest, err = s.Read(f, f.Dir()); err != nil {
		return nil, err
	}
	if p.Manifest == nil {
		return nil, fmt.Errorf("%s: no package.json", f.Dir())
	}
	if len(p.Workspaces) > 0 || f.IsFile(settings.PNPMFile) {
		if p.own, err = s.SpaceAt(f, f.Dir()); err != nil {
			return nil, err
		}
	}
	p.Above, p.Space = s.above(f), p.own
	outer, err := outerSpace(p.Above, f.Dir())
	if err != nil {
		return nil, err
	}
	if outer != nil && (p.own == nil || lockedBy(f.IsFile) == "") {
		p.Space = outer
	}
	return p, nil
}

// outerSpace returns the workspace above that names dir as a member, or nil. Where its root
// is in turn a member and has no lockfile of its own, the outer workspace is returned.
func outerSpace(above []*Level, dir string) (*Space, error) {
	var found *Space
	for _, l := range above {
		if l.err != nil {
			return nil, l.err
		}
		if l.space != nil && (l.space.has(dir) || found != nil && l.space.has(found.Dir)) {
			found = l.space
		}
		if found != nil && lockedBy(l.isFile) != "" {
			break
		}
	}
	return found, nil
}

// Scope returns the directory that is installed as one.
func (p *Project) Scope() string {
	if p.Space == nil {
		return p.Dir
	}
	return p.Space.Dir
}

// IsMember reports whether a workspace above names the package.
func (p *Project) IsMember() bool { return p.Space != nil && p.Space.Dir != p.Dir }

// Aggregate returns the workspace that the package is the root of, or nil.
func (p *Project) Aggregate() *Space { return p.own }

// Root returns the package at the root of the workspace, the package itself outside of one;
// nil when that root has no package.json.
func (p *Project) Root() *packagejson.Manifest {
	if p.IsMember() {
		return p.Space.Manifest
	}
	return p.Manifest
}

// Manifests returns the manifests that may hold settings of the package, the nearer first.
func (p *Project) Manifests() []*packagejson.Manifest {
	list := []*packagejson.Manifest{p.Manifest}
	if root := p.Root(); p.IsMember() && root != nil {
		list = append(list, root)
	}
	return list
}
