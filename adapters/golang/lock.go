package golang

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// LockDigest implements adapters.LockDigester: the sums of the modules that the one in
// dir may need, of any version, since which one is taken only the go command knows. In
// a workspace they are those of go.work.sum, else of go.sum.
func (a *Adapter) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	f := adapters.NewFiles(dir)
	p, err := a.project(f)
	if err != nil || p.mod == nil {
		return adapters.LockAnswer{Reads: f.Reads()}, err
	}
	answer := adapters.LockAnswer{File: filepath.Join(p.dir, "go.sum")}
	if p.work != nil {
		answer.File = filepath.Join(p.work.Dir(), "go.work.sum")
	}
	lines, unread := a.sums.Read(f, answer.File)
	switch {
	case errors.Is(unread, fs.ErrNotExist):
		answer.File = ""
	case unread != nil:
		answer.Whole = unread.Error()
	default:
		n := &needs{a: a, f: f, paths: make(map[string]bool), seen: make(map[string]bool)}
		if answer.Whole, err = n.of(p); answer.Whole == "" {
			answer.Digest = lines.Digest(n.paths)
		}
	}
	answer.Reads = f.Reads()
	return answer, err
}

// needs collects the modules that take part in the build of one.
type needs struct {
	a     *Adapter
	f     *adapters.Files
	paths map[string]bool
	seen  map[string]bool // directories
}

// of adds what p needs, and the members of the workspace that it uses. It gives why
// that cannot be told.
func (n *needs) of(p *project) (why string, err error) {
	n.seen[p.dir] = true
	if !p.mod.ListsAll() {
		return fmt.Sprintf("%s is older than go 1.17, which does not name all modules", p.mod.Name), nil
	}
	for _, r := range p.mod.Requires {
		n.paths[r.Path] = true
	}
	for _, path := range p.mod.Instead {
		n.paths[path] = true
	}
	if p.work == nil {
		return "", nil
	}
	for _, path := range p.work.Instead {
		n.paths[path] = true
	}
	siblings, err := n.a.siblings(n.f, p)
	if err != nil {
		return "", err
	}
	g := &linker{f: n.f, p: p, siblings: siblings}
	g.required()
	g.imported()
	for _, s := range g.used {
		if n.seen[s.dir] {
			continue
		}
		f := adapters.NewFiles(s.dir)
		why, err = (&needs{a: n.a, f: f, paths: n.paths, seen: n.seen}).of(&project{dir: s.dir, mod: s.mod, work: p.work})
		for _, path := range f.Reads() {
			n.f.Path(path)
		}
		if why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}
