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
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/host"
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
	cfg, problems := config.Load(root, s.host().OwnConfig())
	free := *cfg
	free.Plugins, free.Tools.Locked = cfg.Plugins.Unlocked(), nil
	in, damaged := s.host().Places(cfg)
	report.WriteProblems(s.err, s.style, damaged)
	found, more := discovery.Adapters(in, &free, nil, (*host.Digests)(nil).Executable)
	// The command replaces the old lock, so its problems do not matter.
	problems = slices.DeleteFunc(append(problems, more...), func(d diagnostics.Diagnostic) bool { return d.File == config.LockFile })
	report.WriteProblems(s.err, s.style, problems)
	tools, more := discovery.Tools(s.environ.Get("PATH"), &free, nil, (*host.Digests)(nil).Executable)
	report.WriteProblems(s.err, s.style, more)
	all := slices.Concat(found, tools)
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(c adapters.Candidate) bool { return c.ID == id }) {
			return notFound("plugin_not_found", fmt.Sprintf("neither bento-adapter-%s nor bento-tool-%s is on PATH", id, id), "bento plugin list and bento tool list name what is on PATH")
		}
	}
	doc := lockedPlugins{Schema: report.Schema("plugin.lock"), Path: config.LockFile}
	if doc.SHA256, err = sumsOf(found, ids); err == nil {
		doc.Tools, err = sumsOf(tools, ids)
	}
	if err != nil {
		return err
	}
	for id, sum := range s.packagesOf(cfg) {
		doc.Tools[id] = sum
	}
	if err := state.WriteFile(filepath.Join(root, config.LockFile), lockText(doc), 0o644); err != nil {
		return err
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	text := counted(len(doc.SHA256))
	if n := len(doc.Tools); n > 0 {
		text += ", " + report.Count(n, "tool")
	}
	_, err = fmt.Fprintf(s.out, "%s: %s\n", config.LockFile, text)
	return err
}

// packagesOf returns the digests of the active packages that bento.toml names, by id.
func (s *session) packagesOf(cfg *config.Workspace) map[string]string {
	sums := make(map[string]string)
	dir := bundle.DataDir(s.environ.Get)
	for _, own := range cfg.Tools.ByID {
		id, _, _ := strings.Cut(own.Package.Text, "@")
		if id == "" || dir == "" {
			continue
		}
		installed, _ := bundle.Discover([]bundle.Tier{bundle.Global(dir)})
		for _, f := range installed {
			if f.ID == id && f.Active {
				sums[id] = f.Digest
			}
		}
	}
	return sums
}

// lockedPlugins is the document of `bento plugin lock`.
type lockedPlugins struct {
	Schema string            `json:"schema"`
	Path   string            `json:"path"`
	SHA256 map[string]string `json:"sha256"`
	Tools  map[string]string `json:"tools,omitempty"`
}

// sumsOf returns the digest of the first startable plugin of each id. A plugin that other
// users may write to is startable if its id is among ids.
func sumsOf(found []adapters.Candidate, ids []string) (map[string]string, error) {
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
func lockText(doc lockedPlugins) []byte {
	var b strings.Builder
	b.WriteString("# Written by bento plugin lock: a plugin with another digest is not started.\n[sha256]\n")
	for _, id := range slices.Sorted(maps.Keys(doc.SHA256)) {
		fmt.Fprintf(&b, "%s = %q\n", id, doc.SHA256[id])
	}
	for n, id := range slices.Sorted(maps.Keys(doc.Tools)) {
		if n == 0 {
			b.WriteString("[tools]\n")
		}
		fmt.Fprintf(&b, "%q = %q\n", id, doc.Tools[id])
	}
	return []byte(b.String())
}
