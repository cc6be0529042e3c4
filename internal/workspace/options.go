package workspace

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/plugin/adapter/answer"
)

// dishSettings has the options of plugins that files dish.toml set. It is safe for concurrent use.
type dishSettings struct {
	mu sync.RWMutex
	by map[string]map[string]string // by absolute directory and by plugin id
}

func (s *dishSettings) of(id, dir string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.by[dir][id]
}

func (s *dishSettings) load(cfg *config.Workspace, dishes []*dish.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range dishes {
		for id, o := range d.Options {
			if o.JSON == "" {
				continue
			}
			dir := filepath.Join(cfg.Root, filepath.FromSlash(d.Path))
			if s.by == nil {
				s.by = make(map[string]map[string]string)
			}
			if s.by[dir] == nil {
				s.by[dir] = make(map[string]string)
			}
			s.by[dir][id] = o.Over(cfg.Plugins.ByID[id].Options)
		}
	}
}

// wrongOptions returns the problems of options that a plugin does not have or that its schema does not allow.
func wrongOptions(w *Workspace, from *discovery.Options) (problems []diagnostics.Diagnostic) {
	check := func(id string, o dish.Options) {
		if o.JSON == "" {
			return
		}
		if a := from.Registry.ByID(id); a != nil {
			problems = append(problems, faultsOf(a.Manifest(), o)...)
		} else if !slices.ContainsFunc(from.Candidates, func(c adapters.Candidate) bool { return c.ID == id }) {
			problems = append(problems, o.Places[""].Warning(diagnostics.RuleInvalid, "options of %q, which is no plugin here", id).WithHint(diagnostics.Suggest(id, from.Registry.IDs())))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(from.Config.Plugins.ByID)) {
		check(id, from.Config.Plugins.ByID[id].Options)
	}
	seen := make(map[*dish.Settings]bool) // a directory may hold several dishes
	for _, d := range w.Dishes {
		if d.Config == nil || seen[d.Config] {
			continue
		}
		seen[d.Config] = true
		for _, id := range slices.Sorted(maps.Keys(d.Config.Options)) {
			check(id, d.Config.Options[id])
		}
	}
	return problems
}

// faultsOf returns the problems of options according to a manifest.
func faultsOf(m *adapters.Manifest, o dish.Options) (problems []diagnostics.Diagnostic) {
	if !m.Capabilities.Options {
		return []diagnostics.Diagnostic{o.Places[""].Error(diagnostics.RuleInvalid, "the adapter %s takes no options", m.AdapterID)}
	}
	schema, err := answer.ReadOptionsSchema(m.OptionsSchema)
	if err != nil {
		return nil // the manifest was checked
	}
	for _, f := range schema.Check(json.RawMessage(o.JSON)) {
		pos, ok := o.Places[f.Path]
		if !ok {
			pos = o.Places[""]
		}
		path := "options"
		if f.Path != "" {
			path += "." + f.Path
		}
		problems = append(problems, pos.Error(diagnostics.RuleInvalid, "%s: %s", path, f.Message).WithHint(f.Hint))
	}
	return problems
}
