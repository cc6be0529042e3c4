package cargo

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/bentobuild/bento/adapters"
)

// LockDigest implements adapters.LockDigester: the packages that the package in dir
// resolves to in the Cargo.lock of its workspace. A workspace without a package depends on
// the whole file.
func (a *Adapter) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return adapters.LockAnswer{}, err
	}
	if p.Package == nil {
		return adapters.LockAnswer{Reads: f.Reads()}, nil
	}
	answer := adapters.LockAnswer{File: p.lock()}
	lock, err := a.locks.Read(f, answer.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		answer.File = ""
	case err != nil:
		answer.Whole = err.Error()
	default:
		answer.Digest, answer.Whole = lock.Sum(p.Package.Name, p.version())
	}
	answer.Reads = f.Reads()
	return answer, nil
}

// version returns the package's version, also if it is inherited from the workspace.
func (p *project) version() string {
	if p.root.Workspace == nil {
		return p.Package.Version
	}
	return cmp.Or(p.Package.Version, p.root.Workspace.Version)
}
