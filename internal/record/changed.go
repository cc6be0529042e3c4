package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

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
		if x.touched(then, now) && !x.mayRewrite(then.Path) {
			return difference{path: then.Path, equal: true}
		}
	}
	for _, then := range x.Ev.Lock {
		now, err := x.now(then.Path)
		if err != nil || !x.holds(then, now) {
			return difference{path: then.Path}
		}
		if x.touched(then, now) && !x.mayRewrite(then.Path) {
			return difference{path: then.Path, equal: true}
		}
	}
	return cmp.Or(x.swapped(x.Ev.Dirs), x.changed)
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
		return !r.touched(then, now) // its former target is unknown
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

// sharedChanged returns the first file that was written beside the outputs of other tasks since the
// command began. held caches the verdicts on listings within one Check.
func (x *Execution) sharedChanged(held map[*listing]bool) (found difference) {
	for i, l := range x.before.shared {
		if l == nil {
			continue
		}
		ok, known := held[l]
		if !known {
			ok = x.held(x.Upstream[i].Task, l)
			held[l] = ok
		}
		if u := x.Upstream[i]; !ok && found.path == "" {
			if now, _, err := x.at(u.Task); err == nil {
				found = x.newStray(u, now)
			}
			found = cmp.Or(found, l.difference())
		}
	}
	return found
}

// newStray returns the first file beside the outputs of u that did not exist before the command.
func (x *Execution) newStray(u *Upstream, now *listing) difference {
	for _, e := range x.newBeside(u, now) {
		if !x.mayRewrite(e.Path) {
			return difference{path: e.Path}
		}
	}
	return difference{}
}

func (x *Execution) warnChanged(d difference) {
	switch {
	case len(x.tracked) > 0 && x.tracked[0] == d.path:
		x.notStored("input_changed", fmt.Sprintf("it wrote %q, an output that git tracks", d.path),
			"let git track it no longer, with git rm --cached and a line in .gitignore; until then the task is executed each time that it changes it")
	case d.path == ".":
		x.notStored("input_touched", "the workspace was moved while the task ran, and the task may have read something else", "do not move the workspace while tasks run, and run again")
	case d.equal:
		x.notStored("input_touched", fmt.Sprintf("%q was written, replaced, moved or given another mode while the task ran; it is what it was before, but the task may have read something else", d.path),
			fmt.Sprintf("if the task itself does that, also if it only sets the mode that the file has, declare the path: rewrites = [%q] in %s",
				x.globOf(d.path), x.Ev.Task.Table()))
	default:
		x.notStored("input_changed", fmt.Sprintf("%q changed while the task ran", d.path),
			"if the task itself writes it, declare it as an output or take it out of the inputs")
	}
}
