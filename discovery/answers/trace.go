package answers

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// trace identifies the state of a path when an answer read it. A path with the same trace has the
// same content.
type trace struct {
	Kind kind
	Sum  [32]byte // digest of a file's content, or of the description of anything else
	// Around is the stamp of the directory that would contain an absent path, or its first absent
	// parent. It is zero where unknown.
	Around tree.Stamp
}

type kind uint8

const (
	unknown  kind = iota // state cannot be found; it never holds
	absent               // nothing exists
	file                 // a regular file of the workspace
	dir                  // a directory of the workspace
	anything             // anything else, or outside the workspace
)

// looker finds the traces of paths from the result of a walk.
type looker struct {
	files *tree.Tree
	clone *clone.Clone
	above map[string]tree.Stamp // directories above the root, before the first question
	since int64                 // time of those stamps

	dir   string // the last looked-up directory of the walk, and its stamp
	stamp tree.Stamp
	found bool
}

func newLooker(files *tree.Tree, c *clone.Clone) *looker {
	l := &looker{files: files, clone: c, above: make(map[string]tree.Stamp), since: time.Now().UnixNano()}
	for at := files.Root(); at != filepath.Dir(at); {
		at = filepath.Dir(at)
		if e, err := statThrough(at); err == nil {
			l.above[at] = e.Stamp()
		}
	}
	return l
}

// holds reports whether the trace of an absolute path is still t. It reads the disk when Around has
// changed.
func (l *looker) holds(path string, t trace) (ok, cheap bool) {
	if t.Kind == unknown {
		return false, true
	}
	cheap = t.Around == tree.Stamp{}
	if near, _ := l.nearest(path); !cheap && near == t.Around {
		return true, true
	}
	now := l.now(path)
	return now.Kind == t.Kind && now.Sum == t.Sum, cheap
}

// holdsAt reports whether the trace of a spot is still t.
func (l *looker) holdsAt(s spot, t trace) (ok, cheap bool) {
	if s.Absent == "" {
		return l.holds(s.Path, t)
	}
	if rel, inside := l.relative(s.Path); inside {
		if stamp, found := l.files.Stamp(rel); found && stamp == t.Around {
			return t.Kind == absent, true
		}
	}
	for path := range s.paths() {
		if l.now(path).Kind != absent {
			return false, false
		}
	}
	return t.Kind == absent, false
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

// now returns the trace of a path, without Around.
func (l *looker) now(path string) trace {
	rel, inside := l.relative(path)
	if !inside {
		return elsewhere(path)
	}
	if e, ok := l.files.Lookup(rel); ok && e.Kind == tree.File {
		if sum, err := l.files.Index().Sum(e); err == nil {
			return trace{Kind: file, Sum: sum}
		}
		return trace{}
	}
	if stamp, ok := l.files.Stamp(rel); ok {
		return trace{Kind: dir, Sum: digest(stamp)}
	}
	if _, err := l.clone.Mode(path); errors.As(err, new(*clone.StrayError)) {
		return trace{} // the user gets a warning each time
	}
	return elsewhere(path)
}

// elsewhere returns the trace of a path outside the walk, through links.
func elsewhere(path string) trace {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return trace{Kind: absent}
	case err != nil:
		return trace{}
	case fi.IsDir():
		entries, err := os.ReadDir(path)
		if err != nil {
			return trace{}
		}
		return trace{Kind: anything, Sum: digest(entries)}
	}
	e, err := statThrough(path)
	if err != nil {
		return trace{}
	}
	return trace{Kind: anything, Sum: digest(e.Kind, e.Mode, e.Size, e.Stamp())}
}

// settled returns the trace of a path that was read since the walk. It is unknown when the path may
// have changed between the read and now.
func (l *looker) settled(path string) trace {
	t := l.now(path)
	ok := false
	switch rel, inside := l.relative(path); t.Kind {
	case file:
		was, _ := l.files.Lookup(rel)
		now, err := tree.Stat(l.files.Root(), rel)
		ok = err == nil && now.Same(&was) && l.files.Settled(was)
	case dir:
		ok = l.sameDir(rel)
	case absent:
		near, first := l.nearest(path)
		if _, err := os.Lstat(first); inside && errors.Is(err, fs.ErrNotExist) {
			t.Around = near
			ok = l.sameDir(l.parent(first))
		} else {
			ok = l.untouchedAbove(path)
		}
	case anything:
		e, err := statThrough(path)
		ok = err == nil && e.LongAgo(l.files.WalkedAt())
	}
	if !ok {
		return trace{}
	}
	return t
}

// sameDir reports whether a directory is unchanged since the walk and a change would change its
// stamp.
func (l *looker) sameDir(rel string) bool {
	was, ok := l.files.Stamp(rel)
	now, err := tree.Stat(l.files.Root(), rel)
	return ok && err == nil && now.Stamp() == was && l.files.SettledDir(rel)
}

// untouchedAbove reports whether the nearest directory above an absent path is unchanged since the
// walk, so that the path was absent all the time.
func (l *looker) untouchedAbove(path string) bool {
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if e, err := statThrough(above); err == nil {
			same := l.above[above] == e.Stamp() && l.files.ListsSettled(e.Stamp(), l.since)
			return same || e.LongAgo(l.files.WalkedAt())
		}
		if above == filepath.Dir(above) {
			return false
		}
	}
}

// nearest returns the stamp of the nearest directory of the walk above a path, and the absolute
// path of its child on the way to the path.
func (l *looker) nearest(path string) (stamp tree.Stamp, first string) {
	rel, inside := l.relative(path)
	for inside && rel != "" {
		up := rel[:max(0, strings.LastIndexByte(rel, '/'))]
		if !l.found || up != l.dir { // consecutive files often share a directory
			l.dir = up
			l.stamp, l.found = l.files.Stamp(up)
		}
		if l.found {
			return l.stamp, filepath.Join(l.files.Root(), filepath.FromSlash(rel))
		}
		rel = up
	}
	return tree.Stamp{}, ""
}

// relative returns an absolute path relative to the workspace, "" for the root itself.
func (l *looker) relative(path string) (rel string, inside bool) {
	if path == l.files.Root() {
		return "", true
	}
	rel, inside = strings.CutPrefix(path, strings.TrimSuffix(l.files.Root(), string(filepath.Separator))+string(filepath.Separator))
	if !inside || !isPlain(rel) && (!filepath.IsLocal(rel) || filepath.Clean(rel) != rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// isPlain reports whether a path is local and clean by a fast check that nearly all paths pass.
func isPlain(rel string) bool {
	return rel != "" && rel[0] != '.' && rel[0] != '/' && rel[len(rel)-1] != '/' && !strings.Contains(rel, "/.") && !strings.Contains(rel, "//")
}

func (l *looker) parent(path string) string {
	rel, _ := l.relative(filepath.Dir(path))
	return rel
}

// statThrough follows links.
func statThrough(path string) (tree.Entry, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return tree.Entry{}, err
	}
	return tree.Stat(filepath.Split(real))
}

// digest returns the digest of values by their text.
func digest(values ...any) [32]byte {
	var w pack.Writer
	for _, v := range values {
		w.String(fmt.Sprintf("%v", v))
	}
	return blake3.Sum256(w.Payload())
}
