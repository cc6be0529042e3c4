package key

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// Tools such as cargo, Maven, tsc and make compare times. They do not notice new content with a time before their
// last run (tar, rsync -t, cp -p, mv), and would return the result of the old content.

// editing is the longest time that an editor takes from writing a file to renaming it.
const editing = int64(2 * time.Second)

// Aged returns the files among the inputs of ev, and among the sources of the dishes that its task is linked
// to, that have got new content since the last execution, with a time before it. The files of ev were read.
func (f Files) Aged(ctx context.Context, ev *Evaluation) (paths []string) {
	e := f.e
	last, latest := e.history.Of(ev.Task), e.history.Latest()
	if latest == 0 || !ev.Known || ev.Task.Tool != nil { // a tool of bento keeps nothing that it could compare, and may be one of the files
		return nil
	}
	since := last.At
	if since == 0 {
		since = latest // the tool of an earlier task may have looked at the files
	}
	look := func(files []tree.Entry) {
		for i := range files {
			f := &files[i]
			if f.Kind == tree.File && f.Mtime+editing < f.Ctime && f.Mtime <= latest && f.Ctime > since && !slices.Contains(paths, f.Path) {
				paths = append(paths, f.Path)
			}
		}
	}
	look(ev.Entries)
	ev.EachSources(make(Seen), func(s DishSources) { look(s.Files) })
	if len(paths) == 0 || last.Ran == (cache.Key{}) || e.loadAll(ctx, ev) != nil {
		return paths
	}
	changes, known := e.changesSince(last.Ran, ev)
	if !known {
		return paths
	}
	return slices.DeleteFunc(paths, func(p string) bool {
		return !slices.ContainsFunc(changes, func(c Change) bool { return (c.Kind == "input" || c.Kind == "read") && c.Name == p })
	})
}

// OutdatedCompiled returns the compiled files that may not match the present sources, of the dish of ev's task and of
// the dishes that it is linked to. Their tool compares these files only with the sources of their own dish
// (adapters.Manifest.Compiled). It sets ev.Sources.
func (f Files) OutdatedCompiled(ev *Evaluation) (files []string, err error) {
	e, t := f.e, ev.Task
	if len(compiled(t.Dish)) == 0 || !ev.Known {
		return nil, nil
	}
	dishes := f.Linked(t)
	if !slices.Contains(dishes, t.Dish) {
		dishes = append(dishes, t.Dish)
	}
	for _, d := range dishes {
		if len(compiled(d)) == 0 {
			continue
		}
		s := e.sourcesOf(d, true)
		e.readUnread()
		if d == t.Dish {
			ev.Sources = s.digest
		}
		if last := e.lastExecuted(d); s.err != nil || last == nil || last.Sources != s.digest {
			more, failed := e.compiledFiles(d)
			files, err = append(files, more...), cmp.Or(err, failed)
		}
	}
	return files, err
}

// lastExecuted returns the last run of the task of d that was executed last, nil for none.
func (e *Evaluator) lastExecuted(d *dish.Dish) (last *LastRun) {
	for _, t := range e.plan.TasksOf(d) {
		if r := e.history.Of(t); r.At > 0 && (last == nil || r.At > last.At) {
			last = r
		}
	}
	return last
}

func compiled(d *dish.Dish) []string {
	if d.Adapter == nil {
		return nil
	}
	return d.Adapter.Manifest().Compiled
}

// compiledFiles returns the paths of the files that the tool of d has compiled.
func (e *Evaluator) compiledFiles(d *dish.Dish) (paths []string, err error) {
	set, err := tree.CompileSet(d.Path, compiled(d))
	if err != nil {
		return nil, err
	}
	entries, err := e.tree.Expand(set)
	for _, f := range entries {
		if f.Kind == tree.File {
			paths = append(paths, f.Path)
		}
	}
	return paths, err
}
