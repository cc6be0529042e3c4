package config

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Plugins is the table [plugins].
type Plugins struct {
	Disable   []Text // ids that are never loaded
	Allowlist []Text // when Restrict is set, the only ids that are
	Restrict  bool
	Sandbox   string // "off", "auto", "required"
	Lazy      bool
	ByID      map[string]Plugin // [plugins.<id>]
}

// Plugin is the table [plugins.<id>].
type Plugin struct {
	Pos     Pos // of the id
	PassEnv []string
	SHA256  Text   // of the executable, lower case hex; empty when not pinned
	Sandbox string // "" when not given
}

// ValidPluginID tells whether id may be an adapter's: [a-z0-9][a-z0-9_-]*.
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
	p.Sandbox = "off"
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
		return []diagnostics.Diagnostic{v.Unknown([]string{"disable", "allowlist", "sandbox", "lazy"})}
	}
	var raw struct {
		PassEnv []envPattern        `toml:"pass_env"`
		SHA256  tomlfile.At[string] `toml:"sha256"`
		Sandbox *tomlfile.Value     `toml:"sandbox"`
	}
	problems := badPluginID(v.KeyPos(), v.Name())
	problems = append(problems, v.Decode(&raw)...)
	plugin := Plugin{Pos: v.KeyPos(), PassEnv: envNames(raw.PassEnv)}
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

// sandboxMode reads the mode, and refuses to promise what is not there yet.
func sandboxMode(v *tomlfile.Value, into *string) []diagnostics.Diagnostic {
	var raw tomlfile.At[string]
	problems := v.Decode(&raw)
	problems = append(problems, oneOf(raw, "off", "auto", "required")...)
	if len(problems) > 0 || slices.Contains([]string{"", "off"}, raw.Value) {
		return problems
	}
	*into = raw.Value
	d := raw.Pos.Warning(RuleUnsupported, "%s = %q has no effect: plugins cannot be confined yet", v.Path(), raw.Value)
	if raw.Value == "required" {
		d.Severity = diagnostics.Error
		d.Hint = `remove the key or set it to "off"`
	}
	return []diagnostics.Diagnostic{d}
}
