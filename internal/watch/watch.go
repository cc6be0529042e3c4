// Package watch reports changed files of a workspace. The caller must read the files again: events
// may be lost or late.
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

// Times of a Watcher.
const (
	Quiet    = 50 * time.Millisecond // changes less than this apart are one batch
	Longest  = time.Second           // longest time from the first change to its batch
	Interval = time.Second           // time between two scans where the system reports no changes
)

// Options select what is watched.
type Options struct {
	Root string // absolute, without links
	// Ignore reports whether a path, relative to Root and with slashes, is not watched. Only the
	// goroutine of Next calls it.
	Ignore func(path string) bool
	// Wake makes Next return at once, with an empty Batch or the changes so far. It may be nil.
	Wake <-chan struct{}
}

// Watcher watches directories. It is for one goroutine.
type Watcher struct {
	o       Options
	system  *fsnotify.Watcher // nil: unavailable, so Next returns after each Interval
	watched map[string]bool
}

// Batch is the changes in a short time.
type Batch struct {
	Paths []string // relative to the root, in the order of the events
	// Replaced are those of Paths that were created, removed or renamed, not only written.
	Replaced []string
	// Rescan says that there may be more changes: events were lost, or the system reports no events.
	Rescan bool
}

// Start returns a watcher that watches nothing yet. why is not nil when the system does not report
// changes: then Next returns after each Interval.
func Start(o Options) (w *Watcher, why error) {
	w = &Watcher{o: o, watched: make(map[string]bool)}
	w.system, why = fsnotify.NewWatcher()
	if why != nil {
		w.system = nil
	}
	return w, why
}

// Close stops watching.
func (w *Watcher) Close() error {
	if w.system == nil {
		return nil
	}
	return w.system.Close()
}

// Follow watches directories, relative to the root. added reports whether one of them is new:
// earlier changes in it are unknown. After an error Next returns after each Interval.
func (w *Watcher) Follow(dirs []string) (added bool, err error) {
	if w.system == nil {
		return false, nil
	}
	for _, dir := range dirs {
		if w.watched[dir] {
			continue
		}
		if err := w.system.Add(filepath.Join(w.o.Root, filepath.FromSlash(dir))); errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		} else if err != nil {
			w.system.Close()
			w.system = nil
			return false, err
		}
		w.watched[dir], added = true, true
	}
	return added, nil
}

// Next waits for changes, and then until there are none for Quiet. It returns the error of ctx.
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	if w.system == nil {
		select {
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		case <-w.o.Wake:
			return Batch{}, nil
		case <-time.After(Interval):
			return Batch{Rescan: true}, nil
		}
	}
	var b Batch
	var quiet, end <-chan time.Time // nil before the first change
	for {
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case <-w.o.Wake:
			return b, nil
		case <-quiet:
			return b, nil
		case <-end:
			return b, nil
		case ev := <-w.system.Events:
			if !w.note(&b, ev) {
				continue
			}
		case <-w.system.Errors:
			b.Rescan = true // an overflow: the lost events are unknown
			w.watched = make(map[string]bool)
		}
		quiet = time.After(Quiet)
		if end == nil {
			end = time.After(Longest)
		}
	}
}

// note adds one event to a batch, unless its path is not watched.
func (w *Watcher) note(b *Batch, ev fsnotify.Event) bool {
	rel, err := filepath.Rel(w.o.Root, ev.Name)
	if err != nil || !filepath.IsLocal(rel) && rel != "." {
		return false
	}
	rel = filepath.ToSlash(rel)
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		w.forget(rel)
	}
	if w.o.Ignore(rel) {
		return false
	}
	b.Paths = append(b.Paths, rel)
	if ev.Has(fsnotify.Create) || ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		b.Replaced = append(b.Replaced, rel)
	}
	return true
}

// forget drops a removed directory and those below it: a later directory of the same name must be watched again.
func (w *Watcher) forget(dir string) {
	if !w.watched[dir] {
		return
	}
	for other := range w.watched {
		if other == dir || strings.HasPrefix(other, dir+"/") {
			delete(w.watched, other)
		}
	}
}
