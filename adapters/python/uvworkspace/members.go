package uvworkspace

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// maxMembers is how many directories the globs of a workspace are compared with at most.
const maxMembers = 20_000

// MemberDirs returns the member directories of the workspace in f's directory with manifest
// p: those with a manifest below it.
func MemberDirs(f *snapshot.Files, p *pyproject.Project) []string {
	excluded := p.List("tool", "uv", "workspace", "exclude")
	var dirs []string
	for _, g := range p.List("tool", "uv", "workspace", "members") {
		glob := clean(g.Value)
		if !filepath.IsLocal(glob) || !doublestar.ValidatePattern(glob) {
			continue
		}
		for _, dir := range expand(f, glob) {
			rel, err := filepath.Rel(f.Dir(), dir)
			if err == nil && rel != "." && !anyMatch(excluded, filepath.ToSlash(rel)) && f.IsFile(filepath.Join(dir, manifest)) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// expand returns the directories below f's that a glob matches.
func expand(f *snapshot.Files, glob string) []string {
	dirs := []string{f.Dir()}
	for segment := range strings.SplitSeq(glob, "/") {
		var next []string
		for _, dir := range dirs {
			if next = append(next, step(f, dir, segment)...); len(next) > maxMembers {
				next = next[:maxMembers]
				break
			}
		}
		dirs = next
	}
	return dirs
}

// step returns the directories in dir that match one segment of a glob.
func step(f *snapshot.Files, dir, segment string) []string {
	switch {
	case segment == ".":
		return []string{dir}
	case segment == "**":
		return f.DirsBelow(dir, maxMembers)
	case !strings.ContainsAny(segment, `*?[{\`):
		return []string{filepath.Join(dir, segment)}
	}
	var dirs []string
	for _, e := range f.List(dir) {
		path := filepath.Join(dir, e.Name())
		isDir := e.IsDir() || e.Type()&fs.ModeSymlink != 0 && f.IsDir(path)
		if isDir && !strings.HasPrefix(e.Name(), ".") && doublestar.MatchUnvalidated(segment, e.Name()) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
