package answers

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/tree"
)

// trace is the state of a path that an answer has seen. Around is a stamp of the tree at that time. For an
// absent path it is the stamp of the directory that would contain it, or of its first absent parent. For a
// listed directory it is the stamp of the directory. If the stamp is the same, no path needs another look.
// It is zero if the tree has no stamp.
type trace struct {
	adapters.State
	Around tree.Stamp
}

// looker compares traces with the files.
type looker struct {
	files *tree.Tree
	from  snapshot.Source

	last walkedDir            // consecutive files often share a directory
	dirs map[string]walkedDir // those that were looked up; nil if few files share one
}

// walkedDir is the state of a directory in the tree.
type walkedDir struct {
	dir     string
	stamp   tree.Stamp
	found   bool
	settled bool // see tree.SettledDir; only in dirs
}

// at returns the state of a directory, relative to the root, in the tree.
func (l *looker) at(dir string) walkedDir {
	if l.last.found && dir == l.last.dir {
		return l.last
	}
	w, known := l.dirs[dir]
	if !known {
		w.dir = dir
		w.stamp, w.found = l.files.Stamp(dir)
		if l.dirs != nil {
			w.settled = l.files.SettledDir(dir)
			l.dirs[dir] = w
		}
	}
	l.last = w
	return w
}

// settled is tree.SettledDir.
func (l *looker) settled(dir string) bool {
	if l.dirs != nil {
		return l.at(dir).settled
	}
	return l.files.SettledDir(dir)
}

// holds reports whether the path still has its trace. It is cheap unless the disk was read
// because Around has changed.
func (l *looker) holds(path string, t trace) (ok, cheap bool) {
	if t.Around != (tree.Stamp{}) && l.around(path, t.Kind) == t.Around {
		return true, true
	}
	now := l.from.State(path, t.Sum != [32]byte{})
	return t.State.Holds(now), t.Around == tree.Stamp{} && !l.mayHaveAround(path, t.State)
}

// holdsAt reports whether a spot still has its trace.
func (l *looker) holdsAt(s spot, t trace) (ok, cheap bool) {
	if s.Absent == "" {
		return l.holds(s.Path, t)
	}
	if rel, inside := l.relative(s.Path); inside && t.Kind == adapters.Absent {
		if stamp, found := l.files.Stamp(rel); found && stamp == t.Around {
			return true, true
		}
	}
	for path := range s.paths() {
		if l.from.State(path, false).Kind != adapters.Absent {
			return false, false
		}
	}
	return t.Kind == adapters.Absent, false
}

// paths yields the paths of a spot.
func (s spot) paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.Absent == "" {
			yield(s.Path)
			return
		}
		for rest := s.Absent; rest != ""; {
			var name string
			name, rest, _ = strings.Cut(rest, "\x00")
			if !yield(filepath.Join(s.Path, filepath.FromSlash(name))) {
				return
			}
		}
	}
}

// around returns the stamp that the tree has for a path of this kind.
func (l *looker) around(path string, k adapters.Kind) tree.Stamp {
	if k == adapters.Directory {
		path = filepath.Join(path, "-") // any name in it
	}
	stamp, _ := l.nearest(path)
	return stamp
}

// mayHaveAround reports whether traced would find Around.
func (l *looker) mayHaveAround(path string, s adapters.State) bool {
	return l.traced(path, s).Around != tree.Stamp{}
}

// traced returns the trace of a path that was seen in state s since the walk. It sets Around only if the
// stamp of the walk excludes a later change.
func (l *looker) traced(path string, s adapters.State) trace {
	t := trace{State: s}
	rel, inside := l.relative(path)
	switch {
	case !inside:
	case s.Kind == adapters.Directory && s.Sum != [32]byte{}:
		if w := l.at(rel); w.found && l.settled(rel) {
			t.Around = w.stamp
		}
	case s.Kind == adapters.Absent:
		near, first := l.nearest(path)
		if first != "" && l.isMissing(first) && l.settled(parent(first)) {
			t.Around = near
		}
	}
	return t
}

// isMissing reports whether a path in a walked directory is missing, now or in the walk.
func (l *looker) isMissing(rel string) bool {
	if l.files.Lacks(rel) {
		return true
	}
	_, err := tree.Stat(l.files.Root(), rel)
	return errors.Is(err, fs.ErrNotExist)
}

// nearest returns the stamp of the nearest directory of the walk above a path, and the path of its child
// on the way to the path, relative to the root.
func (l *looker) nearest(path string) (stamp tree.Stamp, first string) {
	rel, inside := l.relative(path)
	for inside && rel != "" {
		up := parent(rel)
		if w := l.at(up); w.found {
			return w.stamp, rel
		}
		rel = up
	}
	return tree.Stamp{}, ""
}

// near returns the absolute path of the directory whose stamp nearest returns for a path in the workspace.
func (l *looker) near(path string) string {
	rel, _ := l.relative(path)
	_, first := l.nearest(path)
	up := parent(first)
	if up == "" {
		return l.files.Root()
	}
	return path[:len(path)-len(rel)+len(up)]
}

// parent returns the parent of a path relative to the root, "" for the root.
func parent(rel string) string { return rel[:max(0, strings.LastIndexByte(rel, '/'))] }

// relative returns an absolute path relative to the workspace, "" for the root itself.
func (l *looker) relative(path string) (rel string, inside bool) {
	return relative(l.files.Root(), path)
}

func relative(root, path string) (rel string, inside bool) {
	if path == root {
		return "", true
	}
	rel, inside = strings.CutPrefix(path, root)
	if inside && root[len(root)-1] != filepath.Separator {
		rel, inside = strings.CutPrefix(rel, string(filepath.Separator))
	}
	if !inside || clone.Clean(path) != path {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
