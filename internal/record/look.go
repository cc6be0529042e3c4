package record

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Prepare removes what the last good run has made, and what was left since, so that
// nothing of it can be taken for what this one makes, and notes what else lies where
// the outputs go.
func (x *Execution) Prepare() (err error) {
	t := x.Ev.Task
	x.written = x.Writing(t)
	x.watchDirs()
	if x.set, err = OutputSet(t); err != nil {
		return err
	}
	if x.ignored, err = x.ignoredNow(); err != nil {
		return err
	}
	x.lookAtOutputs()
	if err = x.lookUpstream(); err != nil || len(t.Outputs) == 0 {
		return err
	}
	if !t.Incremental {
		all, made := withDirs(slices.Concat(x.Last.Outputs, x.Last.Left, x.Last.Astray))
		for _, p := range slices.Backward(all) {
			// What is no output any more, or has become a source, is not ours to remove. Nor
			// is what the task is to go on with: what it depends on has just made it.
			if x.set.Match(p) && !key.IsOwn(p) && !x.Tree.MayTrack(p) && !x.Before(p) {
				// Directories stay unless they are empty by now, and what somebody has put in
				// the place of one; a file that cannot be removed is the command's to replace.
				remove := outputs.Remove
				if !made[p] {
					remove = outputs.RemoveDir
				}
				_ = remove(x.Root, p)
			}
		}
		if err := x.lookBefore(); err != nil {
			x.set = nil // nothing is started, and so nothing of what lies there was left by it
			return err
		}
		x.removeEmpty()
	}
	x.noteJournal(journalEntry{
		Task: t.Place(), Dish: t.Dish.Path, Globs: outputGlobs(t), Paths: slices.Sorted(maps.Keys(x.before)),
	})
	return nil
}

// Ended notes that nothing of the execution writes any more. Prepare must have been called.
func (x *Execution) Ended() { x.written() }

// withDirs adds the directories that paths lie in, and sorts, so that what is in a
// directory comes behind it. had are the paths alone.
func withDirs(paths []string) (all []string, had map[string]bool) {
	had = make(map[string]bool, len(paths))
	seen := make(map[string]bool)
	for _, p := range paths {
		had[p] = true
		all = append(all, p)
		for dir := path.Dir(p); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), had
}

func (x *Execution) lookBefore() error {
	entries, err := x.Tree.Expand(x.set)
	x.before = make(map[string]tree.Entry, len(entries))
	for _, e := range entries {
		x.before[e.Path] = e
	}
	return err
}

// removeEmpty removes empty directories among the outputs. An empty directory holds nothing
// to lose. If one exists after the command, the command made it, and a restore makes it too.
func (x *Execution) removeEmpty() {
	dish := x.Ev.Task.Dish.Path
	for p, e := range x.before {
		if e.Kind != tree.Dir || x.Others(p) {
			continue
		}
		for dir := p; dir != dish && key.Inside(dir, dish) && x.set.Match(dir) && outputs.RemoveDir(x.Root, dir) == nil; dir = path.Dir(dir) {
			delete(x.before, dir)
		}
	}
}

// noteJournal writes down what is about to change. Without a journal a run that is
// killed may leave what the next one does not know of.
func (r *Recorder) noteJournal(e journalEntry) {
	if err := r.Journal.Note(e); err != nil {
		r.Warn("state_unwritable", "what this run is about to change cannot be written down: "+err.Error(), "")
	}
}

// Restoring writes down that outputs of t are about to be restored.
func (r *Recorder) Restoring(t *plan.Task, outputs []cache.Output) {
	r.noteJournal(journalEntry{Task: t.Place(), Dish: t.Dish.Path, Paths: Paths(outputs)})
}

// Left returns what an execution that did not succeed has left among its outputs.
func (x *Execution) Left() []string {
	if x.set == nil || len(x.Ev.Task.Outputs) == 0 {
		return nil
	}
	return left(x.Root, x.Tree, x.set, func(p string) bool { _, was := x.before[p]; return was })
}

// Recover remembers what runs that were killed have left.
func (r *Recorder) Recover(ctx context.Context, d *state.Dir) {
	m := key.OpenHistory(d)
	err := replayJournal(d, func(entry journalEntry) {
		if left := remains(r.Root, r.Tree, entry); len(left) > 0 {
			m.Leave(entry.Task, left)
		}
	}, func() error { return m.Save(ctx) })
	if err != nil && ctx.Err() == nil {
		r.Warn("state_unwritable", "what a bento that was killed has left cannot be sorted out: "+err.Error(), "")
	}
}

// remains returns what one has left that was killed, or restored.
func remains(root string, t *tree.Tree, e journalEntry) []string {
	if len(e.Globs) == 0 {
		return slices.Concat(e.Paths, outputs.Leftovers(root, e.Paths))
	}
	set, err := tree.CompileSet(e.Dish, e.Globs)
	if err != nil {
		return nil
	}
	return left(root, t, set, func(p string) bool {
		_, was := slices.BinarySearch(e.Paths, p)
		return was
	})
}

// left lists what lies in the place of outputs, but for what was there before, and
// sources.
func left(root string, t *tree.Tree, set *tree.Set, before func(string) bool) (paths []string) {
	entries, err := tree.Expand(root, set)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !before(e.Path) && !t.Tracked(e.Path) && !key.IsOwn(e.Path) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// lookAfter sorts out what lies there now: paths that the command made, and Found,
// which it left as it was.
func (x *Execution) lookAfter() (paths []string, err error) {
	t := x.Ev.Task
	if len(t.Outputs) == 0 {
		return nil, nil
	}
	entries, err := x.Tree.Expand(x.set)
	if err != nil {
		return nil, err
	}
	for _, i := range x.set.Unmatched(entries) {
		if _, plain := x.set.Plain(i); plain {
			return nil, &MissingError{t.Outputs[i].Glob}
		}
		if !t.Outputs[i].Declared {
			continue // the patterns of recipes may match nothing
		}
		x.Warn("output_empty", t.ID()+": the output \""+t.Outputs[i].Glob+"\" matched nothing", "")
	}
	for _, e := range entries {
		before, was := x.before[e.Path]
		switch {
		case was && key.IsOwn(e.Path):
			// It is part of the key in its own way, and stays what its author wrote.
		case x.Tree.Tracked(e.Path):
			// A source, and so an input, whatever the pattern says. Where the command wrote
			// it, what depends on the task is to see what it made.
			if !key.IsOwnFile(t.Dish.Path, e.Path) && x.wrote(e) {
				paths, x.tracked = append(paths, e.Path), append(x.tracked, e.Path)
			}
		case !was || !before.Same(&e) && e.Kind != tree.Dir:
			paths = append(paths, e.Path)
		case e.Kind == tree.Dir || x.Others(e.Path):
			// An empty directory, another task's output: none of ours.
		default:
			x.Found = append(x.Found, e.Path)
		}
	}
	return append(paths, x.ownDirs(paths)...), nil
}

// wrote reports whether an input is new, or holds something else than when the key was
// made.
func (x *Execution) wrote(now tree.Entry) bool {
	byPath := func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) }
	if i, known := slices.BinarySearchFunc(x.Ev.Entries, now.Path, byPath); known {
		return !now.Same(&x.Ev.Entries[i]) && !x.equal(now, x.Ev.Inputs[i])
	}
	if i, known := slices.BinarySearchFunc(x.Ev.Lock, now.Path, byPath); known {
		return !x.holds(x.Ev.Lock[i], now)
	}
	return true
}

// inputChanged returns the first input of the task that was touched while it ran; its
// path is empty when none was.
func (x *Execution) inputChanged() difference {
	if len(x.tracked) > 0 {
		return difference{path: x.tracked[0]}
	}
	for i, then := range x.Ev.Entries {
		now, err := x.now(then.Path)
		if err == nil && now.Same(&then) {
			continue
		}
		if err != nil || !x.equal(now, x.Ev.Inputs[i]) {
			return difference{path: then.Path}
		}
		if touched(then, now) && !x.mayRewrite(then.Path) {
			return difference{path: then.Path, equal: true}
		}
	}
	for _, then := range x.Ev.Lock {
		now, err := x.now(then.Path)
		if err != nil || !x.holds(then, now) {
			return difference{path: then.Path}
		}
		if touched(then, now) && !x.mayRewrite(then.Path) {
			return difference{path: then.Path, equal: true}
		}
	}
	return cmp.Or(x.swapped(x.Ev.Dirs), x.movedDir, x.strayChanged)
}

// swapped returns the first directory of inputs that was replaced, or moved away and put
// back: the files in it do not show that other ones were in their place.
func (x *Execution) swapped(dirs []tree.DirStamp) difference {
	for _, d := range dirs {
		if d.Swapped(x.Root) && !x.mayRewrite(d.Path) {
			return difference{path: d.Path, equal: true}
		}
	}
	return difference{}
}

// mayRewrite reports whether the task declares that it writes what lies at a path: in
// rewrites, or among its outputs.
func (x *Execution) mayRewrite(path string) bool {
	t := x.Ev.Task
	if x.rewrites == nil {
		// A glob with an error was refused before anything ran.
		x.rewrites, _ = tree.CompileSet(t.Dish.Path, slices.Concat(outputGlobs(t), t.Rewrites))
	}
	return x.rewrites != nil && x.rewrites.Match(path)
}

// now looks at an input. Those in the dish of the task were just looked at.
func (x *Execution) now(path string) (tree.Entry, error) {
	if dish := x.Ev.Task.Dish.Path; dish == "." || strings.HasPrefix(path, dish+"/") {
		if entry, ok := x.Tree.Lookup(path); ok {
			return entry, nil
		}
	}
	return tree.Stat(x.Root, path)
}

// difference is a path that is not what it was when a key was made; equal says that it
// holds the same all the same, gone that it was removed.
type difference struct {
	path  string
	equal bool
	gone  bool
}

// touched reports whether something was done to a file between two looks at it: it was
// written, replaced, moved away and put back, or its mode or its times were set. It may
// hold the same again; what it held in between nobody knows, and the task may have read
// that. That it has more or fewer names than before explains another ctime.
func touched(then, now tree.Entry) bool {
	if then.Links != now.Links && then.Links != 0 && now.Links != 0 {
		then.Ctime = now.Ctime
	}
	return !now.SameStat(&then)
}

// holds reports whether a file holds what it did when a key was made.
func (r *Recorder) holds(then, now tree.Entry) bool {
	if now.Same(&then) {
		return true
	}
	if then.Kind != now.Kind || key.Executable(then.Mode) != key.Executable(now.Mode) {
		return false
	}
	if now.Kind == tree.Link {
		return !touched(then, now) // what it said is not known
	}
	before, err := r.Tree.Index().Sum(then)
	after, nerr := r.Tree.Index().Sum(now)
	return err == nil && nerr == nil && before == after
}

// equal compares what is there now with what the key was made of.
func (x *Execution) equal(now tree.Entry, then key.File) bool {
	switch {
	case now.Path == "":
		return false
	case then.Target != "":
		target, err := x.Tree.Readlink(now)
		return err == nil && target == then.Target
	case now.Kind != tree.File || key.Executable(now.Mode) != then.Exec:
		return false
	}
	sum, err := x.Tree.Index().Sum(now)
	return err == nil && cache.Digest(sum) == then.Sum
}
