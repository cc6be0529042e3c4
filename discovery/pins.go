package discovery

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// RuleUnknownRuntime is the rule of a pin that no adapter would read.
const RuleUnknownRuntime = "unknown_runtime"

// pinnable are the runtimes that may be pinned with any set of adapters: those in the reference.
var pinnable = [...]string{"go", "rust", "python", "ruby", "php", "java", "node", "bun", "deno", "dotnet", "uv"}

// checkPins reports pins whose key is neither a runtime nor an adapter's id. A pin of bento.toml is
// in the settings of every dish, and is reported once.
func (f *finder) checkPins() {
	known := slices.Clone(pinnable[:])
	for _, a := range f.Registry.All() {
		known = append(known, a.Manifest().AdapterID, a.Manifest().RuntimeName())
	}
	for _, c := range f.Candidates {
		known = append(known, c.ID)
	}
	reported := make(map[diagnostics.Pos]bool)
	check := func(pins map[string]dish.Pin) {
		for _, name := range slices.Sorted(maps.Keys(pins)) {
			if pos := pins[name].Pos; !slices.Contains(known, name) && !reported[pos] {
				reported[pos] = true
				f.add(pos.Error(RuleUnknownRuntime, "[toolchain] pins %q, which is neither a runtime nor an adapter's id", name).WithHint(SuggestLanguage(name, known)))
			}
		}
	}
	check(f.Config.Toolchain.Pins)
	for _, d := range f.ws.Dishes {
		check(d.Toolchain.Pins)
	}
}

// pinOf returns the required version: from bento's own files, else from the project's, which is in
// wanted or its error.
func pinOf(d *dish.Dish, root string, wanted *adapters.Toolchain, err error) (*adapters.Toolchain, error) {
	if d.Toolchain.UseSystem {
		return refused(wanted), nil
	}
	runtime := d.Adapter.Manifest().RuntimeName()
	p, ok := d.Toolchain.Pins[runtime]
	if !ok {
		return wanted, err
	}
	// A pin in bento's files also replaces one that cannot be read.
	pin := &adapters.Toolchain{Tool: runtime, Version: p.Version, Line: p.Pos.Line, Strict: true}
	pin.File = filepath.Join(root, filepath.FromSlash(p.Pos.File))
	if wanted != nil {
		pin.Tool, pin.More = wanted.Tool, wanted.More
		if wanted.Refused != "" {
			pin.More = slices.Insert(slices.Clone(pin.More), 0, *wanted)
		}
	}
	return pin, nil
}

// refused returns wanted without its other versions if no task may have it. A tool may fetch a version by
// itself, regardless of bento's settings.
func refused(wanted *adapters.Toolchain) *adapters.Toolchain {
	if wanted == nil || wanted.Refused == "" {
		return nil
	}
	w := *wanted
	w.More = nil
	return &w
}
