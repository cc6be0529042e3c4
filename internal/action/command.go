// Package action makes the command of one task, as a value, and executes it: its command line, working
// directory and environment, its readiness if it is a server, its log, and the findings in its output.
package action

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/state"
)

// Commands makes the processes of the tasks of a workspace. It is safe for concurrent
// use.
type Commands struct {
	Root    string           // of the workspace
	Environ adapters.Environ // the environment that bento was started with
	Inherit bool             // tasks see all of Environ
	Chain   state.Chain      // the work that has started this bento
	Color   Color

	shells sync.Map // by PATH: the path of sh
	bases  sync.Map // by passed names: the strict environment
	found  sync.Map // programs that PATH has
}

// shell returns the path of the shell, which does not change during a run.
func (c *Commands) shell(env adapters.Environ) (string, error) {
	path := env.Get("PATH")
	if sh, known := c.shells.Load(path); known {
		return sh.(string), nil
	}
	sh, err := env.LookPath("sh")
	if err != nil {
		return "", fmt.Errorf("no shell: %w", err)
	}
	c.shells.Store(path, sh)
	return sh, nil
}

// base returns the part of the environment of bento that a task sees.
func (c *Commands) base(pass []string) adapters.Environ {
	if c.Inherit {
		return c.Environ
	}
	id := strings.Join(pass, "\x00")
	if env, known := c.bases.Load(id); known {
		return env.(adapters.Environ)
	}
	if c.Color != ColorNever {
		pass = slices.Concat(pass, colorNames)
	}
	env := c.Environ.Strict(pass...)
	c.bases.Store(id, env)
	return env
}

// dir returns the directory that a task runs in.
func dir(t *plan.Task) string { return filepath.Join(t.Dish.Dir, filepath.FromSlash(t.Cwd)) }

// Command returns the command of a task. The caller sets its inputs and outputs, and the destination of what
// it prints. The command of a task with a tool has no Argv.
func (c *Commands) Command(t *plan.Task) (*Command, error) {
	cmd := &Command{Spec: proc.Spec{Dir: dir(t), Timeout: time.Duration(t.Timeout), Grace: time.Duration(t.Grace)}}
	if t.Tool != nil {
		return cmd, nil
	}
	files, err := c.envFiles(t)
	if err != nil {
		return nil, err
	}
	if t.Container != nil {
		return c.foreign(t, files, cmd)
	}
	env := c.environ(t, files)
	cmd.Env, cmd.Keyed = env, func() adapters.Environ { return c.keyed(t, files) }
	if t.Persistent {
		cmd.Ready = t.Ready
	}
	if len(t.Argv) == 0 {
		return cmd, c.line(t, env, cmd)
	}
	cmd.Argv = append(slices.Clone(t.Argv), t.Args...)
	cmd.Words = slices.Clone(cmd.Argv)
	if !filepath.IsAbs(cmd.Argv[0]) {
		cmd.Argv[0], err = program(env, t, cmd.Argv[0])
	}
	return cmd, err
}

// line sets the words of a task whose command is a line for a shell.
func (c *Commands) line(t *plan.Task, env adapters.Environ, cmd *Command) error {
	shell, err := c.inShell(t, env)
	if err == nil {
		cmd.Words = append([]string{"sh"}, shell[1:]...)
	}
	if program, words, ok := c.direct(env, t.Run); ok {
		cmd.Program, cmd.Argv, cmd.Shell = program, append(words, t.Args...), shell
		return nil
	}
	cmd.Argv = shell
	return err
}

// inShell returns the words with which the shell runs the line of t.
func (c *Commands) inShell(t *plan.Task, env adapters.Environ) ([]string, error) {
	sh, err := c.shell(env)
	if err != nil {
		return nil, err
	}
	if len(t.Args) == 0 {
		return []string{sh, "-c", t.Run}, nil
	}
	run, err := withArguments(t.Run)
	if err != nil {
		return nil, err
	}
	return append([]string{sh, "-c", run, "sh"}, t.Args...), nil
}

// program finds the executable of an argv: a path relative to the task's
// directory, or a name on PATH.
func program(env adapters.Environ, t *plan.Task, name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return filepath.Join(dir(t), name), nil
	}
	return env.LookPath(name)
}

// environ returns the environment of a task: the strict base, the variables that its adapter and its
// dish.toml pass on, and the variables that they set.
func (c *Commands) environ(t *plan.Task, files map[string]string) adapters.Environ {
	env := c.base(slices.Concat(t.PassEnv, t.HashEnv))
	dirs := make([]string, len(t.Path))
	for i, p := range t.Path {
		if dirs[i] = p; !filepath.IsAbs(p) {
			dirs[i] = filepath.Join(t.Dish.Dir, filepath.FromSlash(p))
		}
	}
	return env.With(c.colors(t, files)).With(files).With(t.SetEnv).WithPath(dirs...).With(map[string]string{"PWD": dir(t), state.Inside: c.Chain.With(c.Root, t.ID())})
}

// keyed returns the variables that t sets or that are in its key.
func (c *Commands) keyed(t *plan.Task, files map[string]string) adapters.Environ {
	return c.Environ.Select(t.HashEnv...).With(files).With(t.SetEnv)
}

// maxEnvFile is the largest size of a .env file in bytes.
const maxEnvFile = 1 << 20

// envFiles returns the variables of the .env files of a task. Later files override earlier ones.
func (c *Commands) envFiles(t *plan.Task) (map[string]string, error) {
	var all map[string]string
	for _, file := range t.EnvFiles {
		set, err := c.readEnvFile(filepath.Join(t.Dish.Dir, filepath.FromSlash(file.Path)))
		if file.Optional && errors.Is(err, fs.ErrNotExist) && !errors.As(err, new(*clone.StrayError)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make(map[string]string)
		}
		maps.Copy(all, set)
	}
	return all, nil
}

// readEnvFile reads a .env file in the workspace, to which a link may lead.
func (c *Commands) readEnvFile(name string) (map[string]string, error) {
	data, err := clone.At(c.Root).Read(name, maxEnvFile)
	if errors.As(err, new(*clone.IrregularError)) || errors.As(err, new(*clone.TooLargeError)) {
		return nil, fmt.Errorf("%q of env_files is no file of at most %d KiB", name, maxEnvFile>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("the file of env_files cannot be read: %w", err)
	}
	set, err := parseDotenv(data)
	if err != nil {
		return nil, fmt.Errorf("%q of env_files: %w", name, err)
	}
	return set, nil
}
