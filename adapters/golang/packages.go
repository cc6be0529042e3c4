package golang

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Bounds of how many directories of a module are read: for its shape, and for its imports.
// Directories without Go files are among them.
const (
	shapeDirs  = 2_000
	importDirs = 50_000
)

// tree walks the directories of a module as the pattern "./..." does. It leaves out names
// that begin with "." or "_", vendor, testdata, directories that go.mod ignores, and other
// modules.
type tree struct {
	f       *snapshot.Files
	ignores []string
	left    int // directories that may still be read
}

func newTree(f *snapshot.Files, m *gomod.Module, dirs int) *tree {
	return &tree{f: f, ignores: m.Ignores, left: dirs}
}

// each calls visit for every directory that holds Go files, until visit returns false. It
// reports whether it read all directories.
func (t *tree) each(visit func(dir string, files []string) bool) bool {
	return t.walk(t.f.Dir(), visit)
}

func (t *tree) walk(dir string, visit func(string, []string) bool) bool {
	if t.left--; t.left < 0 {
		return false
	}
	var files, dirs []string
	for _, e := range t.f.List(dir) {
		switch name := e.Name(); {
		case name == "go.mod" && dir != t.f.Dir():
			return true
		case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"):
		case e.IsDir():
			dirs = append(dirs, name)
		case strings.HasSuffix(name, ".go"):
			files = append(files, name)
		}
	}
	if len(files) > 0 && !visit(dir, files) {
		return false
	}
	for _, name := range dirs {
		if sub := filepath.Join(dir, name); !t.skips(name, sub) && !t.walk(sub, visit) {
			return false
		}
	}
	return true
}

// skips reports whether "./..." leaves out a directory. Patterns of ignore lines mean the
// same as in ShouldIgnore of cmd/go/internal/search.
func (t *tree) skips(name, path string) bool {
	if name == "testdata" || name == "vendor" {
		return true
	}
	rel, err := filepath.Rel(t.f.Dir(), path)
	if err != nil {
		return false
	}
	rel = "/" + filepath.ToSlash(rel) + "/"
	return slices.ContainsFunc(t.ignores, func(pattern string) bool {
		if rooted, ok := strings.CutPrefix(pattern, "./"); ok {
			return strings.HasPrefix(rel, "/"+strings.Trim(rooted, "/")+"/")
		}
		return strings.Contains(rel, "/"+strings.Trim(pattern, "/")+"/")
	})
}

// packages counts the directories of m that hold Go files: none, one, which it returns, or
// more. It ignores build constraints, and packages that git ignores. A module with too many directories has more.
func packages(f *snapshot.Files, m *gomod.Module) (count int, only string) {
	done := newTree(f, m, shapeDirs).each(func(dir string, files []string) bool {
		if !slices.ContainsFunc(files, func(name string) bool { return !f.Ignored(filepath.Join(dir, name), false) }) {
			return true
		}
		count++
		only = dir
		return count < 2
	})
	if !done {
		count = 2
	}
	return count, only
}
