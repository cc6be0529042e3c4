package tree

import (
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// check validates the whole table, so that its readers need no checks.
func (t *indexTable) check() error {
	if t.Dirs() == 0 && t.inTree > 0 || !t.checkEnds() || !t.checkDirs() {
		return errFormat
	}
	for i := range t.Dirs() {
		if !t.checkFiles(i) {
			return errFormat
		}
	}
	last := ""
	for i := t.inTree; i < t.count(); i++ {
		path, _ := t.File(i)
		if path <= last {
			return errFormat
		}
		last = path
	}
	return nil
}

// checkEnds checks all numbers that are positions.
func (t *indexTable) checkEnds() bool {
	at, size := uint32(0), uint64(len(t.text))
	for i := range t.Dirs() {
		end := t.dirEnd(i)
		from, to := t.FilesOf(i)
		if end < at || uint64(end) > size || from > to || to > t.inTree || t.Below(i) <= i || t.Below(i) > t.Dirs() {
			return false
		}
		at = end
	}
	for i := range t.count() {
		end := t.fileEnd(i)
		if end < at || uint64(end) > size {
			return false
		}
		at = end
	}
	return uint64(at) == size && t.filesEnd(t.Dirs()-1) == t.inTree
}

// checkDirs checks the nesting of directories.
func (t *indexTable) checkDirs() bool {
	var open []int // the parents of i, outermost first
	last := ""
	for i := range t.Dirs() {
		for len(open) > 0 && t.Below(open[len(open)-1]) == i {
			open = open[:len(open)-1]
		}
		d := t.Dir(i)
		if i > 1 && disk.CompareDirs(last, d.Path) >= 0 {
			return false
		}
		last = d.Path
		if len(open) == 0 {
			if i > 0 || d.Path != "" {
				return false
			}
		} else {
			around := open[len(open)-1]
			from, to := t.FilesOf(around)
			if !inside(d.Path, t.Dir(around).Path) || t.Below(i) > t.Below(around) || d.Before > to-from {
				return false
			}
		}
		open = append(open, i)
	}
	return true
}

// checkFiles checks the files of directory i.
func (t *indexTable) checkFiles(i int) bool {
	dir, last := t.Dir(i).Path, ""
	from, to := t.FilesOf(i)
	for k := from; k < to; k++ {
		path, _ := t.File(k)
		if !inside(path, dir) || path <= last {
			return false
		}
		last = path
	}
	return true
}

// inside reports whether path is directly in dir.
func inside(path, dir string) bool {
	name := path
	if dir != "" {
		if len(path) <= len(dir) || path[len(dir)] != '/' || path[:len(dir)] != dir {
			return false
		}
		name = path[len(dir)+1:]
	}
	return name != "" && name != "." && name != ".." && strings.IndexByte(name, '/') < 0
}
