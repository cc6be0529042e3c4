package record

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// write is a path that the command has written in the area of its outputs, and that still exists.
type write struct {
	Path string
	Kept bool // it existed before, and the command has read it first: it is state
}

// writes returns what the command has written in the area, nil if it was not observed.
func (x *Execution) writes() (list []write) {
	if x.Used == nil || x.area == nil {
		return nil
	}
	for i := range x.Used.Files {
		f := &x.Used.Files[i]
		p, inside := x.inside(f.Path)
		if !inside || f.Use&action.Write == 0 || !x.area.Has(p) {
			continue
		}
		switch e, err := x.Tree.Stat(p); {
		case err != nil: // it was removed, or has another name
		case e.Kind != tree.Dir:
			list = append(list, write{Path: p, Kept: !f.Absent && f.Use&action.Read != 0})
		case f.Absent: // made, or moved here from anywhere with all that is in it
			list = append(list, x.contentOf(p)...)
		}
	}
	slices.SortFunc(list, func(a, b write) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b write) bool { return a.Path == b.Path })
}

// inside returns a path relative to the workspace.
func (x *Execution) inside(p string) (rel string, inside bool) {
	return strings.CutPrefix(p, strings.TrimSuffix(x.Root, "/")+"/")
}

// contentOf returns the files in a directory that the command has made, or the directory if it is empty.
func (x *Execution) contentOf(dir string) (list []write) {
	entries, err := x.Tree.IgnoredNow(dir, x.area.Has)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if x.area.Has(e.Path) {
			list = append(list, write{Path: e.Path})
		}
	}
	if len(list) == 0 {
		return []write{{Path: dir}}
	}
	return list
}

// findOutputs adds what the command was observed to make to its outputs. If that may not be all, the result is
// unreliable: a hit would be without a file.
func (x *Execution) findOutputs() error {
	t := x.Ev.Task
	if !t.FindsOutputs() {
		return nil
	}
	x.found, x.tops = make(map[string]bool), make(map[string]bool)
	if x.blind = x.Used == nil || len(x.Used.Unseen) > 0; x.blind {
		why := "it was not"
		if x.Used != nil {
			why = x.Used.Unseen[0]
		}
		x.doubt("its outputs are observed, and "+why, `list its outputs in place of outputs = "observed"`)
	}
	for _, f := range x.writes() {
		last := x.Last.Made(f.Path)
		switch {
		case x.set.Match(f.Path):
		case x.Others(f.Path):
			x.doubt(sharedOutput(f.Path))
		case f.Kept && !(last && t.Incremental):
			x.doubt(fmt.Sprintf("it changes %q, which it did not make", f.Path), "remove the file if the task makes it, or name it in leaves if nothing needs it")
		default:
			x.find(f.Path)
		}
	}
	if t.Incremental {
		for _, p := range x.Last.Outputs {
			if _, err := x.Tree.Stat(p); err == nil && x.area.Has(p) {
				x.find(p)
			}
		}
	}
	if x.blind {
		return nil
	}
	return x.doubtStrays()
}

// Shared makes the result unreliable if others, which is as Others after the command, reports an observed output: a task
// that ran at the same time has made it, too.
func (x *Execution) Shared(others func(path string) bool) {
	for _, p := range slices.Sorted(maps.Keys(x.found)) {
		if others(p) {
			x.refuse(sharedOutput(p))
			return
		}
	}
}

func sharedOutput(p string) (why, hint string) {
	return fmt.Sprintf("it writes %q, which another task of its dish makes", p), "let one task make the file, or name it in leaves"
}

func (x *Execution) find(p string) {
	x.found[p], x.tops[x.area.Top(p)] = true, true
	x.made = append(x.made, p)
}

// doubt makes the result unreliable.
func (x *Execution) doubt(why, hint string) {
	if x.Unsure == "" {
		x.Unsure, x.Hint = why, hint
	}
}

// doubtStrays makes the result unreliable if the command has left files that are no outputs because of their place.
func (x *Execution) doubtStrays() error {
	covered, err := x.covered()
	if err != nil {
		return err
	}
	for i := range x.Used.Files {
		f := &x.Used.Files[i]
		p, inside := x.inside(f.Path)
		if !inside || f.Use&action.Write == 0 || key.IsOwn(p) || inGit(p) || x.area.Has(p) || x.Tree.MayTrack(p) {
			continue
		}
		e, err := x.Tree.Stat(p)
		if err != nil || e.Kind == tree.Dir || slices.ContainsFunc(strings.Split(p, "/"), isCache) {
			continue
		}
		ignored, own := x.Tree.Ignored(p, false), x.isOwnDish(p)
		switch {
		case ignored && own, covered(p): // left out of the area on purpose, or declared
		case !ignored && f.Absent && own:
			x.doubt(fmt.Sprintf("it makes %q, which git does not ignore", p), "let git ignore it, or list the outputs of the task")
		case ignored:
			x.doubt(fmt.Sprintf("it makes %q, outside of its dish", p), "name it in workspace_outputs")
		}
	}
	return nil
}

func (x *Execution) isOwnDish(p string) bool {
	owner := x.Plan.Workspace.Owner(p)
	return owner != nil && owner.Path == x.Ev.Task.Dish.Path
}

// isFound reports whether p is an observed output of the task, of this execution or the last one, or is missing where
// there are some.
func (x *Execution) isFound(p string) bool {
	if !x.area.Has(p) || x.Others(p) {
		return false
	}
	if x.found[p] || x.Last.Made(p) {
		return true
	}
	_, err := x.Tree.Stat(p)
	return err != nil && x.tops[x.area.Top(path.Clean(p))]
}
