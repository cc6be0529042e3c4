package wasm

import (
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/plugin/host"
)

// looks collects the host.Looks of one call. A nil one collects nothing.
type looks struct {
	root string // of the workspace

	mu     sync.Mutex
	seen   host.Looks
	unsure bool // a file has changed just now
}

// at records a file that the module is about to see.
func (l *looks) at(name string) {
	if l != nil {
		l.add(filepath.Join(l.root, filepath.FromSlash(name)))
	}
}

// names records a directory whose names the module is about to read.
func (l *looks) names(name string) {
	if l != nil {
		l.add(filepath.Join(l.root, filepath.FromSlash(name)) + string(filepath.Separator))
	}
}

func (l *looks) add(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.seen[path]; known {
		return
	}
	if len(l.seen) == maxLooks {
		l.unsure = true
		return
	}
	text, isSettled := host.Look(path)
	l.seen[path], l.unsure = text, l.unsure || !isSettled
}

// maxLooks is how many paths are recorded of one call.
const maxLooks = 10_000

// all returns the recorded looks, or nil if no answer may rely on them.
func (l *looks) all() host.Looks {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsure {
		return nil
	}
	return l.seen
}
