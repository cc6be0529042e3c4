package run

import (
	"bytes"
	"context"
	"path"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/tree"
)

func outputPaths(outputs []cache.Output) []string {
	paths := make([]string, len(outputs))
	for i, o := range outputs {
		paths[i] = o.Path
	}
	return paths
}

// outputSet compiles the outputs of a task.
func outputSet(t *plan.Task) (*tree.Set, error) {
	globs := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		globs[i] = o.Glob
	}
	return tree.CompileSet(t.Dish.Path, globs)
}

// lookBefore removes what the last good run has made, so that nothing of it can be
// taken for what this one makes, and notes what else lies where the outputs go.
func (x *execution) lookBefore() (err error) {
	t := x.ev.Task
	if x.set, err = outputSet(t); err != nil || len(t.Outputs) == 0 {
		return err
	}
	if t.Incremental {
		return nil
	}
	for _, p := range slices.Backward(x.last.Outputs) {
		// What is no output any more, or has become a source, is not ours to remove.
		if x.set.Match(p) && !x.tree.Tracked(p) {
			// Directories stay unless they are empty by now; a file that cannot be
			// removed is the command's to replace.
			_ = outputs.Remove(x.env.Root, p)
		}
	}
	entries, err := tree.Expand(x.env.Root, x.set)
	x.before = make(map[string]tree.Entry, len(entries))
	for _, e := range entries {
		x.before[e.Path] = e
	}
	return err
}

// lookAfter sorts out what lies there now: paths that the command made, and found,
// which it left as it was. missing is a plain path of dish.toml that is not there.
func (x *execution) lookAfter() (paths, found []string, missing string, err error) {
	t := x.ev.Task
	if len(t.Outputs) == 0 {
		return nil, nil, "", nil
	}
	entries, err := tree.Expand(x.env.Root, x.set)
	if err != nil {
		return nil, nil, "", err
	}
	for _, i := range x.set.Unmatched(entries) {
		if !t.Outputs[i].Declared {
			continue // the patterns of recipes may match nothing
		}
		if _, plain := x.set.Plain(i); plain {
			return nil, nil, t.Outputs[i].Glob, nil
		}
		x.env.warn("output_empty", t.ID()+": the output \""+t.Outputs[i].Glob+"\" matched nothing", "")
	}
	for _, e := range entries {
		before, was := x.before[e.Path]
		switch {
		case x.tree.Tracked(e.Path):
			// A source, and so an input, whatever the pattern says.
		case !was || !before.Same(&e) && e.Kind != tree.Dir:
			paths = append(paths, e.Path)
		case e.Kind == tree.Dir || x.others[e.Path]:
			// An empty directory, another task's output: none of ours.
		default:
			found = append(found, e.Path)
		}
	}
	return paths, found, "", nil
}

// inputChanged names an input that is not any more what the key says, "" when all
// are: of the task itself, or of the dishes that it is linked to.
func (x *execution) inputChanged() string {
	for i, entry := range x.ev.Entries {
		if now, same := x.still(entry); !same && !x.equal(now, x.ev.Inputs[i]) {
			return entry.Path
		}
	}
	for _, list := range x.linked {
		for _, entry := range list {
			if now, same := x.still(entry); !same && !x.sameContent(entry, now) {
				return entry.Path
			}
		}
	}
	return ""
}

// sameContent compares two looks at a file whose stat has changed in between.
func (x *execution) sameContent(then, now tree.Entry) bool {
	before, err := x.tree.Index().Sum(then)
	after, nerr := x.tree.Index().Sum(now)
	return err == nil && nerr == nil && before == after
}

// still looks at an entry again; same says that not even its stat has changed.
func (x *execution) still(entry tree.Entry) (now tree.Entry, same bool) {
	now, err := tree.Stat(x.env.Root, entry.Path)
	return now, err == nil && now.Same(&entry)
}

// equal compares what is there now with what the key was made of.
func (x *execution) equal(now tree.Entry, then fingerprint.File) bool {
	switch {
	case now.Path == "":
		return false
	case then.Target != "":
		target, err := x.tree.Readlink(now)
		return err == nil && target == then.Target
	case now.Kind != tree.File || fingerprint.Executable(now.Mode) != then.Exec:
		return false
	}
	sum, err := x.tree.Index().Sum(now)
	return err == nil && cache.Digest(sum) == then.Sum
}

// maxRefs bounds how many blobs a record keeps alive for `why`; of a long chain of
// dishes the far end may go before.
const maxRefs = 64

// storeIngredients stores what the key was made of, so that `why` can show it.
func (x *execution) storeIngredients(ev *evaluate.Result) (ingredients cache.Digest, refs []cache.Digest, err error) {
	add := func(blob []byte) cache.Digest {
		d := cache.Sum(blob)
		if err == nil && !x.env.hasStored(d) {
			if err = x.env.Store.Add(d, bytes.NewReader(blob)); err == nil {
				x.env.noteStored(d)
			}
		}
		return d
	}
	ev.EachBlob(func(blob []byte) {
		if d := add(blob); len(refs) < maxRefs {
			refs = append(refs, d)
		}
	})
	ingredients = add(fingerprint.EncodeIngredients(ev.Ingredients))
	return ingredients, refs, err
}

// restore brings the outputs of a hit into place. It runs beside the engine.
func (e *engine) restore(ctx context.Context, ev *evaluate.Result, last *lastrun.Run) (apply func()) {
	t := ev.Task
	want := ev.Record.Outputs
	r := &Result{Task: t, Outcome: CacheHit, Key: ev.Key, record: ev.Record, Started: time.Now()}
	_, err := outputs.Restore(e.env.Store, e.env.Root, want, outputs.Options{
		Stale:    e.stalePaths(t, last.Outputs, want),
		Current:  e.Current,
		Restored: e.Note,
		StageDir: e.env.State.Path("tmp"),
	})
	r.Duration = time.Since(r.Started)
	return func() {
		if err != nil {
			e.env.warn("restore_failed", "the cached result of "+t.ID()+" cannot be used, so it runs: "+err.Error(), "")
			e.executeInstalled(ctx, ev)
			return
		}
		e.UpToDate(t, want)
		e.Memory().Keep(t, &lastrun.Run{
			Key: ev.Key, Duration: max(last.Duration, ev.Record.Duration),
			Outputs: outputPaths(want), ByProducts: last.ByProducts, Found: last.Found,
		})
		e.end(r)
	}
}

// stalePaths lists what of had is still an output of t, not a source, and not in
// want.
func (e *engine) stalePaths(t *plan.Task, had []string, want []cache.Output) []string {
	if len(had) == 0 {
		return nil
	}
	set, err := outputSet(t)
	if err != nil {
		return nil
	}
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
		for dir := path.Dir(o.Path); dir != "." && !keep[dir]; dir = path.Dir(dir) {
			keep[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(had), func(p string) bool { return keep[p] || !set.Match(p) || e.tree.Tracked(p) })
}
