package record

import (
	"path"

	"github.com/bentobuild/bento/internal/tree"
)

// Access lists the files of the workspace that a command has read, and those that it has written. Looks at a few
// places before and after the command make the lists: they find out which files there have changed. An unchanged
// file may have been read. An observer of the command could make the same lists.
type Access struct {
	Read    []File // unchanged since the command began
	Written []File // made, changed or removed since then
}

// File is a file or link that a command has read or written.
type File struct {
	tree.Entry // as it is after the command, without a Kind if it was removed
	At         place
	New        bool // it did not exist before the command
	Extra      bool // it existed before, and is an input that the key of the command lacks
}

// place is what is declared of the path of a file.
type place int

const (
	atOutput   place = iota // an output covers it
	atIgnored               // git ignores it, in the dish of the task or in a directory that its command names
	atSibling               // an output of another task of the dish covers it, and the task did not make it
	atUpstream              // the same, for a task of another dish
	atInput                 // it is a directory around inputs
)

// snapshot are the files that lay at the places before the command.
type snapshot struct {
	outputs map[string]tree.Entry // by path; nil if the task keeps them
	ignored map[string]tree.Entry // by path
	beside  []File                // at the outputs of Upstream, by path
	shared  []*listing            // by index of Upstream: the listing to check later; nil for none
	moves   *movesSpan            // since the look; nil if no directory is watched
}

// takeSnapshot looks at all places before the command. The outputs of the last run are removed afterwards.
func (x *Execution) takeSnapshot() error {
	x.before.moves = x.watchDirs()
	ignored, err := x.ignoredNow()
	if err != nil {
		return err
	}
	x.before.ignored = byPath(ignored)
	return x.snapshotBeside()
}

// snapshotOutputs looks at the outputs of the task before the command, and removes those that are empty directories.
func (x *Execution) snapshotOutputs() error {
	if x.Ev.Task.Incremental {
		return nil
	}
	entries, err := x.Tree.Expand(x.set)
	if x.before.outputs = byPath(entries); err == nil {
		x.removeEmpty()
	}
	return err
}

func byPath(entries []tree.Entry) map[string]tree.Entry {
	m := make(map[string]tree.Entry, len(entries))
	for _, e := range entries {
		m[e.Path] = e
	}
	return m
}

// access looks at all places after the command, and compares.
func (x *Execution) access() (Access, error) {
	a, b := new(Access), &x.before
	if dir := b.moves.Moved(); dir != "" {
		a.Written = append(a.Written, File{Entry: tree.Entry{Path: dir, Kind: tree.Dir}, At: atInput})
	}
	x.compareBeside(a)
	if len(x.Ev.Task.Outputs) > 0 {
		now, err := x.Tree.Expand(x.set)
		if err != nil {
			return *a, err
		}
		a.compare(atOutput, b.outputs, now)
	}
	ignored, err := x.ignoredNow()
	a.compare(atIgnored, b.ignored, ignored)
	return *a, err
}

// compare adds the files at a place. The times of a directory change with its files.
func (a *Access) compare(at place, before map[string]tree.Entry, now []tree.Entry) {
	for _, e := range now {
		if then, was := before[e.Path]; was && (e.Kind == tree.Dir || then.Same(&e)) {
			a.Read = append(a.Read, File{Entry: e, At: at})
		} else {
			a.Written = append(a.Written, File{Entry: e, At: at, New: !was})
		}
	}
}

// watchDirs starts to watch the directories that the task reads: its dish, the dishes whose sources
// are in its key, the directories around these, and the directories of its inputs. The times of a directory
// may not show that it was moved, if something was made in it, too.
func (x *Execution) watchDirs() *movesSpan {
	if x.Moves == nil {
		return nil
	}
	var first []string
	seen := make(map[string]bool)
	add := func(dir string) {
		for ; !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			first = append(first, dir)
		}
	}
	add(x.Ev.Task.Dish.Path)
	for _, d := range x.Linked {
		add(d.Path)
	}
	for _, u := range x.Upstream {
		add(u.Task.Dish.Path)
	}
	for _, e := range x.Ev.Targets {
		add(path.Dir(e.Path))
	}
	rest := make([]string, len(x.Ev.Dirs))
	for i, d := range x.Ev.Dirs {
		rest[i] = d.Path
	}
	return x.Moves.Begin(x.Root, first, rest)
}
