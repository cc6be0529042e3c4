package golang

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/lockgraph"
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
		answer.File = filepath.Join(p.work.dir(), "go.work.sum")
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
			answer.Digest = lines.digest(n.paths)
		}
	}
	answer.Reads = f.Reads()
	return answer, err
}

// sums are the lines of a go.sum by the path of their module,
// https://go.dev/ref/mod#go-sum-files.
type sums map[string][]string

func parseSums(path string, data []byte) (sums, error) {
	all := make(sums)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue // as go itself allows
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d is none of %s", n, filepath.Base(path))
		}
		all[fields[0]] = append(all[fields[0]], fields[1]+" "+fields[2])
	}
	return all, nil
}

func (s sums) digest(paths map[string]bool) string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		of := slices.Sorted(slices.Values(s[path]))
		for _, line := range slices.Compact(of) {
			lines = append(lines, path+" "+line)
		}
	}
	return lockgraph.Of(lines...).String()
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
	if !p.mod.listsAll() {
		return fmt.Sprintf("%s is older than go 1.17, which does not name all modules", p.mod.name), nil
	}
	for _, r := range p.mod.requires {
		n.paths[r.path] = true
	}
	for _, path := range p.mod.instead {
		n.paths[path] = true
	}
	if p.work == nil {
		return "", nil
	}
	for _, path := range p.work.instead {
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
