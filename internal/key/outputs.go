package key

import (
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/tree"
)

// Current returns the digest of a file in the workspace, from the index if its stat has not changed; ok is
// false for anything else. It is safe for concurrent use.
func Current(tr *tree.Tree, path string) (d cache.Digest, ok bool) {
	entry, err := tr.Stat(path)
	if err != nil {
		return d, false
	}
	return sumOf(tr, entry)
}

func sumOf(tr *tree.Tree, entry tree.Entry) (d cache.Digest, ok bool) {
	if entry.Kind != tree.File {
		return d, false
	}
	sum, err := tr.Index().Sum(entry)
	return cache.Digest(sum), err == nil
}

// InPlace reports whether outputs are in the workspace already. It is safe for concurrent use.
func InPlace(tr *tree.Tree, outputs []cache.Output) bool {
	for i := range outputs {
		select {
		case <-tr.Stop():
			return false // so that a restore follows, and reports the interrupt
		default:
		}
		if !isInPlace(tr, &outputs[i]) {
			return false
		}
	}
	return true
}

func isInPlace(tr *tree.Tree, o *cache.Output) bool {
	entry, err := tr.Stat(o.Path)
	if err != nil {
		return false
	}
	switch o.Kind {
	case cache.File:
		sum, ok := sumOf(tr, entry)
		return ok && sum == o.Digest && entry.Mode == o.Mode
	case cache.Dir:
		return entry.Kind == tree.Dir && entry.Mode == o.Mode
	case cache.Link:
		target, err := tr.Readlink(entry)
		return err == nil && target == o.Target
	}
	return true
}
