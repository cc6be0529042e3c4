package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
)

func pluginLockCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "lock [ID...]", Example: "  bento plugin lock\n  bento plugin lock zig", Short: "Pin the plugins and tools on PATH in " + config.LockFile,
		Long: "Write the SHA-256 of the first plugin and the first tool of each id on PATH to " + config.LockFile + " at the root of\n" +
			"the workspace. bento does not start a pinned plugin with another digest. The command\n" +
			"leaves out plugins that the workspace forbids. It leaves out plugins that another user can\n" +
			"write to, unless you name them, which trusts their present content. It starts no plugin.",
		RunE: func(_ *cobra.Command, ids []string) error { return s.pluginLock(ids) },
	}
}

// pluginLock writes the lock file. It pins a plugin that other users may write to only if its id is among
// ids.
func (s *session) pluginLock(ids []string) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	lock, err := kit.WriteLock(s.host(), root, ids, s.writeProblems)
	if err != nil {
		return err
	}
	if s.flags.json {
		return report.Write(s.out, lockedPlugins{report.Schema("plugin.lock"), config.LockFile, lock.Plugins, lock.Tools})
	}
	text := report.Count(len(lock.Plugins), "plugin")
	if n := len(lock.Tools); n > 0 {
		text += ", " + report.Count(n, "tool")
	}
	_, err = fmt.Fprintf(s.out, "%s: %s\n", config.LockFile, text)
	return err
}

// lockedPlugins is the document of `bento plugin lock`.
type lockedPlugins struct {
	Schema string            `json:"schema"`
	Path   string            `json:"path"`
	SHA256 map[string]string `json:"sha256"`
	Tools  map[string]string `json:"tools,omitempty"`
}
