package confine

import (
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/record"
)

// limits are the files that one command may use, as an observer asks. It is for one goroutine at a time.
type limits struct {
	reach *record.Reach
	root  string // with a slash at its end
	self  string
	temp  string
	// passing are the paths that the command has made, and that it has to remove or rename.
	passing map[string]bool
	left    int // the number of those that it has not
}

func newLimits(r *record.Reach, self, temp string) *limits {
	return &limits{reach: r, root: strings.TrimSuffix(r.Root, "/") + "/", self: self, temp: temp, passing: make(map[string]bool)}
}

// allows implements action.Limits.
func (l *limits) allows(path string, change, dir bool) bool {
	p, inside := strings.CutPrefix(path, l.root)
	switch {
	case !inside, path == l.temp, strings.HasPrefix(path, l.temp+"/"), l.isPassing(p):
		return true
	case !change:
		return path == l.self || l.reach.Readable(p)
	case l.reach.Changeable(p, dir):
		return true
	case exists(path) || !l.reach.Passing(p, dir):
		return false
	}
	l.passing[p] = true
	return true
}

// isPassing reports whether a path is in passing, or below one that is.
func (l *limits) isPassing(p string) bool {
	for len(l.passing) > 0 {
		if l.passing[p] {
			return true
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return false
		}
		p = p[:i]
	}
	return false
}

// remove removes what the command has made and not removed or renamed, and returns it.
func (l *limits) remove() (left []action.UsedFile) {
	for _, p := range slices.Sorted(maps.Keys(l.passing)) {
		if name := l.root + p; exists(name) {
			left = append(left, action.UsedFile{Path: name, Use: action.Write, Absent: true})
			removeAll(name)
		}
	}
	l.left = len(left)
	return left
}
