package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// The limits of the files that a tool leaves in its directory for outputs.
const (
	maxToolEntries = 100_000
	maxToolBytes   = 4 << 30
)

// usesOut reports whether a task's tool writes its outputs into a directory of bento.
func usesOut(t *plan.Task) bool {
	return t.Tool != nil && t.Tool.WantsOut()
}

// errNoDirectory is the error of a tool that is not called because its outputs would have no place.
var errNoDirectory = errors.New("no directory for the outputs of the tool")

// toolExecutor returns the Executor of a task with a tool.
func (x *execution) toolExecutor() *action.ToolExecutor {
	e := &action.ToolExecutor{Task: x.ev.Task, Root: x.env.Root, Inputs: x.inputFiles(), Place: x.takeOut}
	if usesOut(x.ev.Task) {
		e.Out = func() (path string, discard func(again bool), err error) {
			if path, discard, err = x.outDir(); err != nil {
				err = fmt.Errorf("%w: %w", errNoDirectory, err)
			}
			return path, discard, err
		}
	}
	return e
}

// inputFiles returns the paths of the task's input files.
func (x *execution) inputFiles() []string {
	var paths []string
	for _, e := range x.ev.Entries {
		if e.Kind != tree.Dir {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// takeOut moves the files that the tool has made to the outputs of the task. It checks all of them
// first, and the outputs of the last run stay until then.
func (x *execution) takeOut(out string) error {
	made, err := x.listOut(out)
	if err != nil {
		return err
	}
	defer made.Close()
	if err := x.kept.Clear(); err != nil {
		return err
	}
	return x.restorer.Place(made, x.ev.Task.Dish.Path, outputs.Options{Stop: x.kept.Tree.Stop()})
}

// listOut returns the files below out, if all of them may be outputs.
func (x *execution) listOut(out string) (*outputs.Made, error) {
	entries, size := 0, int64(0)
	return outputs.List(out, x.ev.Task.Tool.Within, func(p string, mode fs.FileMode, n int64) error {
		entries++
		switch size += n; {
		case entries > maxToolEntries:
			return cache.Refuse(p, "the tool has made more than %d files", maxToolEntries)
		case size > maxToolBytes:
			return cache.Refuse(p, "the tool has made more than %d bytes", int64(maxToolBytes))
		case mode.IsDir():
			return nil
		case !mode.IsRegular():
			return cache.Refuse(p, "the tool has made no regular file, but one of mode %v", mode.Type())
		case !x.kept.Declared().Match(path.Join(x.ev.Task.Dish.Path, p)):
			return cache.Refuse(p, "the tool has made it, and no output of the task matches it")
		}
		return nil
	})
}
