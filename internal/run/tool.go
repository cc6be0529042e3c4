package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/bentobuild/bento/adapters"
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

// attemptTool calls the tool of the task once, in place of a command.
func (x *execution) attemptTool(ctx context.Context, _ *action.Log, stdout, stderr io.Writer) {
	t := x.ev.Task
	out, discard, err := "", func(bool) {}, error(nil)
	if usesOut(t) {
		out, discard, err = x.outDir()
	}
	if err != nil {
		x.fail(ReasonMachine, "no directory for the outputs of the tool: "+err.Error())
		x.result.ExitCode = -1
		return
	}
	defer discard(t.Tool.Within)
	calling, cancel := ctx, func() {}
	if t.Timeout > 0 {
		calling, cancel = context.WithTimeout(ctx, time.Duration(t.Timeout))
	}
	defer cancel()
	err = action.CallTool(calling, t, action.ToolCall{Root: x.env.Root, Inputs: x.inputFiles(), Out: out, Stdout: stdout, Stderr: stderr})
	if x.answered(ctx, calling, err) && out != "" {
		x.takeOut(out)
	}
	if x.result.Outcome == Built && t.Tool.Changed() {
		if x.kept.Unsure == "" {
			x.kept.Unsure, x.kept.Hint = "the tool "+t.Tool.ID+" was changed while the task ran", "run it again, once nothing changes the tool"
		}
	}
}

// answered sets the result from the end of the call, and reports whether the tool succeeded.
func (x *execution) answered(ctx, calling context.Context, err error) bool {
	r := x.result
	var said *adapters.ToolError
	r.ExitCode, r.Signal, r.Failure = -1, "", nil
	switch {
	case ctx.Err() != nil:
		r.Outcome, r.Reason, r.Message = Skipped, ReasonInterrupted, "ended by the interrupt"
	case err != nil && calling.Err() != nil:
		x.fail(reasonTimeout, fmt.Sprintf("timed out after %v", time.Duration(x.ev.Task.Timeout)))
	case errors.As(err, &said):
		x.fail("tool_error", said.Error())
		r.ExitCode = 1
	case errors.As(err, &r.Failure):
		x.fail(string(r.Failure.Code), r.Failure.Error())
	case err != nil:
		x.fail("launch_failed", err.Error())
	default:
		r.Outcome, r.Reason, r.Message, r.ExitCode = Built, "", "", 0
		return true
	}
	return false
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
func (x *execution) takeOut(out string) {
	made, err := x.listOut(out)
	if err == nil {
		defer made.Close()
		if err = x.kept.Clear(); err == nil {
			err = x.restorer.Place(made, x.ev.Task.Dish.Path, outputs.Options{Stop: x.kept.Tree.Stop()})
		}
	}
	var refused *cache.RefusedError
	switch {
	case err == nil:
		return
	case errors.As(err, &refused):
		x.fail("output_refused", err.Error())
	default:
		x.unreadable(err)
	}
	x.result.ExitCode = -1
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
		case !x.kept.IsOutput(path.Join(x.ev.Task.Dish.Path, p)):
			return cache.Refuse(p, "the tool has made it, and no output of the task matches it")
		}
		return nil
	})
}
