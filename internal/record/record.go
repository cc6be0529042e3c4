// Package record stores the results of tasks: it finds the outputs of an execution, checks
// that its inputs have not changed, and stores results in batches. It also says what a restore
// may remove, and journals what a run is about to change in the workspace, so that the next
// run can clean up after one that was killed.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Recorder stores results of a run. It is safe for concurrent use.
type Recorder struct {
	Root    string // of the workspace
	Store   cache.Store
	Tree    *tree.Tree
	Dishes  []*discovery.Dish // of the workspace
	Journal *journal
	Warn    func(code, message, hint string)

	Moves *Moves // of directories while tasks run; nil: not watched

	reader    outputs.Reader
	listings  listings
	upstreams upstreams
}

// Execution is one execution of a task. The caller calls Prepare before the command, Collect
// after it.
type Execution struct {
	*Recorder
	Ev     *key.Evaluation
	Last   *key.LastRun
	Others func(path string) bool // reports whether another task of the dish has made a path
	Before func(path string) bool // reports whether a dependency of the task has made a path
	Unsure string                 // why the result is unreliable, "" if it is not
	// Hint is what the user can do about Unsure, where that is not to run all that the task needs.
	Hint string
	// LeftByOthers are the by-products of the tasks of the dish that do not run before this one, by
	// path: unchanged, they are no inputs.
	LeftByOthers map[string][32]byte
	// Upstream are the direct and indirect dependencies that have outputs.
	Upstream []*Upstream
	// Linked are the dishes whose sources are in the key.
	Linked []*discovery.Dish

	Outputs []cache.Output // of the task
	Found   []string       // files at the paths of outputs that the task did not change
	Changed string         // an input that was touched meanwhile; set by Storable
	// FreshStrays are the strays that the last good run did not have.
	FreshStrays []string
	// Elsewhere reports whether a path is an output of any task, or made by the tools of another
	// dish; nil for none.
	Elsewhere func(path string) bool
	// Later says that the outputs of the last good run stay until Clear, which the caller calls before
	// the first new one is written.
	Later bool
	// Astray are files that the command has left where git ignores them and no output covers
	// them, by path, also those of an earlier run. FreshAstray are new among them.
	Astray, FreshAstray []string
	// UpToDate are such files of a build that wrote nothing at all: an earlier build has made them,
	// with bento or without.
	UpToDate []string
	// Rewritten are the files beside the outputs of other tasks of its dish that the command has
	// written, by path. Beside are new ones of them.
	Rewritten []key.ByProduct
	Beside    []string

	set      *tree.Set             // the outputs
	rewrites *tree.Set             // the paths that the task declares to write; nil before they are needed
	tracked  []string              // tracked files at the paths of outputs that the command wrote, sorted
	before   map[string]tree.Entry // the files at the paths of outputs before the command
	ignored  []tree.Entry          // ignored files before the command, by path
	strays   []tree.Entry          // files beside the outputs of Upstream, which are inputs, by path
	shared   []*listing            // by Upstream: listings that are to be checked; nil for none
	near     map[string]bool       // strays in the dish of the task
	running  *movesSpan            // since before the command
	written  func()                // ends what Writing began
	movedDir difference            // a directory that was moved while it ran
	// strayChanged is the first stray that changed while the command ran.
	strayChanged difference
	record       *cache.Record // of the result, nil if it is not stored
}

// MissingError says that a task did not make an output that it names without a wildcard.
type MissingError struct{ Glob string }

func (e *MissingError) Error() string { return fmt.Sprintf("it did not make its output %q", e.Glob) }

// Collect stores the outputs of the command, which took some time, but not the record. An error of
// the store does not fail the task. The error is a *MissingError, a *cache.RefusedError for a file
// that cannot be an output, or that of an unreadable file.
func (x *Execution) Collect(log *action.Log, took time.Duration) error {
	x.noteMoves()
	x.checkStrays()
	paths, err := x.sortOutputs()
	if err != nil {
		return err
	}
	if err := x.findAstray(len(paths) > 0); err != nil {
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
	x.Outputs, err = x.reader.Capture(x.Tree.Stop(), nil, x.Root, paths)
	return err
}

// storeFor returns where the result is to be stored, nil for nowhere, and says why
// where that is not as the user meant it.
func (x *Execution) storeFor() cache.Store {
	if !cache.Keeps(x.Store) || x.Ev.Task.Uncached != "" || x.Tree.Unsure() {
		return nil
	}
	if len(x.Astray)+len(x.UpToDate) > 0 && x.Ev.Task.Astray() == plan.AstrayUnstored {
		return nil // the caller says so
	}
	if x.Unsure != "" {
		hint := cmp.Or(x.Hint, "run it with all that it needs: without --only and --skip-install")
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
	case d.path == ".":
		x.notStored("input_touched", "the workspace was moved while the task ran, and the task may have read something else", "do not move the workspace while tasks run, and run again")
	case d.equal:
		x.notStored("input_touched", fmt.Sprintf("%q was written, replaced, moved or given another mode while the task ran; it is what it was before, but the task may have read something else", d.path),
			fmt.Sprintf("if the task itself does that, also if it only sets the mode that the file has, declare the path: rewrites = [%q] in %s",
				x.globOf(d.path), x.Ev.Task.Table()))
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
	if errors.Is(err, context.Canceled) {
		return // the interrupt is reported elsewhere
	}
	x.Warn("cache_unwritable", "results cannot be stored: "+err.Error(), storeHint(err)+"; the build goes on")
}

// storeHint says what to do about an error of the store.
func storeHint(err error) string {
	const another = "name another directory with $BENTO_CACHE_DIR"
	var refused *cache.DirError
	switch {
	case errors.As(err, &refused):
		return refused.Hint
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space, or " + another
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return "something else lies in the place of an entry: bento cache fsck names it"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "make the directory writable, or " + another
	}
	return another
}

// capture reads the outputs and the log into the store, if there is one, and makes
// the record.
func (x *Execution) capture(store cache.Store, log *action.Log, paths []string, took time.Duration) (err error) {
	r := &cache.Record{Created: time.Now(), Duration: took, Host: hostName()}
	if store != nil {
		store = r.With(store)
	}
	if x.Outputs, err = x.reader.Capture(x.Tree.Stop(), store, x.Root, paths); err != nil || store == nil {
		return err
	}
	r.Outputs = x.Outputs
	if r.Log, r.LogSize, err = log.Store(store); err != nil {
		return err
	}
	x.record = r
	return nil
}

// Storable reports whether the result is to be stored, now that the dish of the task
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

// Own returns what the command made and bento may remove: not what git tracks.
func (x *Execution) Own() []string {
	return slices.DeleteFunc(Paths(x.Outputs), func(p string) bool {
		_, tracked := slices.BinarySearch(x.tracked, p)
		return tracked
	})
}

// IsOutput reports whether the outputs of the task cover a path. Prepare must have been called.
func (x *Execution) IsOutput(p string) bool { return x.set.Match(p) }

// KeyHolds reports whether the key of the execution is that of the result. It is not
// when the task has left alone what lay among its outputs, or when strays lay beside
// what it depends on: that is an input, which the key does not know yet.
func (x *Execution) KeyHolds() bool { return slices.Equal(x.AllFound(), x.Last.Found) }

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

// Paths returns the paths of outputs.
func Paths(outputs []cache.Output) []string {
	paths := make([]string, len(outputs))
	for i := range outputs {
		paths[i] = outputs[i].Path
	}
	return paths
}
