package cargo

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// maxExpanded is how many directories one pattern is compared with at most.
const maxExpanded = 20_000

// expand returns the directories below dir that a pattern of members matches.
func expand(f *snapshot.Files, dir, pattern string) []string {
	dirs := []string{dir}
	for segment := range strings.SplitSeq(filepath.ToSlash(pattern), "/") {
		var next []string
		for _, dir := range dirs {
			next = append(next, step(f, dir, segment)...)
			if len(next) > maxExpanded {
				return next[:maxExpanded]
			}
		}
		dirs = next
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// step returns the directories that one segment of a pattern matches in dir.
func step(f *snapshot.Files, dir, segment string) []string {
	switch {
	case segment == "" || segment == ".":
		return []string{dir}
	case segment == "**":
		return f.DirsBelow(dir, maxExpanded)
	case !strings.ContainsAny(segment, "*?["):
		return []string{filepath.Join(dir, segment)}
	}
	segment = strings.ReplaceAll(segment, "[!", "[^")
	var dirs []string
	for _, e := range f.List(dir) {
		if ok, err := filepath.Match(segment, e.Name()); !ok || err != nil {
			continue
		}
		if path := filepath.Join(dir, e.Name()); e.IsDir() || e.Type()&fs.ModeSymlink != 0 && f.IsDir(path) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
