package deno

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/deno/denolock"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// lockfile is a parsed lockfile.
type lockfile struct {
	lock  *denolock.Lock // nil when it is missing or cannot be read
	whole string         // why it cannot be read
}

// lockOf returns the path of the lockfile, "" when it is missing, and its content.
func (a *Adapter) lockOf(f *snapshot.Files, p *project) (path string, l lockfile) {
	path = p.root.Lock
	if path == "" || !f.IsFile(path) {
		return "", lockfile{}
	}
	l, _ = a.locked.Get(f, path, func(f *snapshot.Files) (l lockfile, _ error) {
		data, err := f.Read(path)
		if err == nil {
			l.lock, err = denolock.Parse(path, data)
		}
		if err != nil {
			l.whole = strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
		}
		return l, nil
	})
	return path, l
}

// LockDigest implements adapters.LockDigester: the part of the workspace's lockfile that
// the project in dir and the members that it imports depend on.
func (a *Adapter) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LockAnswer{}, err
	}
	ans := adapters.LockAnswer{}
	var l lockfile
	ans.File, l = a.lockOf(f, p)
	ans.Whole = l.whole
	if l.lock != nil {
		var members []string
		for _, dir := range a.reached(f, p) {
			if rel, err := filepath.Rel(p.scope(), dir); err == nil {
				members = append(members, filepath.ToSlash(rel))
			}
		}
		ans.Digest = l.lock.Digest(members...)
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// reached returns the directories of the project and of the members that it imports,
// directly or through others.
func (a *Adapter) reached(f *snapshot.Files, p *project) []string {
	queue := []string{p.dir}
	seen := map[string]bool{p.dir: true}
	for i := 0; i < len(queue); i++ {
		links, err := a.links(f, queue[i])
		if err != nil {
			continue
		}
		for _, link := range links {
			if dir := a.memberOf(p, link); dir != "" && !seen[dir] {
				seen[dir] = true
				queue = append(queue, dir)
			}
		}
	}
	return queue
}

// memberOf returns the member that contains the target of a link.
func (a *Adapter) memberOf(p *project, link adapters.Link) string {
	if name, ok := strings.CutPrefix(link.Package, packageID(p, "")); ok && link.Package != "" {
		return a.names.find(a, p.root, name)
	}
	for dir := link.Dir; dir != p.scope() && len(dir) > len(p.scope()); dir = filepath.Dir(dir) {
		if names(p.root, dir) {
			return dir
		}
	}
	return ""
}
