package record

import (
	"context"
	"maps"
	"path"
	"slices"

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
	if x.set, err = OutputSet(t); err != nil {
		return err
	}
	x.area = key.NewOutputArea(x.Tree, x.Plan, t)
	x.noteChangedOutput()
	if err = x.takeSnapshot(); err != nil || !t.HasOutputs() {
		return err
	}
	if !t.Incremental && !x.Later {
		err = x.removeLast()
	}
	if err == nil {
		err = x.snapshotOutputs()
	}
	if err != nil {
		x.set = nil // the command does not start, so it has left none of these files
		return err
	}
	x.noteJournal(journalEntry{
		Task: t.Place(), Dish: t.Dish.Path, Globs: outputGlobs(t), Paths: slices.Sorted(maps.Keys(x.before.outputs)),
	})
	return nil
}

// Clear removes the outputs of the last good run, which Prepare has left because of Later.
func (x *Execution) Clear() error {
	if err := x.removeLast(); err != nil {
		return err
	}
	return x.snapshotOutputs()
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
	return x.snapshotOutputs()
}

// removeLast removes the files that the last runs of the task have made.
func (x *Execution) removeLast() error {
	made := slices.Concat(x.Last.Outputs, x.Last.Left)
	for _, p := range x.Last.Undeclared {
		if x.set.Match(p) {
			made = append(made, p)
		}
	}
	return x.remove(made)
}

// remove removes files among the outputs, and the directories that they leave empty. It returns a
// *StuckError for the first one that it cannot remove.
func (x *Execution) remove(paths []string) error {
	all, made := withDirs(paths)
	for _, p := range slices.Backward(all) {
		// A file that is no longer an output, or has become a source, stays. So does a file that a
		// dependency has just made: the task continues with it.
		if (x.set.Match(p) || x.area.Has(p)) && !key.IsOwn(p) && !x.Tree.MayTrack(p) && !x.Before(p) {
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

// removeEmpty removes empty directories among the outputs, which loses no content. An empty directory
// that exists after the command was made by it, and a restore makes it, too.
func (x *Execution) removeEmpty() {
	dish := x.Ev.Task.Dish.Path
	for p, e := range x.before.outputs {
		if e.Kind != tree.Dir || x.Others(p) {
			continue
		}
		for dir := p; dir != dish && key.Inside(dir, dish) && x.set.Match(dir) && outputs.RemoveDir(x.Root, dir) == nil; dir = path.Dir(dir) {
			delete(x.before.outputs, dir)
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
	if x.set == nil || !x.Ev.Task.HasOutputs() {
		return nil
	}
	list := left(x.Root, x.Tree, x.set, func(p string) bool { _, was := x.before.outputs[p]; return was })
	for _, f := range x.writes() {
		if !f.Kept {
			list = append(list, f.Path)
		}
	}
	return list
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
