package action

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

// foreignShell is the shell of a place with programs of its own.
const foreignShell = "/bin/sh"

// foreign sets the words and the environment of a command that runs where the programs of this machine are not.
func (c *Commands) foreign(t *plan.Task, files map[string]string, cmd *Command) (*Command, error) {
	cmd.Foreign = true
	if t.Persistent {
		cmd.Ready = t.Ready
	}
	env := c.passed(t).With(c.colors(t, files)).With(files).With(t.SetEnv)
	env = env.With(map[string]string{"PWD": dir(t), state.Inside: c.Chain.With(c.Root, t.ID())})
	if len(t.Path) > 0 {
		before := make([]string, len(t.Path))
		for i, p := range t.Path {
			before[i] = filepath.Join(t.Dish.Dir, filepath.FromSlash(p))
		}
		env = env.With(map[string]string{"PATH": strings.Join(before, ":") + ":" + t.SetEnv["PATH"]})
	}
	cmd.Env, cmd.Keyed = env, func() adapters.Environ { return c.passed(t).Select(t.HashEnv...).With(files).With(t.SetEnv) }
	switch {
	case len(t.Argv) > 0:
		cmd.Argv = append(slices.Clone(t.Argv), t.Args...)
		if strings.Contains(cmd.Argv[0], "/") && !filepath.IsAbs(cmd.Argv[0]) {
			cmd.Argv[0] = "./" + strings.TrimPrefix(cmd.Argv[0], "./")
		}
	case len(t.Args) == 0:
		cmd.Argv = []string{foreignShell, "-c", t.Run}
	default:
		run, err := withArguments(t.Run)
		if err != nil {
			return nil, err
		}
		cmd.Argv = append([]string{foreignShell, "-c", run, "sh"}, t.Args...)
	}
	cmd.Words = slices.Clone(cmd.Argv)
	return cmd, nil
}

// passed returns the variables that a task in a container passes. A path of this machine outside of the workspace means nothing
// there, so it is passed only if the container names the variable.
func (c *Commands) passed(t *plan.Task) adapters.Environ {
	names := slices.Concat(t.PassEnv, t.HashEnv)
	if c.Color != ColorNever {
		names = append(names, colorNames...)
	}
	matches := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			prefix, like := strings.CutSuffix(p, "*")
			return name == p || like && strings.HasPrefix(name, prefix)
		})
	}
	var env adapters.Environ
	for _, kv := range c.Environ {
		name, value, _ := strings.Cut(kv, "=")
		elsewhere := filepath.IsAbs(value) && value != c.Root && !strings.HasPrefix(value, c.Root+"/")
		if matches(names, name) && (!elsewhere || matches(t.Container.Env, name)) {
			env = append(env, kv)
		}
	}
	return env
}
