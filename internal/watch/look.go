package watch

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// look is one evaluation of the workspace.
type look struct {
	ws      *Workspace
	plan    *plan.Plan
	results []*key.Evaluation
}

// keys returns the known keys of the tasks.
func (l *look) keys() map[string]cache.Key {
	keys := make(map[string]cache.Key, len(l.results))
	for _, r := range l.results {
		if r.Known {
			keys[r.Task.ID()] = r.Key
		}
	}
	return keys
}

// result returns the evaluation of a task of the plan.
func (l *look) result(id string) *key.Evaluation {
	return l.results[slices.IndexFunc(l.results, func(r *key.Evaluation) bool { return r.Task.ID() == id })]
}

// look opens the workspace, watches its files and computes all keys. If a file changes
// meanwhile, the next look sees it.
func (w *Loop) look(ctx context.Context) (*look, error) {
	for {
		l, added, err := w.lookOnce(ctx)
		if err != nil || !added {
			return l, err
		}
		l.ws.Close()
	}
}

func (w *Loop) lookOnce(ctx context.Context) (l *look, added bool, err error) {
	ws, err := w.o.Open(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			ws.Close()
		}
	}()
	added = w.followDirs(ws.Env.Tree.Dirs())
	l = &look{ws: ws}
	if l.plan, err = ws.Plan(ctx); err != nil {
		return nil, false, err
	}
	added = w.followDirs(above(l.toolFiles())) || added
	ev, err := ws.Env.Evaluator(l.plan, false, nil)
	if err == nil {
		l.results, err = ev.All(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	for _, r := range l.results {
		if r.Task.Requested && r.Task.Persistent {
			ev.Load(ctx, r, true) // to name changed inputs
		}
	}
	ev.Save(nil)
	w.setConcern(l)
	return l, added, nil
}

func (w *Loop) followDirs(dirs []string) bool {
	added, err := w.notifier.follow(dirs)
	if err != nil {
		w.o.Warn("watch_polls", "some directories cannot be watched: "+err.Error(), "bento checks the workspace every second; on Linux, raise fs.inotify.max_user_watches")
	}
	return added
}

// setConcern sets the paths that matter to the notifier: those that git does not ignore, and ignored paths that
// tasks name.
func (w *Loop) setConcern(l *look) {
	named := make(map[string]bool)
	for _, r := range l.results {
		for _, e := range r.Entries {
			named[e.Path] = true
		}
	}
	files := l.toolFiles()
	for _, p := range slices.Concat(files, above(files)) {
		named[p] = true
	}
	tree := l.ws.Env.Tree
	concerns := func(p string) bool { return named[p] || !tree.Ignored(p, false) && !tree.Ignored(p, true) }
	w.concern.Store(&concerns)
}

// toolFiles returns the files of the workspace that belong to the tools of the tasks. git may ignore them.
func (l *look) toolFiles() (files []string) {
	for _, t := range l.plan.Tasks {
		for _, use := range []*plan.ToolUse{t.Tool, t.Parser} {
			if use != nil {
				files = append(files, use.Files...)
			}
		}
	}
	return files
}

// above returns all parent directories of files. A compiler may remove and create them.
func above(files []string) []string {
	seen := make(map[string]bool)
	for _, file := range files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
