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
		Use: "lock", Example: "  bento plugin lock", Short: "Pin the plugins on PATH in " + config.LockFile,
		Long: "Write the SHA-256 of each plugin on PATH, the first of its id, to " + config.LockFile + " at the root\n" +
			"of the workspace. A plugin that is pinned there and has another digest is not started.\n" +
			"Those that the workspace forbids are left out; none is started.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return s.pluginLock() },
	}
}

func (s *session) pluginLock() error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	cfg, problems := config.LoadWith(root, s.ownConfig())
	free := *cfg
	free.Plugins = cfg.Plugins.Unlocked()
	found, more := discovery.Adapters(s.environ.Get("PATH"), &free, (*host.Digests)(nil).Executable)
	// What is wrong with the old lock is about to be gone.
	problems = slices.DeleteFunc(append(problems, more...), func(d diagnostics.Diagnostic) bool { return d.File == config.LockFile })
	report.WriteProblems(s.err, s.style, problems)
	sums, err := sumsOf(found)
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

// sumsOf gives the digest of the first of each id that may be started.
func sumsOf(found []adapters.Candidate) (map[string]string, error) {
	var digests *host.Digests // none are remembered: this is what others are compared with
	sums := make(map[string]string)
	for _, c := range found {
		if _, taken := sums[c.ID]; taken || c.Skip != "" {
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

// lockText gives the content of a lock file, by id.
func lockText(sums map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Written by bento plugin lock: a plugin with another digest is not started.\n[sha256]\n")
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s = %q\n", id, sums[id])
	}
	return []byte(b.String())
}
