package config

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Plugins is the table [plugins].
type Plugins struct {
	Disable   []Text // ids of plugins that are never loaded
	Allowlist []Text // when Restrict is set, ids of the only plugins that are loaded
	Restrict  bool
	Required  []Text // ids of plugins without which nothing is run
	Sandbox   Text   // one of the Sandbox words, or empty like SandboxOff
	Lazy      bool
	Least     Text              // the least strict Sandbox that the user's own file allows; empty for any
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
	Pos     Pos // of the table
	PassEnv []string
	SHA256  Text // SHA-256 of the executable, lower case hex; empty when not pinned
	Sandbox Text // as that of Plugins; empty when not given
	Least   Text // likewise
	// Read and Write are further paths that a confined plugin may use: absolute, or below the home
	// directory with "~/" in front.
	Read, Write []Text
}

// SandboxOf returns how the plugin id is confined, and the position of that setting: the stricter
// one of the workspace's and the user's. The text is never empty.
func (p *Plugins) SandboxOf(id string) Text {
	said, least := firstOf(p.ByID[id].Sandbox, p.Sandbox), p.leastOf(id)
	if strictness(least) > strictness(said) {
		return least
	}
	return said
}

// leastOf returns the least strict sandbox that the user's own file allows for the plugin id.
func (p *Plugins) leastOf(id string) Text { return firstOf(p.ByID[id].Least, p.Least) }

func firstOf(modes ...Text) Text {
	for _, mode := range modes {
		if mode.Text != "" {
			return mode
		}
	}
	return Text{Text: SandboxOff}
}

func strictness(mode Text) int {
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

// UnmarshalTOML reads the fixed keys, and the tables of single plugins.
func (p *Plugins) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected("a table")}
	}
	for _, name := range v.Keys() {
		child := v.Child(name)
		switch name {
		case "disable":
			problems = append(problems, pluginIDs(child, &p.Disable)...)
		case "allowlist":
			p.Restrict = true
			problems = append(problems, pluginIDs(child, &p.Allowlist)...)
		case "required":
			problems = append(problems, pluginIDs(child, &p.Required)...)
		case "sandbox":
			problems = append(problems, sandboxMode(child, &p.Sandbox)...)
		case "lazy":
			problems = append(problems, child.Decode(&p.Lazy)...)
		default:
			problems = append(problems, p.plugin(child)...)
		}
	}
	return problems
}

func (p *Plugins) plugin(v *tomlfile.Value) []diagnostics.Diagnostic {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Unknown([]string{"disable", "allowlist", "required", "sandbox", "lazy"})}
	}
	var raw struct {
		PassEnv []envPattern        `toml:"pass_env"`
		SHA256  tomlfile.At[string] `toml:"sha256"`
		Sandbox *tomlfile.Value     `toml:"sandbox"`
		Read    []place             `toml:"read"`
		Write   []place             `toml:"write"`
	}
	problems := badPluginID(v.KeyPos(), v.Name())
	problems = append(problems, v.Decode(&raw)...)
	plugin := Plugin{Pos: v.KeyPos(), PassEnv: envNames(raw.PassEnv), Read: placesOf(raw.Read), Write: placesOf(raw.Write)}
	if raw.Sandbox != nil {
		problems = append(problems, sandboxMode(raw.Sandbox, &plugin.Sandbox)...)
	}
	var more []diagnostics.Diagnostic
	plugin.SHA256, more = digestOf(raw.SHA256)
	problems = append(problems, more...)
	if p.ByID == nil {
		p.ByID = make(map[string]Plugin)
	}
	p.ByID[v.Name()] = plugin
	return problems
}

// pluginIDs reads a list of ids.
func pluginIDs(v *tomlfile.Value, into *[]Text) []diagnostics.Diagnostic {
	var raw []tomlfile.At[string]
	problems := v.Decode(&raw)
	for _, id := range raw {
		if id.Given {
			problems = append(problems, badPluginID(id.Pos, id.Value)...)
			*into = append(*into, Text{Text: id.Value, Pos: id.Pos})
		}
	}
	return problems
}

func badPluginID(pos Pos, id string) []diagnostics.Diagnostic {
	rest, whole := strings.CutPrefix(id, "bento-adapter-")
	if ValidPluginID(id) && !whole {
		return nil
	}
	d := pos.Error(RuleInvalid, "%q is no id of an adapter, expected [a-z0-9][a-z0-9_-]*", id)
	if whole {
		d.Hint = `the id is what follows "bento-adapter-": "` + rest + `"`
	}
	return []diagnostics.Diagnostic{d}
}

// sandboxMode reads a value of sandbox.
func sandboxMode(v *tomlfile.Value, into *Text) []diagnostics.Diagnostic {
	var raw tomlfile.At[string]
	problems := v.Decode(&raw)
	problems = append(problems, oneOf(raw, SandboxOff, sandboxAuto, SandboxRequired)...)
	if len(problems) == 0 {
		*into = Text{Text: raw.Value, Pos: raw.Pos}
	}
	return problems
}

// place is a path outside the workspace.
type place Text

func (p *place) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a path")}
	}
	if strings.ContainsRune(s, 0) || !path.IsAbs(s) && s != "~" && !strings.HasPrefix(s, "~/") {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, `path %q: expected an absolute one, or one that starts with "~/"`, s)}
	}
	*p = place{Text: path.Clean(s), Pos: v.Pos()}
	return nil
}

func placesOf(places []place) []Text {
	var list []Text
	for _, p := range places {
		if p.Text != "" {
			list = append(list, Text(p))
		}
	}
	return list
}
