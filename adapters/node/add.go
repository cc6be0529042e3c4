package node

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// Add has the manager add packages to the project, in its own directory: in a
// workspace that is what makes it the project's.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := a.Open(adapters.NewFiles(req.DishDir))
	if err != nil {
		return err
	}
	env := req.Env
	if a.manager == project.Yarn {
		// On a CI machine it would change no lockfile.
		env = env.With(map[string]string{"YARN_ENABLE_IMMUTABLE_INSTALLS": "0"})
	}
	return a.runTool(ctx, req.DishDir, slices.Concat(a.add(p, req.Dev), req.Packages), env, log)
}
