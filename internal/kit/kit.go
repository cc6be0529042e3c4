// Package kit is the one door to what is not the core of bento: the built-in adapters, tools, adapters that are
// WebAssembly modules, packages and extensions. It gives them to package workspace as functions, and to the
// commands that manage them.
package kit

import (
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wasm"
)

// Equip adds everything to a host that is not the core. It reads and starts nothing.
func Equip(h *workspace.Host) {
	k := &kit{h}
	h.Builtin, h.Installed, h.Module, h.Tools = builtin.All, k.installed, k.module, k.tools
}

// kit has the functions of a host.
type kit struct{ host *workspace.Host }

// module returns the launcher of a plugin that is a module.
func (k *kit) module(m adapter.Module) host.Launcher {
	return &wasm.Launcher{
		Engine: wasm.EngineOptions{Dir: compiledDir(k.host, m.Root)},
		Module: wasm.Options{ID: m.ID, Path: m.Path, SHA256: m.SHA256}, Root: m.Root, Seen: m.Seen,
	}
}

// compiledDir returns the directory of compiled modules, "" for none.
func compiledDir(h *workspace.Host, root string) string { return h.OwnCache(root, "wasm") }
