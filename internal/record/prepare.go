package record

import (
	"cmp"
	"context"
	"fmt"
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

// Prepare removes the outputs of the last good run, and files left since then, so that none of them
// is taken for an output of this run. It notes the other files at the paths of the outputs.
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
	x.noteChangedOutput()
	if err = x.noteStrays(); err != nil || len(t.Outputs) == 0 {
		return err
	}
	if !t.Incremental && !x.Later {
		err = x.removeLast()
	}
	if err == nil {
		err = x.look()
	}
	if err != nil {
		x.set = nil // the command does not start, so it has left none of these files
		return err
	}
	x.noteJournal(journalEntry{
		Task: t.Place(), Dish: t.Dish.Path, Globs: outputGlobs(t), Paths: slices.Sorted(maps.Keys(x.before)),
	})
	return nil
}

// Clear removes the outputs of the last good run, which Prepare has left because of Later.
func (x *Execution) Clear() error {
	if err := x.removeLast(); err != nil {
		return err
	}
	return x.look()
}

// Again removes the outputs that a failed attempt has left, so that none of them is taken for an output
// of the next attempt. A task that keeps the outputs of its last run keeps these, too.
func (x *Execution) Again() error {
	if x.Ev.Task.Incremental || x.Later {
		return nil
	}
	if err := x.remove(x.Left()); err != nil {
		return err
	}
	return x.look()
}

// removeLast removes the files that the last runs of the task have made.
func (x *Execution) removeLast() error {
	return x.remove(slices.Concat(x.Last.Outputs, x.Last.Left, x.Last.Astray))
}

// remove removes files among the outputs, and the directories that they leave empty. It returns a
// *StuckError for the first one that it cannot remove.
func (x *Execution) remove(paths []string) error {
	all, made := withDirs(paths)
	for _, p := range slices.Backward(all) {
		// A file that is no longer an output, or has become a source, stays. So does a file that a
		// dependency has just made: the task continues with it.
		if x.set.Match(p) && !key.IsOwn(p) && !x.Tree.MayTrack(p) && !x.Before(p) {
			// A directory stays unless it is empty now, and so does a file that a user has put in its
			// place.
			if err := outputs.RemoveUnlocked(x.Root, p, !made[p], x.mayUnlock); err != nil && made[p] {
				if err = stuck(x.Root, p, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// look lists, before the command, the files at the paths of the outputs.
func (x *Execution) look() error {
	if x.Ev.Task.Incremental {
		return nil
	}
	if err := x.listBefore(); err != nil {
		return err
	}
	x.removeEmpty()
	return nil
}

// Ended notes that the execution writes no more files. Prepare must have been called.
func (x *Execution) Ended() { x.written() }

// withDirs returns paths and the directories around them, sorted, so that each directory comes before
// its content. had are only the paths.
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

func (x *Execution) listBefore() error {
	entries, err := x.Tree.Expand(x.set)
	x.before = make(map[string]tree.Entry, len(entries))
	for _, e := range entries {
		x.before[e.Path] = e
	}
	return err
}

// removeEmpty removes empty directories among the outputs, which loses no content. An empty directory
// that exists after the command was made by it, and a restore makes it, too.
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

// noteJournal writes an entry of the journal before a change, so that the next run knows which files
// a killed run has left.
func (r *Recorder) noteJournal(e journalEntry) {
	if err := r.Journal.Note(e); err != nil {
		r.Warn("state_unwritable", "what this run is about to change cannot be written down: "+err.Error(), "")
	}
}

// Restoring notes in the journal that outputs of t are about to be restored.
func (r *Recorder) Restoring(t *plan.Task, outputs []cache.Output) {
	r.noteJournal(journalEntry{Task: t.Place(), Dish: t.Dish.Path, Paths: Paths(outputs)})
}

// Left returns the files that a failed execution has left among its outputs.
func (x *Execution) Left() []string {
	if x.set == nil || len(x.Ev.Task.Outputs) == 0 {
		return nil
	}
	return left(x.Root, x.Tree, x.set, func(p string) bool { _, was := x.before[p]; return was })
}

// Recover adds to the history the files that killed runs have left.
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

// remains returns the files that a killed execution or restore has left.
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

// left returns the files at the paths of outputs, without sources and files that existed before.
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

// sortOutputs returns the paths of the outputs that the command made, and sets Found to the other
// files among the outputs, which it did not change.
func (x *Execution) sortOutputs() (paths []string, err error) {
	t := x.Ev.Task
	if len(t.Outputs) == 0 {
		return nil, nil
	}
	entries, err := x.Tree.Expand(x.set)
	if err != nil {
		return nil, err
	}
	if link := x.behindLink(); link != "" && x.Unsure == "" {
		x.Unsure = fmt.Sprintf("outputs lie behind the link %q, and bento stores no files behind links", link)
		x.Hint = "name the directory that the link leads to in outputs or workspace_outputs, or make it a directory"
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
			// Its values are ingredients of the key, and the task does not restore it.
		case x.Tree.Tracked(e.Path):
			// A source, and so an input even if an output covers it. If the command wrote it,
			// dependents see its content as an output.
			if !key.IsOwnFile(t.Dish.Path, e.Path) && x.wrote(e) {
				paths, x.tracked = append(paths, e.Path), append(x.tracked, e.Path)
			}
		case !was || !before.Same(&e) && e.Kind != tree.Dir:
			paths = append(paths, e.Path)
		case e.Kind == tree.Dir || x.Others(e.Path) || x.leftByOthers(e):
			// An empty directory, or another task's output or by-product: not an output of this task.
		default:
			x.Found = append(x.Found, e.Path)
		}
	}
	return append(paths, x.ownDirs(paths)...), nil
}

// wrote reports whether an input is new, or has other content than when the key was made.
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

// inputChanged returns the first input of the task that was touched while it ran; its path is empty
// if none was touched.
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

// swapped returns the first directory of inputs that was replaced, or moved away and put back: the
// files in it do not show that other files were in their place.
func (x *Execution) swapped(dirs []tree.DirStamp) difference {
	if len(dirs) > 0 && !x.Tree.IsThere() {
		return difference{path: "."}
	}
	for _, d := range dirs {
		if x.Tree.Swapped(d) && !x.mayRewrite(d.Path) {
			return difference{path: d.Path, equal: true}
		}
	}
	return difference{}
}

// mayRewrite reports whether the task declares, in rewrites or outputs, that it writes a path.
func (x *Execution) mayRewrite(path string) bool {
	t := x.Ev.Task
	if x.rewrites == nil {
		// An invalid glob was refused before anything ran.
		x.rewrites, _ = tree.CompileSet(t.Dish.Path, slices.Concat(outputGlobs(t), t.Rewrites))
	}
	return x.rewrites != nil && x.rewrites.Match(path)
}

// now returns the entry of an input. The tree below the dish of the task was just refreshed.
func (x *Execution) now(path string) (tree.Entry, error) {
	if dish := x.Ev.Task.Dish.Path; dish == "." || strings.HasPrefix(path, dish+"/") {
		if entry, ok := x.Tree.Lookup(path); ok {
			return entry, nil
		}
	}
	return x.Tree.Stat(path)
}

// difference is a path that was touched since a key was made. equal reports whether its content is
// still the same, gone whether it was removed.
type difference struct {
	path  string
	equal bool
	gone  bool
}

// touched reports whether a file was written, replaced, moved away and put back, or got another mode
// or other times between two stats. Its content may be the same again, but the task may have read
// other content in between. A changed number of hard links is a harmless reason of another ctime.
func touched(then, now tree.Entry) bool {
	if then.Links != now.Links && then.Links != 0 && now.Links != 0 {
		then.Ctime = now.Ctime
	}
	return !now.SameStat(&then)
}

// holds reports whether a file has the content that it had when a key was made.
func (r *Recorder) holds(then, now tree.Entry) bool {
	if now.Same(&then) {
		return true
	}
	if then.Kind != now.Kind || key.Executable(then.Mode) != key.Executable(now.Mode) {
		return false
	}
	if now.Kind == tree.Link {
		return !touched(then, now) // its former target is unknown
	}
	before, err := r.Tree.Index().Sum(then)
	after, nerr := r.Tree.Index().Sum(now)
	return err == nil && nerr == nil && before == after
}

// equal reports whether a file has the content that is in the key.
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
