// Package confine executes commands in the sandbox of tasks: they can use only what their tasks declare.
//
// Landlock (landlock(7)) keeps a command from all files of the workspace but those that it may read, without cost while it
// runs. It cannot tell a file that the command is about to make from others in the same directory. So a command that
// makes files has all rights in the directories where it makes them, and an observer compares there what it changes; if
// such a directory also has files that the command may not read, the observer compares what it reads, too.
package confine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/sandbox"
)

// Executor executes one command.
type Executor struct {
	Observer action.Executor // enforces action.Limits
	Self     string          // path of a program that calls sandbox.EnterRules, as bento does
	Reach    *record.Reach
	Network  bool
	// Observe makes the observer see all that the command uses.
	Observe bool
}

// Start implements action.Executor. The command has a temporary directory of its own, as $TMPDIR.
func (x *Executor) Start(ctx context.Context, c *action.Command) (action.Execution, error) {
	temp, err := os.MkdirTemp(tempDir(c.Env), "bento-task-")
	if err != nil {
		return action.Execution{}, fmt.Errorf("the sandbox needs a temporary directory: %w", err)
	}
	execution, err := x.start(ctx, c, temp)
	if err != nil {
		removeAll(temp)
		return execution, err
	}
	wait := execution.Wait
	execution.Wait = func() (proc.Result, error) {
		defer removeAll(temp)
		return wait()
	}
	return execution, nil
}

func (x *Executor) start(ctx context.Context, c *action.Command, temp string) (action.Execution, error) {
	v, err := survey(x.Reach)
	if err != nil {
		return action.Execution{}, err
	}
	rules := sandbox.Rules{
		Root: x.Reach.Root, Network: x.Network, Read: x.absolute(v.read), Full: x.absolute(v.full),
		Write: append(cacheDirs(c.Env), temp, "/dev", "/proc"),
	}
	if rel, err := filepath.Rel(rules.Root, temp); err == nil && filepath.IsLocal(rel) {
		rules.Full = append(rules.Full, temp)
	}
	confined := *c
	confined.Env = withTemp(c.Env, temp)
	spec, started, err := rules.Confine(confined.Spec, c.Shell, x.Self)
	if err != nil {
		return action.Execution{}, fmt.Errorf("the sandbox is not available: %w", err)
	}
	defer started()
	confined.Spec, confined.Shell = spec, nil
	if !x.Observe && len(x.Reach.Areas) == 0 {
		return action.Local{}.Start(ctx, &confined)
	}
	l := newLimits(x.Reach, x.Self, temp)
	confined.Limits = &action.Limits{Allows: l.allows, OnlyChanges: !x.Observe && !v.hides}
	confined.Used = func(u *action.Used) {
		u.Denied = append(u.Denied, l.remove()...)
		if c.Used != nil {
			c.Used(u)
		}
	}
	execution, err := x.Observer.Start(ctx, &confined)
	if err != nil {
		return execution, err
	}
	wait := execution.Wait
	execution.Wait = func() (proc.Result, error) {
		res, err := wait()
		if err == nil && res.ExitCode == 0 && l.left > 0 {
			err = &action.StrayError{Files: l.left}
		}
		return res, err
	}
	return execution, nil
}

func (x *Executor) absolute(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = filepath.Join(x.Reach.Root, filepath.FromSlash(p))
	}
	return list
}

// tempNames are the variables with the directory for temporary files.
var tempNames = []string{"TMPDIR", "TMP", "TEMP"}

// tempDir returns the directory for temporary files of an environment.
func tempDir(env []string) string {
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, tempNames[0]+"="); ok && filepath.IsAbs(dir) {
			return dir
		}
	}
	return os.TempDir()
}

func withTemp(env []string, temp string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(tempNames, name)
	})
	return append(env, tempNames[0]+"="+temp)
}

// removeAll removes the temporary directory of a command, also directories that nobody may write.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
