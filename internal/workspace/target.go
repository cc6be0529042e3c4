package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// Divide sorts names on the command line, given in dir, into targets and tasks. A dish or bento has precedence over
// a task of the same name, and a task over a directory; build, check, lint and test are tasks first, as for bento
// run. ./NAME is always a directory.
func (w *Workspace) Divide(names []string, dir string) (targets, tasks []string, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	knownTasks, known := w.allTasks(), w.names()
	for _, name := range names {
		bare := !strings.ContainsRune(name, filepath.Separator) && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "...")
		switch {
		case adapters.IsLifecycle(name) && slices.Contains(knownTasks, name):
			tasks = append(tasks, name)
		case strings.HasPrefix(plan.Center(name), "tag:") && !slices.Contains(knownTasks, name):
			targets = append(targets, name)
		case name == "", !bare && !strings.Contains(name, ":"), matchesAny(name, known):
			targets = append(targets, name)
		case strings.Contains(name, ":"), matchesAny(name, knownTasks):
			tasks = append(tasks, name)
		default:
			if _, err := os.Lstat(filepath.Join(w.Root, filepath.FromSlash(dir), name)); err != nil {
				return nil, nil, refused("target_not_found", cmp.Or(diagnostics.Suggest(name, slices.Concat(known, knownTasks)), "bento dishes and bento tasks list them"),
					"no dish, bento, path or task is named %q", name)
			}
			targets = append(targets, name)
		}
	}
	return targets, tasks, nil
}

// IsTarget reports whether a name on the command line, given in dir, names dishes and not a task.
func (w *Workspace) IsTarget(name, dir string) bool {
	if strings.ContainsRune(name, ':') && !strings.HasPrefix(name, "tag:") {
		return false
	}
	_, problems := plan.Build(w.Workspace, plan.Request{Tasks: []string{name}})
	if len(diagnostics.Errors(problems)) == 0 {
		return false
	}
	req := plan.Request{Targets: []string{name}, Dir: dir}
	if w.Locate(&req) != nil {
		return false
	}
	_, problems = plan.Build(w.Workspace, req)
	return len(diagnostics.Errors(problems)) == 0
}

// Locate converts the targets of a request that are paths, relative to req.Dir, to paths relative to the workspace.
func (w *Workspace) Locate(req *plan.Request) error {
	for _, list := range [][]string{req.Targets, req.Exclude} {
		for i, target := range list {
			if target == "" {
				return refused("usage", "leave it out, or see whether a variable is not set", "a target is empty")
			}
			path, err := w.Place(plan.Center(target), req.Dir)
			if err != nil {
				return err
			}
			list[i] = strings.Replace(target, plan.Center(target), path, 1)
		}
	}
	return nil
}

// Place converts a target that is an existing path, relative to dir in the workspace, to a path from the root of the
// workspace, with "/" in front. It converts a glob of paths to one relative to dir, with "./" in front. It returns
// all other names unchanged, such as names of dishes and bentos.
func (w *Workspace) Place(target, dir string) (string, error) {
	path := target
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Root, filepath.FromSlash(dir), target)
	}
	if !strings.ContainsRune(target, filepath.Separator) && !strings.HasPrefix(target, ".") {
		if _, err := os.Lstat(path); err != nil || slices.Contains(w.names(), target) {
			return target, nil
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(target, "*?[{") {
		rel, err := filepath.Rel(filepath.Join(w.Root, filepath.FromSlash(dir)), path)
		return "./" + filepath.ToSlash(rel), err
	}
	if err != nil {
		return "", refused("target_not_found", cmp.Or(diagnostics.Suggest(filepath.Base(target), w.names()), "bento dishes lists the dishes"),
			"no dish, bento or path with dishes is named %q", target)
	}
	rel, err := filepath.Rel(w.Root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", refused("target_not_found", "use -C for another workspace", "%q lies outside the workspace %q", target, w.Root)
	}
	return "/" + filepath.ToSlash(rel), nil
}

// names returns the names of all dishes and bentos.
func (w *Workspace) names() []string {
	names := make([]string, 0, len(w.Dishes)+len(w.Bentos))
	for _, d := range w.Dishes {
		names = append(names, d.Name)
	}
	for _, b := range w.Bentos {
		names = append(names, b.Name)
	}
	return names
}

// allTasks returns the names and aliases of the tasks of all dishes, each once.
func (w *Workspace) allTasks() []string {
	var names []string
	for _, d := range w.Dishes {
		names = append(append(names, d.TaskNames()...), d.Aliases()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// matchesAny reports whether name is in list, or is a glob that matches one of list.
func matchesAny(name string, list []string) bool {
	return slices.Contains(list, name) || plan.IsGlob(name) &&
		slices.ContainsFunc(list, func(one string) bool { return doublestar.MatchUnvalidated(name, one) })
}

// refused returns the problem of a name on the command line.
func refused(rule, hint, format string, args ...any) error {
	d := diagnostics.Pos{}.Error(rule, format, args...)
	d.Hint = hint
	return diagnostics.Problems{d}
}
