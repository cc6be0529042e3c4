// Package record keeps what tasks make: it tells which files are the outputs of an
// execution, makes sure that the inputs were until its end what the key says, and
// stores the result.
package record

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/journal"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/tasklog"
	"github.com/bentobuild/bento/internal/tree"
)

// Recorder stores results of a run. It is safe for concurrent use.
type Recorder struct {
	Root    string // of the workspace
	Store   cache.Store
	Tree    *tree.Tree
	Journal *journal.Journal
	Warn    func(code, message, hint string)
}

// Execution is one execution of a task. Prepare comes before the command, Collect
// behind it.
type Execution struct {
	*Recorder
	Ev     *evaluate.Result
	Last   *lastrun.Run
	Others func(path string) bool // what other tasks of the dish have made
	Before func(path string) bool // what those have made that the task depends on
	Unsure string                 // why the result is not to be trusted, "" when it is

	Outputs []cache.Output // what the task has made
	Found   []string       // what lay where they go, and was left as it was
	Changed string         // an input that was touched meanwhile, known once Storable was asked

	set      *tree.Set             // the outputs
	rewrites *tree.Set             // what the task declares to write; nil until asked for
	tracked  []string              // what git tracks and the command wrote in the place of outputs, sorted
	before   map[string]tree.Entry // what lay there before
	record   *cache.Record         // of the result, nil when it is not to be stored
}

// MissingError says that a task did not make an output that it names without a wildcard.
type MissingError struct{ Glob string }

func (e *MissingError) Error() string { return fmt.Sprintf("it did not make its output %q", e.Glob) }

// Collect notes what the command has made, which took some time, and stores it, all
// but the record itself. A store that fails does not fail the task. The error is a
// *MissingError, a *cache.RefusedError for what cannot be an output, or says what
// could not be read.
func (x *Execution) Collect(log *tasklog.Log, took time.Duration) error {
	paths, err := x.lookAfter()
	if err != nil {
		return err
	}
	store := x.storeFor()
	if err = x.capture(store, log, paths, took); err == nil || store == nil {
		return err
	}
	var refused *cache.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	x.warnStore(err)
	x.record = nil
	x.Outputs, err = outputs.CaptureUntil(x.Tree.Stop(), nil, x.Root, paths)
	return err
}

// storeFor gives where the result is to be stored, nil for nowhere, and says why
// where that is not as the user meant it.
func (x *Execution) storeFor() cache.Store {
	if _, none := x.Store.(cache.Nothing); none || x.Ev.Task.Uncached != "" || x.Tree.Unsure() {
		return nil
	}
	if x.Unsure != "" {
		hint := "run it with all that it needs: without --only and --skip-install"
		if x.Ev.InTheWay != "" {
			hint = "remove what is in the way, or move it, and run again"
		}
		x.notStored("not_stored", x.Unsure, hint)
		return nil
	}
	if !x.Ev.Known {
		return nil
	}
	return x.Store
}

func (x *Execution) sayChanged(d difference) {
	switch {
	case len(x.tracked) > 0 && x.tracked[0] == d.path:
		x.notStored("input_changed", fmt.Sprintf("it wrote %q, an output that git tracks", d.path),
			"let git track it no longer, with git rm --cached and a line in .gitignore; until then the task is executed each time that it changes it")
	case d.equal:
		x.notStored("input_touched", fmt.Sprintf("%q was written, replaced or moved while the task ran; it is what it was before, but the task may have read something else", d.path),
			fmt.Sprintf("if the task itself does that, declare the path: rewrites = [%q] in [tasks.%s]", x.globOf(d.path), x.Ev.Task.Name))
	default:
		x.notStored("input_changed", fmt.Sprintf("%q changed while the task ran", d.path),
			"if the task itself writes it, declare it as an output or take it out of the inputs")
	}
}

// globOf returns the glob that means a path of the workspace in the dish.toml of the task.
func (x *Execution) globOf(p string) string {
	dish := x.Ev.Task.Dish.Path
	if rel, ok := strings.CutPrefix(p, dish+"/"); ok {
		return rel
	}
	if dish == "." {
		return p
	}
	return "//" + p
}

func (x *Execution) notStored(code, why, hint string) {
	x.Warn(code, x.Ev.Task.ID()+": "+why+"; its result is used but not stored", hint)
}

func (x *Execution) warnStore(err error) {
	x.Warn("cache_unwritable", "results cannot be stored: "+err.Error(), "free space, or name another directory with $BENTO_CACHE_DIR; the build goes on")
}

// capture reads the outputs and the log into the store, if there is one, and makes
// the record.
func (x *Execution) capture(store cache.Store, log *tasklog.Log, paths []string, took time.Duration) (err error) {
	r := &cache.Record{Created: time.Now(), Duration: took, Host: hostName()}
	if store != nil {
		store = r.With(store)
	}
	if x.Outputs, err = outputs.CaptureUntil(x.Tree.Stop(), store, x.Root, paths); err != nil || store == nil {
		return err
	}
	r.Outputs = x.Outputs
	if r.Log, r.LogSize, err = log.Store(store); err != nil {
		return err
	}
	x.record = r
	return nil
}

// Storable tells whether the result is to be stored, now that the dish of the task
// was looked at again.
func (x *Execution) Storable() bool {
	if x.record == nil {
		return false
	}
	d := x.inputChanged()
	if x.Changed = d.path; d.path != "" {
		x.sayChanged(d)
	}
	return d.path == ""
}

// Own gives what the command made and bento may remove: not what git tracks.
func (x *Execution) Own() []string {
	return slices.DeleteFunc(Paths(x.Outputs), func(p string) bool {
		_, tracked := slices.BinarySearch(x.tracked, p)
		return tracked
	})
}

// Settled tells whether the key of the execution is that of the result. It is not
// when the task has left alone what lay among its outputs: that is an input, which
// the key does not know yet.
func (x *Execution) Settled() bool { return slices.Equal(x.Found, x.Last.Found) }

// hostName is "" where the system has none.
var hostName = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// OutputSet compiles the outputs of a task.
func OutputSet(t *plan.Task) (*tree.Set, error) {
	return tree.CompileSet(t.Dish.Path, outputGlobs(t))
}

func outputGlobs(t *plan.Task) []string {
	globs := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		globs[i] = o.Glob
	}
	return globs
}

// Paths gives the paths of outputs.
func Paths(outputs []cache.Output) []string {
	paths := make([]string, len(outputs))
	for i := range outputs {
		paths[i] = outputs[i].Path
	}
	return paths
}
