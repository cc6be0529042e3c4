package watch

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of a notifier.
const (
	quietTime = 50 * time.Millisecond // changes less than this apart are one batch
	longest   = time.Second           // longest time from the first change to its batch
	interval  = time.Second           // time between two scans where the system reports no changes
)

// notifier reports changed files of a workspace. Its events may be lost or late, so the files must be read again.
// It is for one goroutine.
type notifier struct {
	root string // absolute, without links
	// ignore reports whether a path, relative to root and with slashes, is not watched. Only the
	// goroutine of next calls it.
	ignore func(path string) bool
	// wake makes next return at once, with an empty batch or the changes so far. It may be nil.
	wake    <-chan struct{}
	system  *fsnotify.Watcher // nil: unavailable, so next returns after each interval
	watched map[string]bool
}

// batch is the changes in a short time.
type batch struct {
	paths []string // relative to the root, in the order of the events
	// replaced are those of paths that were created, removed or renamed, not only written.
	replaced []string
	// rescan says that there may be more changes: events were lost, or the system reports no events.
	rescan bool
}

// start lets n watch, but no directory yet. An error means that the system does not report changes: then next
// returns after each interval.
func (n *notifier) start() (err error) {
	n.watched = make(map[string]bool)
	if n.system, err = fsnotify.NewWatcher(); err != nil {
		n.system = nil
	}
	return err
}

// close stops watching.
func (n *notifier) close() {
	if n.system != nil {
		n.system.Close()
	}
}

// follow watches directories, relative to the root. added reports whether one of them is new:
// earlier changes in it are unknown. After an error next returns after each interval.
func (n *notifier) follow(dirs []string) (added bool, err error) {
	if n.system == nil {
		return false, nil
	}
	for _, dir := range dirs {
		if n.watched[dir] {
			continue
		}
		if err := n.system.Add(filepath.Join(n.root, filepath.FromSlash(dir))); errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		} else if err != nil {
			n.system.Close()
			n.system = nil
			return false, err
		}
		n.watched[dir], added = true, true
	}
	return added, nil
}

// next waits for changes, and then until there are none for quietTime. It returns the error of ctx.
func (n *notifier) next(ctx context.Context) (batch, error) {
	if n.system == nil {
		select {
		case <-ctx.Done():
			return batch{}, ctx.Err()
		case <-n.wake:
			return batch{}, nil
		case <-time.After(interval):
			return batch{rescan: true}, nil
		}
	}
	var b batch
	var quiet, end <-chan time.Time // nil before the first change
	for {
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case <-n.wake:
			return b, nil
		case <-quiet:
			return b, nil
		case <-end:
			return b, nil
		case ev := <-n.system.Events:
			if !n.note(&b, ev) {
				continue
			}
		case <-n.system.Errors:
			b.rescan = true // an overflow: the lost events are unknown
			n.watched = make(map[string]bool)
		}
		quiet = time.After(quietTime)
		if end == nil {
			end = time.After(longest)
		}
	}
}

// note adds one event to a batch, unless its path is not watched.
func (n *notifier) note(b *batch, ev fsnotify.Event) bool {
	rel, err := filepath.Rel(n.root, ev.Name)
	if err != nil || !filepath.IsLocal(rel) && rel != "." {
		return false
	}
	rel = filepath.ToSlash(rel)
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		n.forget(rel)
	}
	if n.ignore(rel) {
		return false
	}
	b.paths = append(b.paths, rel)
	if ev.Has(fsnotify.Create) || ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		b.replaced = append(b.replaced, rel)
	}
	return true
}

// forget drops a removed directory and those below it: a later directory of the same name must be watched again.
func (n *notifier) forget(dir string) {
	if !n.watched[dir] {
		return
	}
	for other := range n.watched {
		if other == dir || strings.HasPrefix(other, dir+"/") {
			delete(n.watched, other)
		}
	}
}
