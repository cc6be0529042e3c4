package discovery

import (
	"context"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/discovery/answers"
)

// ask fills in what the adapter says of the dish, or m knows.
func (d *Dish) ask(ctx context.Context, root string, m *answers.Memory) error {
	a, err := m.Ask(ctx, d.Adapter, d.Dir)
	d.Tasks, d.Aggregate, d.warnings = a.Tasks.Tasks, a.Tasks.Aggregate, a.Tasks.Warnings
	d.members = make(map[string]bool, len(a.Tasks.Members))
	for _, m := range a.Tasks.Members {
		if rel, ok := relative(root, m); ok {
			d.members[rel] = true
		}
	}
	d.answered, d.Scope, d.Lock = a.Links, a.Scope, a.Lock
	var bad error
	if d.Pin, bad = d.pin(root, a.Pin, a.PinError); bad != nil {
		return bad
	}
	return err
}

// pin gives the version that is asked for: in bento's own files, else in the
// project's, which wanted or its error tells.
func (d *Dish) pin(root string, wanted *adapters.Toolchain, err error) (*adapters.Toolchain, error) {
	if d.Toolchain.UseSystem {
		return nil, nil
	}
	runtime := d.Adapter.Manifest().RuntimeName()
	p, ok := d.Toolchain.Pins[runtime]
	if !ok {
		return wanted, err
	}
	// A pin of bento's own takes the place of one that cannot even be read.
	pin := &adapters.Toolchain{Tool: runtime, Version: p.Version, Line: p.Pos.Line, Strict: true}
	pin.File = filepath.Join(root, filepath.FromSlash(p.Pos.File))
	if wanted != nil {
		pin.Tool, pin.More = wanted.Tool, wanted.More
	}
	return pin, nil
}
