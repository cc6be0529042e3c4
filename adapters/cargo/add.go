package cargo

import (
	"context"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// Add implements adapters.Adder with `cargo add`, which writes the lockfile too.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := a.project(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	if p.Package == nil {
		return &adapters.Unsupported{
			Adapter: "cargo", What: "adding packages to a workspace without a package",
			Hint: "name the dish of one of its packages with --dish",
		}
	}
	argv := []string{"cargo", "add", "--manifest-path", filepath.Join(p.Dir(), "Cargo.toml")}
	if req.Dev {
		argv = append(argv, "--dev")
	}
	return a.run(ctx, req.Leave(), probe.Work{Argv: append(append(argv, "--"), req.Packages...), Dir: p.Dir(), Env: req.Env}, log)
}
