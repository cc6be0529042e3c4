package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// LockFile is the file at the root of a workspace that pins plugins and tools on PATH. It has the digests of
// plugins under [sha256] and those of tools under [tools], by id. `bento plugin lock` writes it.
const LockFile = "bento.plugins.lock"

// readLock adds the pins of LockFile for plugins and tools that bento.toml does not pin.
func (w *Workspace) readLock(s *sources) []diagnostics.Diagnostic {
	p := &w.Plugins
	locked, problems := s.lock()
	for id, sum := range locked.Plugins {
		if own := p.ByID[id]; own.SHA256.Text == "" {
			own.SHA256 = sum
			if p.ByID == nil {
				p.ByID = make(map[string]Plugin)
			}
			p.ByID[id] = own
		}
	}
	w.Tools.Locked = locked.Tools
	return problems
}

// Lock is the content of LockFile: digests by id. Maps without entries are nil.
type Lock struct{ Plugins, Tools map[string]dish.Text }

// LoadLock reads the LockFile of a workspace; a missing one is empty.
func LoadLock(root string) (Lock, []diagnostics.Diagnostic) {
	locked, problems := readSources(root, "").lock()
	return locked, diagnostics.Sorted(problems)
}

func (s *sources) lock() (locked Lock, problems []diagnostics.Diagnostic) {
	f, problems := s.parse(LockFile)
	if f == nil {
		return locked, problems
	}
	var raw struct {
		SHA256 map[string]tomlfile.At[string] `toml:"sha256"`
		Tools  map[string]tomlfile.At[string] `toml:"tools"`
	}
	problems = append(problems, f.Decode(&raw)...)
	sums := func(pins map[string]tomlfile.At[string], bad func(diagnostics.Pos, string) []diagnostics.Diagnostic) (list map[string]dish.Text) {
		for _, id := range slices.Sorted(maps.Keys(pins)) {
			sum, more := digestOf(pins[id])
			problems = append(append(problems, bad(pins[id].Pos, id)...), more...)
			if list == nil {
				list = make(map[string]dish.Text)
			}
			list[id] = sum
		}
		return list
	}
	locked = Lock{Plugins: sums(raw.SHA256, badPluginID), Tools: sums(raw.Tools, badToolID)}
	return locked, problems
}

// Unlocked returns p without the pins of LockFile.
func (p *Plugins) Unlocked() Plugins {
	free := *p
	free.ByID = maps.Clone(p.ByID)
	for id, own := range free.ByID {
		if own.SHA256.Pos.File == LockFile {
			own.SHA256 = dish.Text{}
			free.ByID[id] = own
		}
	}
	return free
}

// digestOf reads a pin.
func digestOf(pin tomlfile.At[string]) (dish.Text, []diagnostics.Diagnostic) {
	if !pin.Given {
		return dish.Text{}, nil
	}
	sum := strings.ToLower(pin.Value)
	if len(sum) == 64 && strings.Trim(sum, "0123456789abcdef") == "" {
		return dish.Text{Text: sum, Pos: pin.Pos}, nil
	}
	return dish.Text{Text: sum, Pos: pin.Pos}, []diagnostics.Diagnostic{
		pin.Pos.Error(diagnostics.RuleInvalid, "sha256 %q is no digest, expected 64 hexadecimal digits", pin.Value),
	}
}
