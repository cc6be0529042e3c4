package golang

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// Add implements adapters.Adder with `go get`. Go has no development dependencies.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := a.project(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	if p.mod == nil {
		return &adapters.Unsupported{
			Adapter: "go", What: "adding packages to a workspace that is not a module",
			Hint: "name the dish of one of its modules with --dish",
		}
	}
	if req.Dev && log != nil {
		log(adapters.Log{Level: "warn", Message: "go has no development dependencies: they are added like others"})
	}
	env := req.Env.Or(a.env).With(p.env())
	tool, err := env.LookPath("go")
	if err != nil {
		return a.missing(err)
	}
	argv := append([]string{tool, "get", "--"}, req.Packages...)
	return run(ctx, req.Leave(), probe.Work{Argv: argv, Dir: p.dir, Env: env}, log)
}
