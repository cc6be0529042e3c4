package tree

import (
	"strings"

	"github.com/bentobuild/bento/internal/tree/node"
)

// DirStamp is a directory and its times, as they were when somebody looked.
type DirStamp struct {
	Path string
	Stamp
}

// DirsOf returns the directories that entries, sorted by path, lie in, and those around
// them, less the root. Their stamps are those of the walk, or of the last Refresh.
func (t *Tree) DirsOf(entries []Entry) []DirStamp {
	t.mu.RLock()
	top := t.top
	t.mu.RUnlock()
	var list []DirStamp
	seen := make(map[string]bool)
	last := ""
	for i := range entries {
		dir := node.Parent(entries[i].Path)
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

// stampOf returns the stamp of a directory that was walked, or looks at one that was not.
func (t *Tree) stampOf(top *node.Node, dir string) DirStamp {
	if n := top.Find(dir); n.Path == dir && n.Stamp != (Stamp{}) {
		return DirStamp{dir, n.Stamp}
	}
	e, _ := Stat(t.root, dir)
	return DirStamp{dir, e.Stamp()}
}

// Swapped reports whether the directory was replaced since, or moved away and put back:
// that changes its Ctime alone. What is made in it and removed from it changes its Mtime
// as well, and says nothing of the files that were there before.
func (d DirStamp) Swapped(root string) bool {
	now, err := Stat(root, d.Path)
	if err != nil || now.Kind != Dir {
		return d.Stamp != (Stamp{})
	}
	return now.Ino != d.Ino || now.Dev != d.Dev || now.Ctime != d.Ctime && now.Mtime == d.Mtime
}
