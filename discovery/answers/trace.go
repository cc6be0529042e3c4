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
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// trace is what a path was like when an answer was made from it. Whoever reads a
// path with the same trace finds the same there.
type trace struct {
	Kind kind
	Sum  [32]byte // digest of the content of a file, or of all that tells something else apart
	// Around is the stamp of the directory that something absent would be in, or that
	// the first directory on the way there would be in. Zero where it is not known.
	Around tree.Stamp
}

type kind uint8

const (
	unknown  kind = iota // nobody can tell: it is never the same
	absent               // there is nothing
	file                 // a regular file of the workspace
	dir                  // a directory of the workspace
	anything             // something else, or elsewhere
)

// looker looks at paths, by what a walk has found.
type looker struct {
	files *tree.Tree
	clone *clone.Clone
	above map[string]tree.Stamp // directories above the root, before anybody was asked
	since int64                 // when those were looked at

	dir   string // the directory of the walk that was asked for last, and its stamp
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

// holds tells whether the trace of an absolute path is still t. It is not cheap when
// Around has changed.
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

// holdsAt tells whether the trace of a spot is still t.
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

// paths yields the paths that a spot stands for.
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

// now gives the trace of a path, without Around.
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
		return trace{} // the user is warned each time
	}
	return elsewhere(path)
}

// elsewhere is now for what the walk knows nothing of, through links.
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

// settled gives the trace of a path that was read at some time since the walk. It is
// unknown unless who read it is sure to have found what the trace tells.
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

// sameDir tells whether a directory of the walk is as it was then, and would have
// another stamp else.
func (l *looker) sameDir(rel string) bool {
	was, ok := l.files.Stamp(rel)
	now, err := tree.Stat(l.files.Root(), rel)
	return ok && err == nil && now.Stamp() == was && l.files.SettledDir(rel)
}

// untouchedAbove tells whether the nearest directory above something absent was not
// changed since the walk: it was absent all the time.
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

// nearest gives the stamp of the nearest directory of the walk above a path, and the
// absolute path of what comes first below it on the way.
func (l *looker) nearest(path string) (stamp tree.Stamp, first string) {
	rel, inside := l.relative(path)
	for inside && rel != "" {
		up := rel[:max(0, strings.LastIndexByte(rel, '/'))]
		if !l.found || up != l.dir { // many files are looked for in one
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

// relative gives an absolute path relative to the workspace, "" for the root itself.
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

// isPlain tells of a local path that is clean at first sight, as nearly all are.
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

// digest is of values whose text tells all of them.
func digest(values ...any) [32]byte {
	var w state.Writer
	for _, v := range values {
		w.String(fmt.Sprintf("%v", v))
	}
	return blake3.Sum256(w.Payload())
}
