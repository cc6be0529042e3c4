package config

import "github.com/bentobuild/bento/internal/dish"

// ToolSandbox returns the sandbox mode of the one-shot tool id, and the position of that setting: the setting of the
// tool or of all plugins. The mode is never less strict than the user's own file requires for plugins.
func (w *Workspace) ToolSandbox(id string) dish.Text {
	given, least := firstOf(w.Tools.ByID[id].Sandbox, w.Plugins.Sandbox), firstOf(w.Plugins.Least)
	if strictness(least) > strictness(given) {
		return least
	}
	return given
}

// ToolReads returns the further paths that a confined tool may read. It returns none from a repository if the user's
// own file confines plugins.
func (w *Workspace) ToolReads(id string) []dish.Text {
	if firstOf(w.Plugins.Least).Text != SandboxOff {
		return nil
	}
	return w.Tools.ByID[id].Read
}
