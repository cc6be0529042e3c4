package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
)

func pluginLockCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "lock [ID...]", Example: "  bento plugin lock\n  bento plugin lock zig", Short: "Pin the plugins on PATH in " + config.LockFile,
		Long: "Write the SHA-256 of the first plugin of each id on PATH to " + config.LockFile + " at the root of\n" +
			"the workspace. bento does not start a pinned plugin with another digest. The command\n" +
			"leaves out plugins that the workspace forbids. It leaves out plugins that another user can\n" +
			"write to, unless you name them, which trusts their present content. It starts no plugin.",
		RunE: func(_ *cobra.Command, ids []string) error { return s.pluginLock(ids) },
	}
}

// pluginLock writes the lock file. It pins plugins among ids even if other users may write to
// them.
func (s *session) pluginLock(ids []string) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	cfg, problems := config.Load(root, s.host().OwnConfig())
	free := *cfg
	free.Plugins = cfg.Plugins.Unlocked()
	found, more := discovery.Adapters(s.environ.Get("PATH"), &free, nil, (*host.Digests)(nil).Executable)
	// The command replaces the old lock, so its problems do not matter.
	problems = slices.DeleteFunc(append(problems, more...), func(d diagnostics.Diagnostic) bool { return d.File == config.LockFile })
	report.WriteProblems(s.err, s.style, problems)
	sums, err := sumsOf(found, ids)
	if err != nil {
		return err
	}
	if err := state.WriteFile(filepath.Join(root, config.LockFile), lockText(sums), 0o644); err != nil {
		return err
	}
	if s.flags.json {
		return report.Write(s.out, lockedPlugins{report.Schema("plugin.lock"), config.LockFile, sums})
	}
	_, err = fmt.Fprintf(s.out, "%s: %s\n", config.LockFile, counted(len(sums)))
	return err
}

// lockedPlugins is the document of `bento plugin lock`.
type lockedPlugins struct {
	Schema string            `json:"schema"`
	Path   string            `json:"path"`
	SHA256 map[string]string `json:"sha256"`
}

// sumsOf returns the digest of the first startable plugin of each id. A plugin that other
// users may write to is startable if its id is among ids.
func sumsOf(found []adapters.Candidate, ids []string) (map[string]string, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(c adapters.Candidate) bool { return c.ID == id }) {
			return nil, notFound("plugin_not_found", fmt.Sprintf("bento-adapter-%s is not on PATH", id), "bento plugin list names the plugins on PATH")
		}
	}
	var digests *host.Digests // without a memory: later digests are compared with these
	sums := make(map[string]string)
	for _, c := range found {
		named := c.Exposed && c.Skip == adapters.SkipNotTrusted && slices.Contains(ids, c.ID)
		if _, taken := sums[c.ID]; taken || c.Skip != "" && !named {
			continue
		}
		if sums[c.ID] = digests.Executable(c.Path); len(sums[c.ID]) != 64 {
			return nil, notFound("plugin_unreadable", fmt.Sprintf("plugin %s: %q cannot be read", c.ID, c.Path), "make it readable, or list it under [plugins] disable")
		}
	}
	return sums, nil
}

func counted(plugins int) string {
	if plugins == 1 {
		return "1 plugin"
	}
	return fmt.Sprintf("%d plugins", plugins)
}

// lockText returns the content of a lock file, by id.
func lockText(sums map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Written by bento plugin lock: a plugin with another digest is not started.\n[sha256]\n")
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s = %q\n", id, sums[id])
	}
	return []byte(b.String())
}
