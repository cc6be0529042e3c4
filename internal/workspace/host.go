package workspace

import (
	"io"
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter"
)

// Host is what a program opens workspaces with. It may open several, or one again and again.
// Close ends it.
type Host struct {
	Environ adapters.Environ // that the program was started with
	Version string           // of bento, for plugins
	Stderr  io.Writer        // what plugins write to stderr
	// Log receives what plugins log outside of an install.
	Log func(id string, l adapters.Log)
	// Keep holds the plugins that run on while a workspace is opened again; nil: they end with
	// the workspace.
	Keep *adapter.Keep

	mu      sync.Mutex
	scratch string // the directory of all scratch directories of plugins; "" until one is needed
	atEnd   []func()
}

// Close removes what the host has made for its plugins. They must have ended.
func (h *Host) Close() {
	h.mu.Lock()
	list := h.atEnd
	h.atEnd = nil
	h.mu.Unlock()
	for _, do := range list {
		do()
	}
}

// OwnConfig returns the path of the user's own configuration, whether or not the file
// exists, and "" where the environment names no directory for it.
func (h *Host) OwnConfig() string {
	dir := h.Environ.Get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := h.Environ.Get("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "bento", "config.toml")
}
