// Package watch tells when files of a workspace change. What it tells is a reason to
// look again, never the whole truth: events are lost, and come late.
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
	Quiet    = 50 * time.Millisecond // changes that come closer than this are one batch
	Longest  = time.Second           // a batch is not held back longer than this
	Interval = time.Second           // between looks where the system tells of no changes
)

// Options say what is watched.
type Options struct {
	Root string // absolute, without links
	// Ignore tells whether a path, relative to Root and with slashes, is nobody's
	// concern. It is called on one goroutine, that of Next.
	Ignore func(path string) bool
}

// Watcher watches directories. It is for one goroutine.
type Watcher struct {
	o       Options
	system  *fsnotify.Watcher // nil: it cannot be used, so it is looked again and again
	watched map[string]bool
}

// Batch is what changed in a short time.
type Batch struct {
	Paths []string // relative to the root, in the order in which they were told
	// Replaced are those of Paths that came, went or were renamed, and not only written.
	Replaced []string
	// Rescan says that there may be more: events were lost, or are not told at all.
	Rescan bool
}

// Start makes a watcher that watches nothing yet. why is not nil when the system does
// not tell of changes: then Next looks again and again.
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

// Follow watches directories, relative to the root. added tells whether one of them
// was not watched before: what changed in it up to now was not told. With an error
// the watcher looks again and again from then on.
func (w *Watcher) Follow(dirs []string) (added bool, err error) {
	if w.system == nil {
		return false, nil
	}
	for _, dir := range dirs {
		if w.watched[dir] {
			continue
		}
		if err := w.system.Add(filepath.Join(w.o.Root, filepath.FromSlash(dir))); errors.Is(err, fs.ErrNotExist) {
			continue // gone again
		} else if err != nil {
			w.system.Close()
			w.system = nil
			return false, err
		}
		w.watched[dir], added = true, true
	}
	return added, nil
}

// Next waits for changes, and then until there are no more for a while. The error is
// that of ctx.
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	if w.system == nil {
		select {
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		case <-time.After(Interval):
			return Batch{Rescan: true}, nil
		}
	}
	var b Batch
	var quiet, end <-chan time.Time // nil until something has changed
	for {
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case <-quiet:
			return b, nil
		case <-end:
			return b, nil
		case ev := <-w.system.Events:
			if !w.note(&b, ev) {
				continue
			}
		case <-w.system.Errors:
			b.Rescan = true // an overflow: what was lost nobody knows
			w.watched = make(map[string]bool)
		}
		quiet = time.After(Quiet)
		if end == nil {
			end = time.After(Longest)
		}
	}
}

// note takes one event into a batch, unless it is nobody's concern.
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

// forget drops a directory that is no more, with those below it: one of the same name
// that comes later is another.
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
