// Package manifest reads manifest.toml of an extension of the ainb contract v2, and finds the
// extensions of a directory. It starts nothing.
package manifest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/semver"
	"github.com/bentobuild/bento/internal/tomlfile"
)

const (
	// File is the name of the manifest in the directory of an extension.
	File = "manifest.toml"
	// ABI is the revision of the contract that bento speaks.
	ABI = 2
	// MaxSize is the largest size of a manifest in bytes.
	MaxSize = 1 << 20
	// DefaultReap is how long an extension without a setting is idle before it is ended, in seconds.
	DefaultReap = 600
	// reserved is the name of bento itself in the contract.
	reserved = "host"

	maxName = 100
	maxList = 1000
	maxText = 4096
)

// The rules of the diagnostics of this package, beside those of tomlfile.
const (
	RuleMissingKey   = "missing_key"
	RuleInvalidValue = "invalid_value"
	RuleABI          = "abi_mismatch"
	RuleName         = "extension_name"
	RuleExecutable   = "extension_executable"
)

// Manifest is the manifest of an extension. Lists are nil if they are empty.
type Manifest struct {
	Plugin       Plugin
	Capabilities map[string]Grant // all that it declares, also those that bento does not know
	Provides     Provides
	Subscribes   Subscribes
	Lifecycle    Lifecycle
	Config       []Setting
}

// Plugin identifies an extension. Its name is that of its directory and of its executable.
type Plugin struct {
	Name, Version, Description string
	ABIVersion                 int
}

// Provides lists the offers of an extension. Only CLINamespaces has an effect.
type Provides struct{ Screens, Commands, CLINamespaces, Snapshots []string }

// Subscribes are the topics that an extension receives. An extension with a topic in Snapshots
// that is not in LatestState is never ended for being idle.
type Subscribes struct{ Snapshots, LatestState []string }

// Lifecycle is when an extension starts and ends. IdleReap is in seconds, 0 for never.
type Lifecycle struct {
	Eager    bool
	IdleReap uint32
}

// Setting is one value that an extension wants to be configured.
type Setting struct {
	Key, Kind, Label, Default string
	Choices                   []string
}

// Parse reads a manifest; path is its name in messages. The manifest is nil if one of the problems
// is an error. Unknown keys are warnings, except those of [subscribes], which are errors.
func Parse(path string, data []byte) (*Manifest, []diagnostics.Diagnostic) {
	if len(data) > MaxSize {
		return nil, []diagnostics.Diagnostic{diagnostics.Pos{File: path}.Error(tomlfile.RuleTooLarge, "the manifest has %d bytes, expected at most %d", len(data), MaxSize)}
	}
	file, problems := tomlfile.Parse(path, data)
	if file == nil {
		return nil, problems
	}
	r := &reader{}
	m := r.manifest(file.Root())
	if slices.ContainsFunc(r.problems, func(d diagnostics.Diagnostic) bool { return d.Severity == diagnostics.Error }) {
		m = nil
	}
	return m, r.problems
}

func (r *reader) manifest(root *tomlfile.Value) *Manifest {
	m := &Manifest{Capabilities: map[string]Grant{}, Lifecycle: Lifecycle{IdleReap: DefaultReap}}
	r.known(root, false, "plugin", "capabilities", "provides", "subscribes", "lifecycle", "config")
	r.plugin(r.table(root, "plugin"), root, &m.Plugin)
	if t := r.table(root, "capabilities"); t != nil {
		for _, key := range t.Keys() {
			m.Capabilities[key] = r.grant(t.Child(key))
		}
	}
	if t := r.table(root, "provides"); t != nil {
		r.known(t, false, "screens", "commands", "cli_namespaces", "snapshots")
		m.Provides = Provides{r.list(t, "screens"), r.list(t, "commands"), r.list(t, "cli_namespaces"), r.list(t, "snapshots")}
	}
	if t := r.table(root, "subscribes"); t != nil {
		r.subscribes(t, &m.Subscribes)
	}
	if t := r.table(root, "lifecycle"); t != nil {
		r.lifecycle(t, &m.Lifecycle)
	}
	r.settings(root.Child("config"), m)
	return m
}

func (r *reader) plugin(t, root *tomlfile.Value, p *Plugin) {
	if t == nil {
		if root.Child("plugin") == nil {
			r.error(root.Pos(), RuleMissingKey, "the section [plugin] is missing, required with name, version and abi_version")
		}
		return
	}
	r.known(t, false, "name", "version", "abi_version", "description")
	p.Name, p.Version, p.Description = r.must(t, "name"), r.must(t, "version"), r.text(t, "description")
	if v := t.Child("name"); v != nil && p.Name != "" {
		if why := WrongName(p.Name); why != "" {
			r.error(v.Pos(), RuleName, "plugin.name %.120q %s", p.Name, why)
		}
	}
	if v := t.Child("version"); v != nil && p.Version != "" {
		if _, err := semver.ParseWhole(p.Version); err != nil {
			r.error(v.Pos(), RuleInvalidValue, "plugin.version %.120q is no version, expected one like \"1.2.0\"", p.Version)
		}
	}
	v := t.Child("abi_version")
	switch n, ok := r.integer(v, math.MaxUint32); {
	case v == nil:
		r.error(t.KeyPos(), RuleMissingKey, "plugin.abi_version is missing, required %d", ABI)
	case ok && n != ABI:
		r.error(v.Pos(), RuleABI, "plugin.abi_version is %d, required %d: the extension was made for another revision of the contract", n, ABI)
	default:
		p.ABIVersion = int(n)
	}
}

// WrongName returns why a text cannot be the name of an extension, or "". A name is part of paths.
func WrongName(name string) string {
	odd := func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}
	switch {
	case name == reserved:
		return "is reserved for bento itself"
	case name == "" || len(name) > maxName || strings.ContainsFunc(name, odd) || name[0] == '.' || name[0] == '-' || name == File:
		return fmt.Sprintf("is no name of an extension, expected at most %d letters, digits, \"-\", \"_\" and \".\", with a letter, a digit or \"_\" first", maxName)
	}
	return ""
}

func (r *reader) subscribes(t *tomlfile.Value, s *Subscribes) {
	r.known(t, true, "snapshots", "latest_state")
	s.Snapshots, s.LatestState = r.list(t, "snapshots"), r.list(t, "latest_state")
	for i, topic := range s.LatestState {
		if !slices.Contains(s.Snapshots, topic) {
			r.error(t.Child("latest_state").Elems()[i].Pos(), RuleInvalidValue, "the topic %.120q of latest_state is not in snapshots, where it is required too", topic)
		}
	}
}

func (r *reader) lifecycle(t *tomlfile.Value, l *Lifecycle) {
	r.known(t, false, "spawn", "idle_reap_secs")
	switch spawn := r.text(t, "spawn"); spawn {
	case "eager":
		l.Eager = true
	case "lazy", "":
		if v := t.Child("spawn"); v == nil || spawn == "lazy" || v.Kind() != tomlfile.String {
			break
		}
		fallthrough
	default:
		r.error(t.Child("spawn").Pos(), RuleInvalidValue, "lifecycle.spawn is %.120q, expected \"lazy\" or \"eager\"", spawn)
	}
	if v := t.Child("idle_reap_secs"); v != nil {
		n, _ := r.integer(v, math.MaxUint32)
		l.IdleReap = uint32(n)
	}
}

// kinds are the kinds of a setting.
func kinds() []string { return []string{"path", "string", "bool", "enum", "int"} }

func (r *reader) settings(v *tomlfile.Value, m *Manifest) {
	if v == nil {
		return
	}
	if v.Kind() != tomlfile.Array || len(v.Elems()) > maxList {
		r.add(v.Expected(fmt.Sprintf("an array of at most %d tables", maxList)))
		return
	}
	for _, t := range v.Elems() {
		if t.Kind() != tomlfile.Table {
			r.add(t.Expected("a table"))
			continue
		}
		r.known(t, false, "key", "kind", "label", "default", "choices")
		s := Setting{Key: r.must(t, "key"), Kind: r.must(t, "kind"), Label: r.must(t, "label"), Default: r.text(t, "default"), Choices: r.list(t, "choices")}
		if k := t.Child("kind"); k != nil && s.Kind != "" && !slices.Contains(kinds(), s.Kind) {
			r.error(k.Pos(), RuleInvalidValue, "%s is %.120q, expected one of %s", k.Path(), s.Kind, strings.Join(kinds(), ", "))
		}
		m.Config = append(m.Config, s)
	}
}

// Granted returns the names of the capabilities that the manifest declares, sorted.
func (m *Manifest) Granted() (names []string) {
	for name, g := range m.Capabilities {
		if g.Granted() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
