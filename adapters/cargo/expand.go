package cargo

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// maxExpanded is how many directories one pattern is compared with at most.
const maxExpanded = 20_000

// expand returns the directories below dir that a pattern of members matches.
func expand(f *adapters.Files, dir, pattern string) []string {
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
func step(f *adapters.Files, dir, segment string) []string {
	switch {
	case segment == "" || segment == ".":
		return []string{dir}
	case segment == "**":
		return below(f, dir, nil)
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

// below appends dir and all directories under it, except hidden ones and links.
func below(f *adapters.Files, dir string, dirs []string) []string {
	if len(dirs) > maxExpanded {
		return dirs
	}
	dirs = append(dirs, dir)
	for _, e := range f.List(dir) {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			dirs = below(f, filepath.Join(dir, e.Name()), dirs)
		}
	}
	return dirs
}
