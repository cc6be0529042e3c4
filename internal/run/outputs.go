package run

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/tree"
)

func outputPaths(outputs []cache.Output) []string {
	paths := make([]string, len(outputs))
	for i, o := range outputs {
		paths[i] = o.Path
	}
	return paths
}

// madePaths gives what is there now of the outputs of the task, by path. missing
// is a plain path of dish.toml that is not.
func (x *execution) madePaths() (paths []string, missing string, err error) {
	t := x.ev.Task
	if len(t.Outputs) == 0 {
		return nil, "", nil
	}
	globs := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		globs[i] = o.Glob
	}
	set, err := tree.CompileSet(t.Dish.Path, globs)
	if err != nil {
		return nil, "", err
	}
	entries, err := tree.Expand(x.env.Root, set)
	if err != nil {
		return nil, "", err
	}
	for _, i := range set.Unmatched(entries) {
		if !t.Outputs[i].Declared {
			continue // the patterns of recipes may match nothing
		}
		if _, plain := set.Plain(i); plain {
			return nil, globs[i], nil
		}
		x.env.warn("output_empty", t.ID()+": the output \""+globs[i]+"\" matched nothing", "")
	}
	paths = make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.Path
	}
	return paths, "", nil
}

// inputChanged names an input that is not any more what the key says, "" when all
// are: of the task itself, or of the dishes that it is linked to.
func (x *execution) inputChanged() string {
	for i, entry := range x.ev.Entries {
		if now, same := x.still(entry); !same && !x.equal(now, x.ev.Inputs[i]) {
			return entry.Path
		}
	}
	for _, entry := range x.linked {
		now, same := x.still(entry)
		if same {
			continue
		}
		// Only the stat differs for now: the content decides, when it was known.
		before, err := x.tree.Index().Sum(entry)
		after, nerr := x.tree.Index().Sum(now)
		if err != nil || nerr != nil || before != after {
			return entry.Path
		}
	}
	return ""
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

// storeIngredients stores what the key was made of, so that `why` can show it.
func (x *execution) storeIngredients() (cache.Digest, error) {
	var err error
	add := func(blob []byte) cache.Digest {
		d := cache.Sum(blob)
		if err == nil {
			err = x.env.Store.Add(d, strings.NewReader(string(blob)))
		}
		return d
	}
	x.ev.EachBlob(func(blob []byte) { add(blob) })
	return add(fingerprint.EncodeIngredients(x.ev.Ingredients)), err
}

// restore brings the outputs of a hit into place.
func (e *engine) restore(ctx context.Context, ev *evaluate.Result) (apply func()) {
	t := ev.Task
	want := ev.Record.Outputs
	_, err := cache.Restore(e.env.Store, e.env.Root, want, cache.RestoreOptions{
		Stale:    stale(e.Memory().Of(t).Outputs, want),
		Current:  e.Current,
		Restored: e.Note,
		StageDir: e.env.State.Path("tmp"),
	})
	return func() {
		if err != nil {
			e.env.warn("restore_failed", "the cached result of "+t.ID()+" cannot be used, so it runs: "+err.Error(), "")
			e.executeInstalled(ctx, ev)
			return
		}
		e.UpToDate(t, want)
		last := e.Memory().Of(t)
		e.Memory().Keep(t, &evaluate.Remembered{
			Key: ev.Key, Duration: max(last.Duration, ev.Record.Duration),
			Outputs: outputPaths(want), ByProducts: last.ByProducts,
		})
		e.end(&Result{Task: t, Outcome: CacheHit, Key: ev.Key, record: ev.Record})
	}
}

// stale lists what is in had and not in want.
func stale(had []string, want []cache.Output) []string {
	if len(had) == 0 {
		return nil
	}
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
		for dir := path.Dir(o.Path); dir != "." && !keep[dir]; dir = path.Dir(dir) {
			keep[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(had), func(p string) bool { return keep[p] })
}
