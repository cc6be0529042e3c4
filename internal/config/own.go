package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// ownFile is the schema of the user's own file.
type ownFile struct {
	Cache      cacheTable                   `toml:"cache" doc:"the cache of results"`
	Remote     remoteTable                  `toml:"remote" doc:"the execution of tasks on other machines"`
	Container  ownContainers                `toml:"container" doc:"how this machine runs containers"`
	Plugins    pluginsTable                 `toml:"plugins" doc:"adapters that are programs of their own; these settings restrict those of a workspace"`
	Tools      ownTools                     `toml:"tools" doc:"whose packages of tools are trusted"`
	Packages   ownPackages                  `toml:"packages" doc:"whose packages of plugins are trusted"`
	Extensions tomlfile.Map[extensionTable] `toml:"extensions" doc:"the extension with this id, in every workspace"`
}

// LoadOwn reads the user's own file, an absolute path, for a command outside every workspace.
func LoadOwn(own string) (*Workspace, []diagnostics.Diagnostic) {
	s := &sources{own: own, content: make(map[string]content)}
	if own != "" {
		data, err := read(nil, own)
		s.content[own] = content{data, err}
	}
	w := &Workspace{Cache: defaultCache()}
	return w, diagnostics.Sorted(w.readOwn(s))
}

// readOwn applies the user's own file to the workspace. It is applied last, so a repository cannot loosen the
// user's settings.
func (w *Workspace) readOwn(s *sources) []diagnostics.Diagnostic {
	if s.own == "" {
		return nil
	}
	f, problems := s.parse(s.own)
	if f == nil {
		if len(problems) > 0 { // an unreadable file may forbid anything
			w.Plugins.Restrict, w.Plugins.Allowlist = true, nil
			w.Trust.RequireSigned, w.Trust.Plugins.RequireSigned = true, true
			w.Extensions = nil
		}
		return problems
	}
	w.Own = s.own
	var raw ownFile
	problems = append(problems, f.Decode(&raw)...)
	if len(problems) == 0 { // with other problems, the path may only be invalid
		problems = pathless(raw.Extensions)
	}
	problems = append(problems, w.ownCache(raw.Cache)...)
	problems = append(problems, raw.Remote.over(&w.RemoteExec)...)
	w.RemoteExec.OwnURL = raw.Remote.Exec.At.Value
	w.Containers = raw.Container.containers()
	plugins, more := raw.Plugins.plugins()
	problems = append(problems, more...)
	problems = append(problems, plugins.misplaced(true)...)
	problems = append(problems, w.Plugins.under(&plugins)...)
	problems = append(problems, w.ownTrust(raw.Tools)...)
	w.Trust.Plugins = raw.Packages.trust()
	problems = append(problems, w.extensions(raw.Extensions, true)...)
	return append(problems, unserved(f, dish.WorkspaceFile)...)
}

func (w *Workspace) ownCache(t cacheTable) []diagnostics.Diagnostic {
	t.over(&w.Cache)
	w.Cache.Remote.OwnURL, w.Cache.Remote.OwnEndpoint = t.Remote.At.Value, t.RemoteEndpoint
	w.Cache.Own = bounds{MaxSize: max(0, int64(t.MaxSize)), MaxAge: max(0, time.Duration(t.MaxAge))}
	if !t.Dir.Given {
		return nil
	}
	dir := t.Dir.Value
	if rest, below := strings.CutPrefix(dir, "~/"); below {
		home, err := os.UserHomeDir()
		if err != nil {
			return []diagnostics.Diagnostic{t.Dir.Pos.Error(rulePath, "cache.dir %q needs $HOME, which is not set", dir)}
		}
		dir = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return []diagnostics.Diagnostic{t.Dir.Pos.Error(rulePath, `cache.dir %q: expected an absolute path, or one that starts with "~/"`, dir)}
	}
	w.Cache.OwnDir = filepath.Clean(dir)
	return nil
}

// under restricts the settings p of the workspace by the settings own of the user. own can forbid and restrict,
// but never allows a plugin that p forbids.
func (p *Plugins) under(own *Plugins) (problems []diagnostics.Diagnostic) {
	p.Disable = slices.Concat(p.Disable, own.Disable)
	p.Required = slices.Concat(p.Required, own.Required)
	switch {
	case own.Restrict && p.Restrict:
		p.Allowlist = slices.DeleteFunc(slices.Clone(p.Allowlist), func(id dish.Text) bool { return !own.allows(id.Text) })
	case own.Restrict:
		p.Restrict, p.Allowlist = true, own.Allowlist
	}
	p.Least, p.Lazy = own.Sandbox, p.Lazy || own.Lazy
	if p.ByID == nil {
		p.ByID = make(map[string]Plugin)
	}
	for id, given := range own.ByID {
		merged := p.ByID[id]
		merged.Least, merged.Path, merged.Identity = given.Sandbox, given.Path, given.Identity
		if given.SHA256.Text != "" {
			merged.SHA256 = given.SHA256
		}
		if given.PassEnv != nil {
			merged.PassEnv = slices.DeleteFunc(slices.Clone(merged.PassEnv), func(name string) bool { return !slices.Contains(given.PassEnv, name) })
		}
		p.ByID[id] = merged
	}
	for _, id := range slices.Sorted(maps.Keys(p.ByID)) {
		problems = append(problems, p.confine(id, own.ByID[id])...)
	}
	return problems
}

// allows reports whether the list contains id.
func (p *Plugins) allows(id string) bool {
	return slices.ContainsFunc(p.Allowlist, func(t dish.Text) bool { return t.Text == id })
}

// confine reports and drops paths of the workspace that the user does not allow in the sandbox of a plugin.
func (p *Plugins) confine(id string, given Plugin) []diagnostics.Diagnostic {
	merged := p.ByID[id]
	var problems []diagnostics.Diagnostic
	kept := func(key string, asked, allowed []dish.Text) []dish.Text {
		for _, t := range asked {
			if !slices.ContainsFunc(allowed, func(a dish.Text) bool { return a.Text == t.Text }) {
				problems = append(problems, t.Pos.Warning(ruleIgnored, "plugins.%s.%s: the path %q is ignored, because your own configuration confines the plugin", id, key, t.Text).
					WithHint("allow it there, under [plugins."+id+"]"))
			}
		}
		return allowed
	}
	if p.leastOf(id).Text != SandboxOff {
		merged.Read = kept("read", merged.Read, given.Read)
		merged.Write = kept("write", merged.Write, given.Write)
	} else {
		merged.Read, merged.Write = slices.Concat(merged.Read, given.Read), slices.Concat(merged.Write, given.Write)
	}
	p.ByID[id] = merged
	return problems
}
