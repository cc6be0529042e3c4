package key

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/tree"
)

// Current returns the digest of a file in the workspace, from the index when its stat
// has not changed. It is safe for concurrent use.
func (e *Evaluator) Current(path string) (cache.Digest, bool) {
	entry, err := e.tree.Stat(path)
	if err != nil {
		return cache.Digest{}, false
	}
	return e.sumOf(entry)
}

func (e *Evaluator) sumOf(entry tree.Entry) (cache.Digest, bool) {
	if entry.Kind != tree.File {
		return cache.Digest{}, false
	}
	sum, err := e.tree.Index().Sum(entry)
	return cache.Digest(sum), err == nil
}

// Note adds a file to the index that was just written, or read and verified. It is safe for
// concurrent use.
func (e *Evaluator) Note(path string, d cache.Digest) {
	if entry, err := e.tree.Stat(path); err == nil && entry.Kind == tree.File {
		e.tree.Index().Note(entry, d)
	}
}

// InPlace reports whether outputs are in the workspace already. It is safe for
// concurrent use.
func (e *Evaluator) InPlace(outputs []cache.Output) bool {
	for _, o := range outputs {
		select {
		case <-e.tree.Stop():
			return false // so that a restore follows, and reports the interrupt
		default:
		}
		entry, err := e.tree.Stat(o.Path)
		switch {
		case err != nil:
			return false
		case o.Kind == cache.File:
			if sum, ok := e.sumOf(entry); !ok || sum != o.Digest || entry.Mode != o.Mode {
				return false
			}
		case o.Kind == cache.Dir:
			if entry.Kind != tree.Dir || entry.Mode != o.Mode {
				return false
			}
		case o.Kind == cache.Link:
			if target, err := e.tree.Readlink(entry); err != nil || target != o.Target {
				return false
			}
		}
	}
	return true
}

// Missing returns the path of a missing output of ev, "" if none is missing. It is safe for
// concurrent use.
func (e *Evaluator) Missing(ev *Evaluation) string {
	for _, o := range ev.Outputs {
		if _, err := e.tree.Stat(o.Path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return o.Path
		}
	}
	return ""
}
