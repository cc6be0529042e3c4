package python

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
)

// choosePoetry decides what poetry installs: the project, the groups that are not optional,
// and those groups and extras that declare the tools of its recipes. A tool that is only
// configured is not installed.
func (p *project) choosePoetry() {
	p.groups = slices.DeleteFunc(slices.Clone(p.Groups), func(g pyproject.Group) bool { return g.Optional })
	for i := range p.tools {
		t := &p.tools[i]
		t.Configured = false
		t.Declared = p.covers(t.Name) || p.poetryHas(t.Name) || p.chooseOptional(t.Name) || p.choosePoetryExtra(t.Name)
	}
}

func (p *project) poetryHas(name string) bool {
	return slices.ContainsFunc(p.Poetry, func(r requirements.Requirement) bool { return r.Name == name })
}

func (p *project) chooseOptional(name string) bool {
	g := pyproject.Preferred(p.Groups, name)
	if g != nil {
		p.groups = append(p.groups, *g)
	}
	return g != nil
}

func (p *project) choosePoetryExtra(name string) bool {
	e := pyproject.Preferred(p.Extras, name)
	if e != nil {
		p.extras = append(p.extras, e.Name)
	}
	return e != nil
}

// poetryInstall returns the command. Poetry itself refuses a lockfile that does not match
// the manifest.
func (p *project) poetryInstall() []string {
	args := []string{"poetry", "install", "--no-interaction", "--no-ansi"}
	for _, g := range p.groups {
		if g.Optional {
			args = append(args, "--with", g.Name)
		}
	}
	for _, extra := range p.extras {
		args = append(args, "--extras", extra)
	}
	return args
}

// LockDigest implements adapters.LockDigester: everything that poetry.lock resolves to.
func (a *Adapter) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	if !f.IsFile(poetryLock) || !f.IsFile("pyproject.toml") {
		return adapters.LockAnswer{Reads: f.Reads()}, nil
	}
	ans := adapters.LockAnswer{File: filepath.Join(dir, poetryLock)}
	data, err := f.Read(poetryLock)
	if err == nil {
		ans.Digest, err = lockfile.PoetryDigest(ans.File, data)
	}
	if err != nil {
		ans.Whole = lockfile.Whole(err)
	}
	ans.Reads = f.Reads()
	return ans, nil
}
