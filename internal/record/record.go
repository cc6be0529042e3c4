// Package record stores the results of tasks: it finds the outputs of an execution, checks that its
// inputs have not changed, and stores results in batches. It also decides which files a restore may
// remove. Before a run changes the workspace, it writes the change to a journal. If the run is killed, the
// next run cleans up by the journal.
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

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Recorder stores results of a run. It is safe for concurrent use.
type Recorder struct {
	Root    string // of the workspace
	Store   cache.Store
	Tree    *tree.Tree
	Plan    *plan.Plan
	Environ adapters.Environ    // the environment that bento was started with
	History func() *key.History // of the tasks
	Journal *journal
	Warn    func(code, message, hint string)

	Moves *Moves // watches directories while tasks run; nil: they are not watched

	reader    outputs.Reader
	listings  listings
	upstreams upstreams
	retimed   retimed
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
	// Hint is the advice for Unsure, "" for the usual one, to run all that the task needs.
	Hint string
	// LeftByOthers are the by-products of the tasks of the dish that do not run before this one, by
	// path: unchanged, they are no inputs.
	LeftByOthers map[string][32]byte
	// Upstream are the direct and indirect dependencies that have outputs.
	Upstream []*Upstream
	// Linked are the dishes whose sources are in the key.
	Linked []*dish.Dish

	// Later keeps the outputs of the last good run until Clear, which the caller calls before it
	// writes the first new output.
	Later bool

	// Files are behind the keys of the run.
	Files key.Files
	// Used is what the command used; nil if it was not observed.
	Used *action.Used
	// Discovered are the discovered inputs; Complete says that no more than these were used.
	Discovered []key.Discovered
	Complete   bool
	// Unseen is the reason why an execution of a task with observed inputs was not observed as a whole, "" for none.
	Unseen string
	// Reads are the places of tasks whose outputs were read, see key.LastRun.
	Reads []string

	Outputs []cache.Output // of the task
	Changed string         // an input that was touched during the execution; set by Storable
	Verdict

	set      *tree.Set // the outputs
	area     *key.OutputArea
	found    map[string]bool // the observed outputs
	tops     map[string]bool // the outermost ignored directories around them
	blind    bool            // they could not be observed whole: any ignored file may be one
	rewrites *tree.Set       // the paths that the task declares to write; nil before they are needed
	before   snapshot
	written  func()        // the result of Writing
	record   *cache.Record // of the result, nil if it is not stored
}

// MissingError says that a task did not make an output that it names without a wildcard.
type MissingError struct{ Glob string }

func (e *MissingError) Error() string { return fmt.Sprintf("it did not make its output %q", e.Glob) }

// Collect stores the outputs of the command, but not the record. took is the duration of the command.
// An error of the store does not fail the task. The returned error is a *MissingError, a
// *cache.RefusedError for a file that cannot be an output, or the error of an unreadable file.
func (x *Execution) Collect(log *action.Log, took time.Duration) error {
	files, err := x.access()
	if err == nil {
		err = x.findOutputs()
	}
	if err == nil {
		err = x.judge(files)
	}
	if err != nil {
		return err
	}
	store := x.storeFor()
	if err = x.capture(store, log, took); err == nil || store == nil {
		return err
	}
	var refused *cache.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	x.warnStore(err)
	x.record = nil
	x.Outputs, err = x.reader.Capture(x.Tree.Stop(), nil, x.Root, x.made)
	return err
}

// storeFor returns the store for the result, nil for none. It warns if the user does not expect that
// the result is not stored.
func (x *Execution) storeFor() cache.Store {
	if !cache.Keeps(x.Store) || x.Ev.Task.Uncached != "" || x.Tree.Unsure() {
		return nil
	}
	if len(x.Undeclared)+len(x.UpToDate) > 0 {
		return nil // the caller reports it
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

// globOf returns the glob for a path of the workspace in the dish.toml of the task.
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

// storeHint returns the hint for an error of the store.
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
func (x *Execution) capture(store cache.Store, log *action.Log, took time.Duration) (err error) {
	r := &cache.Record{Created: time.Now(), Duration: took, Host: hostName()}
	if store != nil {
		store = r.With(store)
	}
	if x.Outputs, err = x.reader.Capture(x.Tree.Stop(), store, x.Root, x.made); err != nil || store == nil {
		return err
	}
	r.Outputs = x.Outputs
	if r.Log, r.LogSize, err = log.Store(store); err != nil {
		return err
	}
	x.record = r
	return nil
}

// Storable reports whether the result may be stored. The caller has refreshed the dish of the task.
func (x *Execution) Storable() bool {
	if x.record == nil {
		return false
	}
	d := x.inputChanged()
	if p := x.Files.DiscoveredChanged(x.Ev, x.discovered); p != "" {
		d = cmp.Or(d, difference{path: p})
	}
	if p := x.Files.HostChanged(x.Ev); p != "" {
		d = cmp.Or(d, difference{path: p})
	}
	if x.Changed = d.path; d.path != "" {
		x.warnChanged(d)
	}
	return d.path == ""
}

// Own returns the outputs that bento may remove: all but tracked files.
func (x *Execution) Own() []string {
	return slices.DeleteFunc(Paths(x.Outputs), func(p string) bool {
		_, tracked := slices.BinarySearch(x.tracked, p)
		return tracked
	})
}

// Declared returns the outputs of the task, nil for none. Prepare must have been called.
func (x *Execution) Declared() *tree.Set { return x.set }

// KeyHolds reports whether the key of the execution is also the key of the result. It is not if the task left files
// among its outputs unchanged, or strays, that the last run did not find: such files are inputs that the key does not
// include yet. Nor does it if other inputs were discovered, or if the task has observed inputs and was not observed.
func (x *Execution) KeyHolds() bool {
	return slices.Equal(x.AllFound(), x.Last.Found) && x.Ev.FindsInputs == x.Files.FindsInputs(x.Ev.Task) && slices.Equal(x.Discovered, x.Ev.Discovered)
}

// hostName returns the name of the host, "" if the system has none.
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
