package golang

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// LockDigest implements adapters.LockDigester: the sums of all versions of the modules that
// the module in dir may need, since only the go command knows which version it takes. In a
// workspace they are those of go.work.sum, else of go.sum.
func (a *Adapter) LockDigest(_ context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
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
		if answer.Whole, err = n.all(p); answer.Whole == "" {
			answer.Digest = lines.Digest(n.paths)
		}
	}
	answer.Reads = f.Reads()
	return answer, err
}

// needs collects the modules that take part in the build of one.
type needs struct {
	a     *Adapter
	f     *snapshot.Files
	paths map[string]bool
	seen  map[string]bool // directories
	queue []member
}

// all adds the needs of p, and of the members of the workspace that it uses. It returns why
// it cannot.
func (n *needs) all(p *project) (why string, err error) {
	var s *space
	if p.work != nil {
		if s, err = n.a.space(n.f, p); err != nil {
			return "", err
		}
		for _, path := range p.work.Instead {
			n.paths[path] = true
		}
	}
	n.add(member{p.dir, p.mod})
	for len(n.queue) > 0 {
		m := n.queue[0]
		n.queue = n.queue[1:]
		if !m.mod.ListsAll() {
			return fmt.Sprintf("%s is older than go 1.17, which does not name all modules", m.mod.Name), nil
		}
		for _, r := range m.mod.Requires {
			n.paths[r.Path] = true
		}
		for _, path := range m.mod.Instead {
			n.paths[path] = true
		}
		if s == nil {
			break
		}
		for _, u := range s.usedBy(n.f, m.dir, m.mod, p.work.File) {
			n.add(u.member)
		}
	}
	return "", nil
}

func (n *needs) add(m member) {
	if !n.seen[m.dir] {
		n.seen[m.dir] = true
		n.queue = append(n.queue, m)
	}
}
