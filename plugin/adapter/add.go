package adapter

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// Add sends an add request. Like an install it may take long and is not repeated if the
// plugin exits. For a plugin without the capability it returns an *adapters.Unsupported.
func (p *Process) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	if !p.manifest.Capabilities.Add {
		return &adapters.Unsupported{Adapter: p.id, What: "adding packages", Hint: "write them into the manifest by hand"}
	}
	return p.asInstaller(ctx, []string{req.DishDir}, func(p *Process) error {
		_, err := p.ask(ctx, host.Call{
			Method: wire.MethodAdd,
			Params: req,
			Dir:    req.DishDir,
			Within: cmp.Or(p.install, installWithin),
			Once:   true,
			Log:    log,
		}, new(json.RawMessage))
		return err
	})
}
