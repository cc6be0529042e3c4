package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/container"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tree"
)

func shellCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "shell DISH[:TASK] [-- COMMAND…]", GroupID: "run", Short: "Open a shell in the container of a dish",
		Long:    "Start a shell, or a command, in the container of a task of the dish, with its variables and\nmounts. It can write to the directory of the dish. Without TASK it is the container of\nthe first task that has one.",
		Example: "  bento shell api\n  bento shell api:test -- ls -l",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.shell(cmd.Context(), args[0], args[1:])
		},
	}
}

// shell runs words, or a shell, in the container of a task. Its exit code is that of the command.
func (s *session) shell(ctx context.Context, name string, words []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	t, err := containedTask(w, name)
	if err != nil {
		return err
	}
	c, err := w.env.Command(t)
	if err != nil {
		return err
	}
	host := s.containers(w.Workspace)
	x := &container.Executor{Host: host, Container: t.Container, Network: t.Network, Installed: t.AwaitsInstall(), Task: t.ID()}
	if x.Digest, err = host.ImageOf(t.Container); err != nil {
		return key.Locate(err)
	}
	if x.Reach, err = wholeDish(w.Root, t); err != nil {
		return err
	}
	if c.Argv, c.Ready, c.Timeout = []string{"/bin/sh"}, nil, 0; len(words) > 0 {
		c.Argv = words
	}
	c.Stdout, c.Stderr = s.out, s.err
	if io := s.stdio(); io != nil {
		c.Stdin = io.In
		if io.Terminal {
			c.Terminal, c.Stdout, c.Stderr = io.In, io.Out, io.Err
		}
	}
	c.Outputs = new(tree.Set)
	guard(nil)
	res, err := action.Run(ctx, x, c, func() {})
	if err != nil {
		return err
	}
	s.outcome = res.ExitCode
	return nil
}

// containedTask returns the task that a name of a dish, or of a task, means.
func containedTask(w *opened, name string) (*plan.Task, error) {
	dishName, taskName, _ := strings.Cut(name, ":")
	p, _ := wholePlan(w)
	var names []string
	for _, d := range w.Dishes {
		names = append(names, d.Name)
		if d.Name != dishName && d.Path != strings.TrimSuffix(dishName, string(os.PathSeparator)) {
			continue
		}
		for _, t := range p.TasksOf(d) {
			if t.Container != nil && cmp.Or(taskName, t.Name) == t.Name {
				return t, nil
			}
		}
		return nil, notFound("no_container", fmt.Sprintf("%s has no container", name), "write container = \"IMAGE\" into its dish.toml")
	}
	return nil, notFound("unknown_dish", fmt.Sprintf("%q is no dish", dishName), diagnostics.Suggest(dishName, names))
}

// wholeDish returns the reach of a command that may change all files of the dish of t.
func wholeDish(root string, t *plan.Task) (*record.Reach, error) {
	all := []string{"**"}
	set, err := tree.CompileSet(t.Dish.Path, all)
	if err != nil {
		return nil, err
	}
	return &record.Reach{Usable: key.Usable{Change: all, Areas: []string{t.Dish.Path}}, Root: root, Changes: set, Elsewhere: new(tree.Set)}, nil
}
