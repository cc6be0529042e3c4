package sep

import (
	"slices"
	"sync"

	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// panels are the tool panels of one extension: the declared and the registered ones.
type panels struct {
	mu   sync.Mutex
	list []manifest.Panel
}

// add adds a panel, or replaces the one with its id. It reports whether the panel fitted.
func (p *panels) add(panel manifest.Panel) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.list, func(other manifest.Panel) bool { return other.ID == panel.ID })
	switch {
	case i >= 0:
		p.list[i] = panel
	case len(p.list) >= manifest.MaxPanels:
		return false
	default:
		p.list = append(p.list, panel)
	}
	return true
}

// all returns the panels in the order of their first registration.
func (p *panels) all() []manifest.Panel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}
