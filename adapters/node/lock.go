package node

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/lockfile"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// lockReader is a parsed lockfile in one of two forms.
type lockReader struct {
	lock    *lockfile.Lock    // with the members
	classic *lockfile.Classic // does not
	whole   string            // why it cannot be read
}

// LockDigest implements adapters.LockDigester: the part of the workspace's lockfile that
// the package in dir depends on. A package outside of a workspace depends on all of its lockfile,
// which is not read: it is often the largest file of a repository.
func (a *Adapter) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return adapters.LockAnswer{}, err
	}
	ans := adapters.LockAnswer{File: a.lockOf(f, p.Scope()), Parts: rootPart(p)}
	if ans.File != "" && p.Space != nil {
		l, _ := a.locked.Get(f, p.Scope(), func(f *snapshot.Files) (lockReader, error) {
			return readLock(f, a.lockOf(f, f.Dir())), nil
		})
		ans.Digest, ans.Whole = l.of(a, f, p, filepath.Base(ans.File))
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// readLock reads a lockfile of any manager, by its name.
func readLock(f *snapshot.Files, path string) (l lockReader) {
	name := filepath.Base(path)
	if name == "bun.lockb" {
		l.whole = `bun.lockb is not text; "bun install --save-text-lockfile" turns it into bun.lock`
		return l
	}
	data, err := f.Read(path)
	if err == nil {
		switch {
		case name == "bun.lock":
			l.lock, err = lockfile.ParseBun(path, data)
		case name == "pnpm-lock.yaml":
			l.lock, err = lockfile.ParsePNPM(path, data)
		case name == "yarn.lock" && lockfile.IsClassic(data):
			l.classic, err = lockfile.ParseClassic(data)
		case name == "yarn.lock":
			l.lock, err = lockfile.ParseYarn(path, data)
		default:
			l.lock, err = lockfile.ParseNPM(path, data)
		}
	}
	if err != nil {
		l.whole = strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
	}
	return l
}

// of returns the digest for a package, or why it has none.
func (l *lockReader) of(a *Adapter, f *snapshot.Files, p *project.Project, name string) (digest, whole string) {
	switch {
	case l.whole != "":
		return "", l.whole
	case l.classic != nil:
		return a.classicDigest(f, p, l.classic), ""
	}
	rel, err := filepath.Rel(p.Scope(), p.Dir)
	if err == nil {
		if digest, ok := l.lock.Digest(filepath.ToSlash(rel)); ok {
			return digest, ""
		}
	}
	return "", fmt.Sprintf("%s does not name the member %q yet", name, filepath.ToSlash(rel))
}

// classicDigest returns the digest of the requirements of a package and of the members that
// it depends on: the lockfile of yarn 1 has no members. Every member also depends on the
// root's requirements.
func (a *Adapter) classicDigest(f *snapshot.Files, p *project.Project, lock *lockfile.Classic) string {
	c := &closure{adapter: a, files: f, project: p, lock: lock, seen: make(map[string]bool)}
	c.add(p.Manifest)
	if root := p.Root(); root != nil {
		c.add(root)
	}
	for i := 0; i < len(c.queue); i++ {
		if m, err := a.Read(f, c.queue[i]); err == nil && m != nil {
			c.add(m)
		}
	}
	return lockgraph.Join(c.sums...).String()
}

// closure collects the packages that a package resolves to, through members.
type closure struct {
	adapter *Adapter
	files   *snapshot.Files
	project *project.Project
	lock    *lockfile.Classic
	seen    map[string]bool // members that were seen, by directory
	queue   []string        // members to read
	sums    []lockgraph.Sum
}

func (c *closure) add(m *packagejson.Manifest) {
	for _, d := range m.Dependencies {
		if d.Group == packagejson.Peer {
			continue
		}
		if sum, ok := c.lock.Find(d.Name, d.Value); ok {
			c.sums = append(c.sums, lockgraph.Of(d.Name, sum.String()))
		} else if dir := c.member(d.Name); dir != "" {
			c.queue = append(c.queue, dir)
		}
	}
	c.sums = slices.Clip(c.sums)
}

// member returns the directory of a member that was not seen yet, "" when no member has
// that name.
func (c *closure) member(name string) string {
	if c.project.Space == nil {
		return ""
	}
	dir := c.adapter.names.find(c.adapter, c.project.Space, name)
	if dir == "" || c.seen[dir] {
		return ""
	}
	c.seen[dir] = true
	return dir
}
