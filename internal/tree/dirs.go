package tree

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// DirStamp is a directory with its times at the last look.
type DirStamp struct {
	Path string
	Stamp
}

// DirsOf returns the directories that contain entries, sorted by path, and their parents, without
// the root. The stamps are those of the walk, or of the last Apply.
func (t *Tree) DirsOf(entries []Entry) []DirStamp {
	t.mu.RLock()
	top := t.top
	t.mu.RUnlock()
	var list []DirStamp
	seen := make(map[string]bool)
	last := ""
	for i := range entries {
		dir := parentPath(entries[i].Path)
		if dir == last {
			continue
		}
		last = dir
		for ; dir != "" && !seen[dir]; dir = dir[:max(0, strings.LastIndexByte(dir, '/'))] {
			seen[dir] = true
			list = append(list, t.stampOf(top, dir))
		}
	}
	return list
}

// stampOf returns the stamp of a walked directory, or the current one of another.
func (t *Tree) stampOf(top *dirNode, dir string) DirStamp {
	if n := top.Find(dir); n.Path == dir && n.Stamp != (Stamp{}) {
		return DirStamp{dir, n.Stamp}
	}
	e, _ := Stat(t.root, dir)
	return DirStamp{dir, e.Stamp()}
}

// ListStamp returns the stamp of a directory outside of any Tree, and reports whether every later
// change of its list of names changes the stamp: the file system is local, and the last change was
// long ago. The stamp is zero if dir is not a directory.
func ListStamp(dir string) (s Stamp, settled bool) { return disk.ListStamp(dir) }

// IsThere reports whether the path of the root still leads to the directory that was walked.
func (t *Tree) IsThere() bool { return t.disk.IsThere() }

// Altered reports whether an entry was added to the directory dir or to one below it, or removed there,
// since their names were read. It looks at no files.
func (t *Tree) Altered(dir string) bool {
	n := t.dirNode(dir)
	return n != nil && t.altered(n)
}

func (t *Tree) altered(n *dirNode) bool {
	now, err := t.Stat(n.Path)
	return err != nil || now.Stamp() != n.Stamp || slices.ContainsFunc(n.Dirs, t.altered)
}

// Swapped reports whether the directory was replaced, or moved away and back, since its stamp was
// read. A move changes only its Ctime. Adding and removing entries also changes its Mtime, and does
// not affect its other files. Swapped does not detect that the tree's root was replaced: IsThere
// does.
func (t *Tree) Swapped(d DirStamp) bool {
	now, err := t.Stat(d.Path)
	if err != nil || now.Kind != Dir {
		return d.Stamp != (Stamp{})
	}
	return d.SwappedBy(now.Stamp())
}

// SwappedBy is Swapped for a directory that has the stamp now.
func (d *DirStamp) SwappedBy(now Stamp) bool {
	return now.Ino != d.Ino || now.Dev != d.Dev || now.Ctime != d.Ctime && now.Mtime == d.Mtime
}
