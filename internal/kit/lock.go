package kit

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/host"
)

// Lock is the content of a lock file: digests by id.
type Lock struct{ Plugins, Tools map[string]string }

// WriteLock writes the lock file of a workspace: the digests of the first plugin and the first tool of each id on PATH,
// and of the packages that bento.toml names. It pins a plugin that other users may write to only if its id is among
// ids. It starts nothing. report receives warnings.
func WriteLock(h *workspace.Host, root string, ids []string, report func([]diagnostics.Diagnostic)) (l Lock, err error) {
	cfg, problems := config.Load(root, h.OwnConfig())
	free := *cfg
	free.Plugins, free.Tools.Locked = cfg.Plugins.Unlocked(), nil
	in, damaged := h.Places(cfg)
	report(damaged)
	plugins, more := discovery.Adapters(in, &free, (*host.Digests)(nil).Executable)
	// The new lock replaces the old one, so its problems do not matter.
	problems = slices.DeleteFunc(append(problems, more...), func(d diagnostics.Diagnostic) bool { return d.File == config.LockFile })
	report(problems)
	tools, more := discovery.Tools(h.Environ.Get("PATH"), &free, (*host.Digests)(nil).Executable)
	report(more)
	all := slices.Concat(plugins, tools)
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(c adapters.Candidate) bool { return c.ID == id }) {
			return l, diagnostics.Refuse("plugin_not_found", "bento plugin list and bento tool list name what is on PATH", "neither bento-adapter-%s nor bento-tool-%s is on PATH", id, id)
		}
	}
	if l.Plugins, err = sumsOf(plugins, ids); err == nil {
		l.Tools, err = sumsOf(tools, ids)
	}
	if err != nil {
		return l, err
	}
	maps.Copy(l.Tools, packageSums(h, cfg))
	return l, l.write(root)
}

// packageSums returns the digests of the active packages of tools that bento.toml names, by id.
func packageSums(h *workspace.Host, cfg *config.Workspace) map[string]string {
	sums := make(map[string]string)
	dir := packagesDir(h, "tools")
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
			return nil, diagnostics.Refuse("plugin_unreadable", "make it readable, or list it under [plugins] disable", "plugin %s: %q cannot be read", c.ID, c.Path)
		}
	}
	return sums, nil
}

// sums returns the digests of pins.
func sums(pins map[string]dish.Text) map[string]string {
	sums := make(map[string]string, len(pins))
	for id, pin := range pins {
		sums[id] = pin.Text
	}
	return sums
}

func (l *Lock) write(root string) error {
	var b strings.Builder
	b.WriteString("# Written by bento plugin lock: a plugin with another digest is not started.\n[sha256]\n")
	for _, id := range slices.Sorted(maps.Keys(l.Plugins)) {
		fmt.Fprintf(&b, "%s = %q\n", id, l.Plugins[id])
	}
	for n, id := range slices.Sorted(maps.Keys(l.Tools)) {
		if n == 0 {
			b.WriteString("[tools]\n")
		}
		fmt.Fprintf(&b, "%q = %q\n", id, l.Tools[id])
	}
	return state.WriteFile(filepath.Join(root, config.LockFile), []byte(b.String()), 0o644)
}
