package wasm

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/stat"
)

// Looks are the parts of the workspace that a module has seen for one answer, by absolute path. A value is
// the stat of a file or link, the note that the path is a directory, or that it is missing. The key of a
// directory whose names the module has read ends with a slash. The answer of a module that looks at
// nothing else holds as long as its Looks do.
type Looks map[string]string

// settled is how old a file's times must be, so that no later change can keep them.
const settled = 2 * time.Second

// Hold reports whether all is as it was.
func (l Looks) Hold() bool {
	for path, was := range l {
		if now, _ := look(path); now != was {
			return false
		}
	}
	return true
}

// look returns the state of a path. It is settled if a later change cannot look the same.
func look(path string) (text string, isSettled bool) {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", true
	case fi.IsDir() && path[len(path)-1] != filepath.Separator:
		return "directory", true
	}
	return stat.Text(fi), time.Since(stat.Changed(fi)) > settled
}

// looks collects the Looks of one call. A nil one collects nothing.
type looks struct {
	root string // of the workspace

	mu     sync.Mutex
	seen   Looks
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
	text, isSettled := look(path)
	l.seen[path], l.unsure = text, l.unsure || !isSettled
}

// maxLooks is how many paths are recorded of one call.
const maxLooks = 10_000

// all returns the recorded looks, or nil if no answer may rely on them.
func (l *looks) all() Looks {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unsure {
		return nil
	}
	return l.seen
}
