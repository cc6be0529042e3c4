package config

// ToolSandbox returns how the one-shot tool id is confined, and the position of that setting: that of
// the tool or of all plugins, and never less strict than the user's own file wants plugins to be.
func (w *Workspace) ToolSandbox(id string) Text {
	said, least := firstOf(w.Tools.ByID[id].Sandbox, w.Plugins.Sandbox), firstOf(w.Plugins.Least)
	if strictness(least) > strictness(said) {
		return least
	}
	return said
}

// ToolReads returns the further paths that a confined tool may read. A repository names none if the
// user's own file confines plugins.
func (w *Workspace) ToolReads(id string) []Text {
	if firstOf(w.Plugins.Least).Text != SandboxOff {
		return nil
	}
	return w.Tools.ByID[id].Read
}
