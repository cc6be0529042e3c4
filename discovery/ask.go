package discovery

import (
	"context"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// ask fills in what the adapter says of the dish.
func (d *Dish) ask(ctx context.Context, root string) error {
	tasks, err := adapters.Tasks(ctx, d.Adapter, d.Dir)
	if err != nil {
		return err
	}
	d.Tasks, d.Aggregate, d.warnings = tasks.Tasks, tasks.Aggregate, tasks.Warnings
	d.members = make(map[string]bool, len(tasks.Members))
	for _, m := range tasks.Members {
		if rel, ok := relative(root, m); ok {
			d.members[rel] = true
		}
	}
	if d.Pin, err = d.pin(ctx, root); err != nil {
		return err
	}
	if d.answered, err = adapters.Links(ctx, d.Adapter, d.Dir); err != nil {
		return err
	}
	if d.Scope, err = adapters.InstallScope(ctx, d.Adapter, d.Dir); err != nil {
		return err
	}
	d.Lock, err = adapters.LockDigest(ctx, d.Adapter, d.Dir)
	return err
}

// pin gives the version that is asked for: in bento's own files, else in the
// project's.
func (d *Dish) pin(ctx context.Context, root string) (*adapters.Toolchain, error) {
	if d.Toolchain.UseSystem {
		return nil, nil
	}
	wanted, err := d.Adapter.RequiredToolchain(ctx, d.Dir)
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
