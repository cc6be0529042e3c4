package config

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Plugins is the table [plugins].
type Plugins struct {
	Disable   []dish.Text // ids of plugins that are never loaded
	Allowlist []dish.Text // when Restrict is set, ids of the only plugins that are loaded
	Restrict  bool
	Required  []dish.Text // ids of plugins that must work, or no task runs
	Sandbox   dish.Text   // one of the Sandbox words, or empty like SandboxOff
	Lazy      bool
	Least     dish.Text         // the least strict Sandbox that the user's own file allows; empty for any
	ByID      map[string]Plugin // [plugins.<id>]
}

// The values of sandbox.
const (
	SandboxOff      = "off"
	sandboxAuto     = "auto"     // as far as the kernel supports it
	SandboxRequired = "required" // refuses to start otherwise
)

// Plugin is the table [plugins.<id>].
type Plugin struct {
	Pos     diagnostics.Pos // of the table
	PassEnv []string
	Options dish.Options
	// Path and Identity come from the user's own file only. Path is the file of the plugin, absolute, or below
	// the home directory with "~/" in front. Identity replaces its digest in keys.
	Path, Identity dish.Text
	SHA256         dish.Text // SHA-256 of the executable, lower case hex; empty when not pinned
	Sandbox        dish.Text // as that of Plugins; empty when not given
	Least          dish.Text // likewise
	// Read and Write are further paths that a confined plugin may use: absolute, or below the home
	// directory with "~/" in front.
	Read, Write []dish.Text
}

// SandboxOf returns the sandbox mode of the plugin id, and the position of that setting: the stricter one of the
// workspace's and the user's. The text is never empty.
func (p *Plugins) SandboxOf(id string) dish.Text {
	given, least := firstOf(p.ByID[id].Sandbox, p.Sandbox), p.leastOf(id)
	if strictness(least) > strictness(given) {
		return least
	}
	return given
}

// leastOf returns the least strict sandbox that the user's own file allows for the plugin id.
func (p *Plugins) leastOf(id string) dish.Text { return firstOf(p.ByID[id].Least, p.Least) }

func firstOf(modes ...dish.Text) dish.Text {
	for _, mode := range modes {
		if mode.Text != "" {
			return mode
		}
	}
	return dish.Text{Text: SandboxOff}
}

func strictness(mode dish.Text) int {
	return slices.Index([]string{SandboxOff, sandboxAuto, SandboxRequired}, mode.Text)
}

// ValidPluginID reports whether id is a valid adapter id: [a-z0-9][a-z0-9_-]*.
func ValidPluginID(id string) bool {
	if id == "" || len(id) > 100 || id[0] == '_' || id[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// pluginsTable is the schema of the table.
type pluginsTable struct {
	Disable   []pluginID                `toml:"disable" doc:"plugins that are never loaded"`
	Allowlist *[]pluginID               `toml:"allowlist" doc:"the only plugins that are loaded"`
	Required  []pluginID                `toml:"required" doc:"plugins without which nothing runs: one that is missing or does not work is an error"`
	Lazy      bool                      `toml:"lazy" default:"false" doc:"do not start a plugin that had no dish in the last invocation, as long as its file stays the same, and the names and marker files in the directories of its queries too; -v names it"`
	Sandbox   choice[sandboxWords]      `toml:"sandbox" default:"off" doc:"how plugins are confined: off, auto (as far as the kernel supports it), or required (a plugin that cannot be confined is not started)"`
	ByID      tomlfile.Map[pluginTable] `toml:"*" doc:"the plugin with this id"`
}

// pluginTable is the schema of [plugins.<id>].
type pluginTable struct {
	PassEnv []envPattern `toml:"pass_env" doc:"variables that the plugin sees, as NAME or PREFIX_*"`
	Options options      `toml:"options" doc:"options of the plugin, as its manifest defines them; part of the keys of its dishes"`
	// Path and Identity are keys of the user's own file only, and Options of the workspace only: see misplaced.
	Path     tomlfile.At[string]  `toml:"path" doc:"the file of the plugin, which goes before PATH: absolute, or ~/…"`
	Identity tomlfile.At[string]  `toml:"identity" doc:"a text that stands for the digest of the plugin in keys, so that its edits throw no results away"`
	SHA256   tomlfile.At[string]  `toml:"sha256" doc:"the digest of the only executable that may run"`
	Sandbox  choice[sandboxWords] `toml:"sandbox" doc:"like that of all plugins, for this one"`
	Read     []place              `toml:"read" doc:"paths that the plugin may also read when it is confined: absolute, or ~/…"`
	Write    []place              `toml:"write" doc:"paths that the plugin may also write when it is confined: absolute, or ~/…"`
}

type sandboxWords struct{}

func (sandboxWords) words() []string { return []string{SandboxOff, sandboxAuto, SandboxRequired} }

// plugins returns the settings.
func (t *pluginsTable) plugins() (Plugins, []diagnostics.Diagnostic) {
	p := Plugins{Disable: idsOf(t.Disable), Required: idsOf(t.Required), Sandbox: textOf(t.Sandbox.At), Lazy: t.Lazy}
	if t.Allowlist != nil {
		p.Restrict, p.Allowlist = true, idsOf(*t.Allowlist)
	}
	var problems []diagnostics.Diagnostic
	for i := range t.ByID {
		id, raw := t.ByID[i].Name, &t.ByID[i].Value
		problems = append(problems, badPluginID(t.ByID[i].Pos, id)...)
		plugin := Plugin{
			Pos: t.ByID[i].Pos, PassEnv: envNames(raw.PassEnv), Options: dish.Options(raw.Options), Sandbox: textOf(raw.Sandbox.At),
			Path: textOf(raw.Path), Identity: textOf(raw.Identity), Read: placesOf(raw.Read), Write: placesOf(raw.Write),
		}
		var more []diagnostics.Diagnostic
		plugin.SHA256, more = digestOf(raw.SHA256)
		problems = append(problems, more...)
		if p.ByID == nil {
			p.ByID = make(map[string]Plugin)
		}
		p.ByID[id] = plugin
	}
	return p, problems
}

// misplaced reports keys that belong in the other file, and drops their values. Only the user can set the file and
// the identity of a plugin. Only the workspace can set options, since results depend on them.
func (p *Plugins) misplaced(own bool) (problems []diagnostics.Diagnostic) {
	for _, id := range slices.Sorted(maps.Keys(p.ByID)) {
		given := p.ByID[id]
		refuse := func(pos diagnostics.Pos, key, why, hint string) {
			problems = append(problems, pos.Error(diagnostics.RuleInvalid, "plugins.%s.%s: %s", id, key, why).WithHint(hint))
		}
		const mine = "write it into your own configuration, or set $"
		switch {
		case own && given.Options.Places != nil:
			refuse(given.Options.Places[""], "options", "results depend on options, so they are the same for every user of a workspace", "write them into bento.toml, or into dish.toml for one dish")
			given.Options = dish.Options{}
		case !own && given.Path.Pos.File != "":
			refuse(given.Path.Pos, "path", "a workspace does not choose which files start on your machine", mine+PluginVariable(id))
		case !own && given.Identity.Pos.File != "":
			refuse(given.Identity.Pos, "identity", "a workspace does not choose what stands for the digest of a plugin", mine+PluginVariable(id)+IdentityVariable)
		}
		if !own {
			given.Path, given.Identity = dish.Text{}, dish.Text{}
		} else if given.Path.Pos.File != "" {
			if wrong := badPlace(given.Path.Pos, given.Path.Text); wrong != nil {
				problems, given.Path = append(problems, wrong...), dish.Text{}
			}
		}
		p.ByID[id] = given
	}
	return problems
}

// The variable that names the file of a plugin starts with pluginVariable. With the suffix IdentityVariable, a
// variable has the text that replaces the digest.
const (
	pluginVariable   = "BENTO_PLUGIN_"
	IdentityVariable = "_IDENTITY"
)

// PluginVariable returns the variable that names the file of a plugin: the id in capitals, with "_" for
// "-".
func PluginVariable(id string) string {
	return pluginVariable + strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
}

// textOf returns a string and its position, or nothing when it is not given.
func textOf(at tomlfile.At[string]) dish.Text {
	if !at.Given {
		return dish.Text{}
	}
	return dish.Text{Text: at.Value, Pos: at.Pos}
}

// pluginID is an id, empty when it is no string.
type pluginID dish.Text

// Shape returns the schema.
func (*pluginID) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string"} }

// UnmarshalTOML reads and checks an id.
func (p *pluginID) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	id, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a string")}
	}
	*p = pluginID{Text: id, Pos: v.Pos()}
	return badPluginID(v.Pos(), id)
}

// idsOf returns the ids that are strings.
func idsOf[T pluginID | toolID](ids []T) []dish.Text {
	var list []dish.Text
	for _, id := range ids {
		if dish.Text(id).Text != "" {
			list = append(list, dish.Text(id))
		}
	}
	return list
}

func badPluginID(pos diagnostics.Pos, id string) []diagnostics.Diagnostic {
	rest, whole := strings.CutPrefix(id, "bento-adapter-")
	if ValidPluginID(id) && !whole {
		return nil
	}
	d := pos.Error(diagnostics.RuleInvalid, "%q is no id of an adapter, expected [a-z0-9][a-z0-9_-]*", id)
	if whole {
		d.Hint = `the id is what follows "bento-adapter-": "` + rest + `"`
	}
	return []diagnostics.Diagnostic{d}
}

// place is a path outside the workspace.
type place dish.Text

// Shape returns the schema.
func (*place) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "pattern": "^(/|~/|~$)"}
}

// UnmarshalTOML reads and checks a path.
func (p *place) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a path")}
	}
	if wrong := badPlace(v.Pos(), s); wrong != nil {
		return wrong
	}
	*p = place{Text: path.Clean(s), Pos: v.Pos()}
	return nil
}

func badPlace(pos diagnostics.Pos, s string) []diagnostics.Diagnostic {
	if strings.ContainsRune(s, 0) || !path.IsAbs(s) && s != "~" && !strings.HasPrefix(s, "~/") {
		return []diagnostics.Diagnostic{pos.Error(rulePath, `path %q: expected an absolute one, or one that starts with "~/"`, s)}
	}
	return nil
}

func placesOf(places []place) []dish.Text {
	var list []dish.Text
	for _, p := range places {
		if p.Text != "" {
			list = append(list, dish.Text(p))
		}
	}
	return list
}
