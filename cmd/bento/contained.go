package main

import (
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/container"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/workspace"
)

// containers returns the host of the containers of a workspace.
func (s *session) containers(ws *workspace.Workspace) *container.Host {
	self, _ := executable() // without it no guard removes containers
	own := ws.Config.Containers
	return container.New(container.Options{
		Root: ws.Root, Environ: s.environ, State: ws.State, Tree: ws.Tree, Self: self,
		Settings: container.Settings{Engine: own.Engine, EngineArgs: own.EngineArgs, RunArgs: own.RunArgs, BuildArgs: own.BuildArgs},
	})
}

// containersOf returns the containers of tasks.
func containersOf(h *container.Host) run.Containers {
	return run.Containers{
		Executor: func(c run.Contained) action.Executor {
			t := c.Task
			return &container.Executor{Host: h, Container: t.Container, Digest: c.Image, Reach: c.Reach, Inputs: c.Inputs, Network: t.Network, Installed: t.AwaitsInstall(), Task: t.ID()}
		},
		ImageOf: h.ImageOf, Variables: h.Variables, Sweep: h.Sweep,
	}
}
