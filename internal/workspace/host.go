package workspace

import (
	"io"
	"path/filepath"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter"
)

// Host opens the workspaces of a program. It may open several workspaces, or one repeatedly. Close ends it.
type Host struct {
	Environ adapters.Environ // of the program
	Version string           // of bento, for plugins
	Stderr  io.Writer        // receives the stderr of plugins
	// Log receives log messages of plugins outside of an install.
	Log func(id string, l adapters.Log)
	// Keep has the plugins that continue to run until a workspace is opened again. If it is nil, they end
	// with the workspace.
	Keep *adapter.Keep

	mu      sync.Mutex
	scratch string // the directory of all scratch directories of plugins; "" until one is needed
	atEnd   []func()
}

// Close removes the scratch directories of plugins. The plugins must have ended.
func (h *Host) Close() {
	h.mu.Lock()
	list := h.atEnd
	h.atEnd = nil
	h.mu.Unlock()
	for _, do := range list {
		do()
	}
}

// OwnConfig returns the path of the user's own configuration, even if the file is missing. It returns "" if the
// environment names no directory for it.
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
