package key

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree"
)

// maxLinks is the largest number of symbolic links in a row that are followed.
const maxLinks = 40

// follow returns the path that a link leads to, relative to the workspace and with every link
// resolved, whether or not it exists. ok is false if the path is outside, and the path is empty if
// the links form a loop.
func follow(tr *tree.Tree, link tree.Entry) (at string, ok bool, err error) {
	var rest string
	for links := 0; ; links++ {
		if links > maxLinks {
			return "", true, nil
		}
		target, err := tr.Readlink(link)
		if err != nil {
			return "", true, err
		}
		if at, rest, ok = from(tr.Root(), link.Path, target+"/"+rest); !ok {
			return "", false, nil
		}
		if at, rest, link, ok = walk(tr, at, rest); !ok || link.Path == "" {
			return at, ok, nil
		}
	}
}

// from returns the directory that the target of a link is relative to, and the rest of the target.
func from(root, link, target string) (at, rest string, ok bool) {
	if !path.IsAbs(target) {
		return path.Dir(link), target, true
	}
	rel, err := filepath.Rel(root, filepath.FromSlash(target))
	return ".", filepath.ToSlash(rel), err == nil
}

// walk follows a path from a directory to the first link, or to the end if there is none.
// ok is false if the path leaves the workspace.
func walk(tr *tree.Tree, from, way string) (at, rest string, link tree.Entry, ok bool) {
	for at = from; way != ""; {
		var name string
		name, way, _ = strings.Cut(way, "/")
		next := path.Join(at, name)
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", "", link, false
		}
		if entry, found := tr.Lookup(next); found && entry.Kind == tree.Link {
			return at, way, entry, true
		}
		at = next
	}
	return at, "", link, true
}

// LinkTargets returns the files that links among entries lead to, by path, and the targets of those
// links.
func LinkTargets(tr *tree.Tree, entries []tree.Entry) (files []tree.Entry, at []string) {
	for _, link := range entries {
		if link.Kind != tree.Link {
			continue
		}
		p, ok, err := follow(tr, link)
		if !ok || err != nil || p == "" || Inside(link.Path, p) {
			continue
		}
		at = append(at, p)
		if e, found := tr.Lookup(p); found {
			files = append(files, e)
		} else {
			files = append(files, tr.Under(p)...)
		}
	}
	slices.SortFunc(files, func(x, y tree.Entry) int { return strings.Compare(x.Path, y.Path) })
	return slices.CompactFunc(files, func(x, y tree.Entry) bool { return x.Path == y.Path }), at
}
