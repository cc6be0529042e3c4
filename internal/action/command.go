// Package action runs the process of one task: its command line, working directory and environment,
// its readiness if it is a server, its log, and the findings in its output.
package action

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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

// Spec returns the process of a task. The caller sets the destination of its output.
func (c *Commands) Spec(t *plan.Task) (proc.Spec, error) {
	files, err := c.envFiles(t)
	if err != nil {
		return proc.Spec{}, err
	}
	env := c.environ(t, files)
	spec := proc.Spec{Dir: dir(t), Env: env, Timeout: time.Duration(t.Timeout), Grace: time.Duration(t.Grace)}
	if len(t.Argv) == 0 {
		err = c.line(t, &spec)
		return spec, err
	}
	spec.Argv = append(slices.Clone(t.Argv), t.Args...)
	if !filepath.IsAbs(spec.Argv[0]) {
		spec.Argv[0], err = program(env, t, spec.Argv[0])
	}
	return spec, err
}

// line fills in the words of a task whose command is a line for a shell.
func (c *Commands) line(t *plan.Task, spec *proc.Spec) (err error) {
	if program, words, ok := c.direct(spec.Env, t.Run); ok {
		spec.Program, spec.Argv = program, append(words, t.Args...)
		return nil
	}
	return c.inShell(t, spec)
}

// inShell makes the shell run the line.
func (c *Commands) inShell(t *plan.Task, spec *proc.Spec) (err error) {
	sh, err := c.shell(spec.Env)
	if err != nil {
		return err
	}
	spec.Program, spec.Argv = "", []string{sh, "-c", t.Run}
	if len(t.Args) > 0 {
		run, err := withArguments(t.Run)
		if err != nil {
			return err
		}
		spec.Argv = append([]string{sh, "-c", run, "sh"}, t.Args...)
	}
	return nil
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

// Launch calls run with spec. If the kernel cannot start the program, Launch calls run again with the
// shell, which can start more kinds of files or print a message that users know. The error is the
// reason why the command could not be started.
func (c *Commands) Launch(t *plan.Task, spec proc.Spec, run func(proc.Spec) error) error {
	err := run(spec)
	if err != nil && spec.Program != "" && c.inShell(t, &spec) == nil {
		err = run(spec)
	}
	if err == nil {
		return nil
	}
	if fi, serr := os.Stat(spec.Dir); serr != nil || !fi.IsDir() {
		return fmt.Errorf("there is no directory %q to run it in", spec.Dir)
	}
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	return fmt.Errorf("%q cannot be run: %w", spec.Argv[0], err)
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
