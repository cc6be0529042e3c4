package main

import (
	"cmp"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/confine"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/sandbox"
)

// sandboxOf returns the sandbox of tasks. self is the path of this program.
func sandboxOf(observer action.Executor, self string) run.Sandbox {
	return run.Sandbox{
		Confine: func(c run.Confined) action.Executor {
			return &confine.Executor{Observer: observer, Self: self, Reach: c.Reach, Network: c.Network, Observe: c.Observe}
		},
		Lacks: func(network bool) string {
			return cmp.Or(sandbox.Offered().LacksRules(network), observe.Offered())
		},
	}
}

// sandboxOf returns the sandbox of the tasks of a dish that do not set it themselves.
func (s *session) sandboxOf(w *config.Workspace) func(*dish.Dish) dish.Sandbox {
	if s.flags.sandbox != "" {
		return func(*dish.Dish) dish.Sandbox { return dish.Sandbox(s.flags.sandbox) }
	}
	return w.SandboxOf
}
