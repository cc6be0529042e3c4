package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// LockFile pins the plugins and the tools of PATH of a workspace, at its root: the digest of each
// under [sha256], and of each tool under [tools], by id.
// `bento plugin lock` writes it.
const LockFile = "bento.plugins.lock"

// readLock adds the pins of LockFile for plugins and tools that bento.toml does not pin.
func (w *Workspace) readLock(s *sources) []diagnostics.Diagnostic {
	p := &w.Plugins
	f, problems := s.parse(LockFile)
	if f == nil {
		return problems
	}
	var raw struct {
		SHA256 map[string]tomlfile.At[string] `toml:"sha256"`
		Tools  map[string]tomlfile.At[string] `toml:"tools"`
	}
	problems = append(problems, f.Decode(&raw)...)
	for _, id := range slices.Sorted(maps.Keys(raw.SHA256)) {
		pin, own := raw.SHA256[id], p.ByID[id]
		problems = append(problems, badPluginID(pin.Pos, id)...)
		sum, more := digestOf(pin)
		problems = append(problems, more...)
		if own.SHA256.Text == "" {
			own.SHA256 = sum
			if p.ByID == nil {
				p.ByID = make(map[string]Plugin)
			}
			p.ByID[id] = own
		}
	}
	for _, id := range slices.Sorted(maps.Keys(raw.Tools)) {
		sum, more := digestOf(raw.Tools[id])
		problems = append(append(problems, badToolID(raw.Tools[id].Pos, id)...), more...)
		if w.Tools.Locked == nil {
			w.Tools.Locked = make(map[string]Text)
		}
		w.Tools.Locked[id] = sum
	}
	return problems
}

// Unlocked returns p without the pins of LockFile.
func (p *Plugins) Unlocked() Plugins {
	free := *p
	free.ByID = maps.Clone(p.ByID)
	for id, own := range free.ByID {
		if own.SHA256.Pos.File == LockFile {
			own.SHA256 = Text{}
			free.ByID[id] = own
		}
	}
	return free
}

// digestOf reads a pin.
func digestOf(pin tomlfile.At[string]) (Text, []diagnostics.Diagnostic) {
	if !pin.Given {
		return Text{}, nil
	}
	sum := strings.ToLower(pin.Value)
	if len(sum) == 64 && strings.Trim(sum, "0123456789abcdef") == "" {
		return Text{Text: sum, Pos: pin.Pos}, nil
	}
	return Text{Text: sum, Pos: pin.Pos}, []diagnostics.Diagnostic{
		pin.Pos.Error(RuleInvalid, "sha256 %q is no digest, expected 64 hexadecimal digits", pin.Value),
	}
}
