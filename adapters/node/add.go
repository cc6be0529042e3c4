package node

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/internal/probe"
)

// Add runs the manager's add command in the project's own directory: in a workspace that
// makes the dependency the project's.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := a.Open(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	env := req.Env
	if a.manager == project.Yarn {
		// On a CI machine yarn would change no lockfile.
		env = env.With(map[string]string{"YARN_ENABLE_IMMUTABLE_INSTALLS": "0"})
	}
	w := probe.Work{Argv: slices.Concat(a.add(p, req.Dev), req.Packages), Dir: req.DishDir, Env: env}
	return a.runTool(ctx, req.Leave(), w, log)
}

// Scaffold implements adapters.Scaffolder: the smallest package that builds, tests and
// lints.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	if a.manager == project.Bun {
		return bunStarter(name, a.fresh(a.env)...)
	}
	return nodeStarter(name, a.fresh(a.env)...)
}

// lockfiles returns the function that returns the lockfile of a new project.
func lockfiles(name, text string) func(adapters.Environ) []adapters.ScaffoldFile {
	return func(adapters.Environ) []adapters.ScaffoldFile {
		return []adapters.ScaffoldFile{{Path: name, Data: []byte(text)}}
	}
}
