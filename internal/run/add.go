package run

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
)

// Add adds packages to d with the command of its ecosystem, while no other bento installs in the same
// scope. The snapshot is outdated afterwards. Add runs nothing if a link on the path of a manifest or
// lockfile leads out of the workspace.
func (in *installer) Add(ctx context.Context, d *dish.Dish, packages []string, dev bool, log adapters.LogFunc) error {
	if err := in.inOwnInstall(d); err != nil {
		return err
	}
	unlock, err := in.State.Lock(ctx, "locks/install-"+cache.ShortSum(d.ScopeID())+".lock", func(holder string) {
		in.warn("waiting", fmt.Sprintf("the dependencies of %s are being installed by another bento; waiting for it", d.Name), holder)
	})
	if err == nil {
		defer unlock()
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := LinksOut(in.Root, d); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	defer in.Snapshot.Changed()
	return adapters.Add(ctx, d.Adapter, adapters.AddRequest{
		DishDir: d.Dir, DishName: d.Name, Packages: packages, Dev: dev, Env: in.environ(d),
	}, log)
}
