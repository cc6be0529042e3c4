package snapshot

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Search is a bounded search by name.
type Search struct {
	Levels int                                // of directories that are listed
	Match  func(name string, isDir bool) bool // ends the search
	Skip   func(dir string) bool              // reports whether a directory is passed over; nil: none is. Hidden ones always are
}

// maxListed is the maximal number of directories that a Search lists.
const maxListed = 300

// In returns the path of the first entry of dir or below it that matches, the upper levels first, or "". It stops,
// with full set, before it lists more than 300 directories. It follows no links.
func (s Search) In(f *Files, dir string) (path string, full bool) {
	level, listed := []string{dir}, 0
	for range s.Levels {
		var next []string
		for _, dir := range level {
			if listed++; listed > maxListed {
				return "", true
			}
			entries := f.List(dir)
			at := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return s.Match(e.Name(), e.IsDir()) })
			if at >= 0 {
				return filepath.Join(dir, entries[at].Name()), false
			}
			next = append(next, s.below(dir, entries)...)
		}
		level = next
	}
	return "", false
}

// below returns the directories among entries that the search goes into.
func (s Search) below(dir string, entries []fs.DirEntry) (dirs []string) {
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && (s.Skip == nil || !s.Skip(path)) {
			dirs = append(dirs, path)
		}
	}
	return dirs
}
