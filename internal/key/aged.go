package key

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/tree"
)

// Tools such as cargo, Maven, tsc and make compare times: new content with a time before their last run
// (tar, rsync -t, cp -p, mv) is no change to them, and the result would be that of the old content.

// editing is the longest time that an editor takes from writing a file to renaming it.
const editing = int64(2 * time.Second)

// Aged returns the files among the inputs of ev, and among the sources of the dishes that its task is linked
// to, that have got new content since the last execution, with a time before it. The files of ev were read.
func (e *Evaluator) Aged(ctx context.Context, ev *Evaluation) (paths []string) {
	last, latest := e.history.Of(ev.Task), e.history.Latest()
	if latest == 0 || !ev.Known {
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
		return !slices.ContainsFunc(changes, func(c Change) bool { return c.Kind == "input" && c.Name == p })
	})
}

// Touched notes that the files at paths have got another time, and the same content.
func (e *Evaluator) Touched(ctx context.Context, paths []string) {
	var dirs []string
	for _, p := range paths {
		dirs = append(dirs, path.Dir(p))
		if d := e.plan.Workspace.Owner(p); d != nil {
			defer e.forgetSources(d)
		}
	}
	slices.Sort(dirs)
	e.refresh(ctx, slices.Compact(dirs))
}
