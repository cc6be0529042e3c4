package workspace

import (
	"context"
	"io"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
)

// Host opens the workspaces of a program. It may open several workspaces, or one repeatedly. Close ends it.
//
// The core knows no language, no package, no tool and no WebAssembly: the functions add them, and package kit has
// those of bento. Without a function, a workspace has none of its kind. They are called only when they are needed.
type Host struct {
	Environ adapters.Environ // of the program
	Version string           // of bento, for plugins
	Stderr  io.Writer        // receives the stderr of plugins
	// Log receives log messages of plugins outside of an install.
	Log func(id string, l adapters.Log)
	// Keep has the plugins that continue to run until a workspace is opened again. If it is nil, they end
	// with the workspace.
	Keep *adapter.Keep

	// Builtin returns the built-in adapters in the order of detection.
	Builtin func(snapshot.Options) []adapters.Adapter
	// Installed returns the plugins that the user has installed, in order of precedence.
	Installed func(*config.Workspace) ([]discovery.Installed, []diagnostics.Diagnostic)
	// Module returns the launcher of a plugin that is a WebAssembly module.
	Module func(adapter.Module) host.Launcher
	// Tools opens the tools of a workspace, which uses one at least. Their warnings that are not in the user's files
	// go to warn.
	Tools func(ctx context.Context, w *Workspace, warn func(code, message, hint string)) (Tools, []diagnostics.Diagnostic)

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

// Adapters returns the built-in adapters.
func (h *Host) Adapters(o snapshot.Options) []adapters.Adapter {
	if h.Builtin == nil {
		return nil
	}
	return h.Builtin(o)
}

// OwnCache returns a directory of the user that a repository cannot choose, "" for none. bento may execute its files,
// so it belongs to the user and never to the repository, whatever the configuration of the cache is.
func (h *Host) OwnCache(root, name string) string {
	dir := owndir.OfUser(h.Environ.Get, "XDG_CACHE_HOME", name)
	if dir == "" || bounds.Of(root).Reached(dir) {
		return ""
	}
	return dir
}

// AnswersDir returns the directory with the answers of tools, which all workspaces of the user share, "" for none.
func (h *Host) AnswersDir(root string) string { return h.OwnCache(root, "toolchains") }

// OwnConfig returns the path of the user's own configuration, even if the file is missing. It returns "" if the
// environment names no directory for it.
func (h *Host) OwnConfig() string {
	return owndir.OfUser(h.Environ.Get, "XDG_CONFIG_HOME", "config.toml")
}
