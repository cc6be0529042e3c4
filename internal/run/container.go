package run

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// Contained describes the container of one execution.
type Contained struct {
	Task   *plan.Task
	Image  string // from ImageOf
	Reach  *record.Reach
	Inputs bool // the task can read only its inputs
}

// Containers makes the executors of tasks in containers.
type Containers struct {
	Executor func(Contained) action.Executor
	// ImageOf returns what identifies an image, see key.Options.
	ImageOf func(*dish.Container) (string, error)
	// Variables returns those that an image sets. image is what ImageOf has returned.
	Variables func(ctx context.Context, c *dish.Container, image string) (adapters.Environ, error)
	// Sweep removes the containers that killed processes have left. It is called when this process has the workspace to
	// itself. It may be nil.
	Sweep func()
}
