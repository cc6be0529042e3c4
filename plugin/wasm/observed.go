package wasm

import (
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/plugin/host"
)

// observations collects what the module has observed in one call, as host.Observed. A nil one collects nothing.
type observations struct {
	root string // of the workspace

	mu     sync.Mutex
	seen   host.Observed
	unsure bool // a file has changed just now
}

// at records a file that the module is about to see.
func (l *observations) at(name string) {
	if l != nil {
		l.add(filepath.Join(l.root, filepath.FromSlash(name)))
	}
}

// names records a directory whose names the module is about to read.
func (l *observations) names(name string) {
	if l != nil {
		l.add(filepath.Join(l.root, filepath.FromSlash(name)) + string(filepath.Separator))
	}
}

func (l *observations) add(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.seen[path]; known {
		return
	}
	if len(l.seen) == maxObserved {
		l.unsure = true
		return
	}
	text, isSettled := host.Look(path)
	l.seen[path], l.unsure = text, l.unsure || !isSettled
}

// maxObserved is how many paths are recorded of one call.
const maxObserved = 10_000

// all returns the recorded looks, or nil if no answer may rely on them.
func (l *observations) all() host.Observed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsure {
		return nil
	}
	return l.seen
}
