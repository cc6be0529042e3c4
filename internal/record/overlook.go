package record

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
)

// Overlook returns what an observer does not note: what the programs of adapters.Finder look at of members of the
// workspace that the task does not use. It is nil where the adapter has no such programs. Nothing that is in the key only
// by its name is overlooked, and nothing that git looks at where there is such a file.
func (x *Execution) Overlook() *action.Overlook {
	o := x.overlookMembers()
	if !x.Ev.Task.FindsInputs() {
		return o
	}
	if o == nil {
		return &action.Overlook{SeesGit: true}
	}
	_, named := x.knownFiles(true)
	return &action.Overlook{SeesGit: true, Runs: o.Runs, At: func(dir string, f action.UsedFile, isDir bool) bool {
		p, inside := x.inside(f.Path)
		return !(inside && named[p]) && o.At(dir, f, isDir)
	}}
}

// overlookMembers is Overlook for a task whose declared inputs are in its key.
func (x *Execution) overlookMembers() *action.Overlook {
	d := x.Ev.Task.Dish
	if d.Adapter == nil || d.Adapter.Manifest().Finder == nil {
		return nil
	}
	o := overlooking{
		ws: x.Plan.Workspace, dish: d, cwd: filepath.Join(d.Dir, filepath.FromSlash(x.Ev.Task.Cwd)),
		linked: x.Linked, around: make(map[string]bool),
	}
	for _, other := range o.ws.Dishes {
		if other.Family() != d.Family() || key.Inside(other.Path, d.Path) {
			continue
		}
		for dir := range dish.Upwards(path.Dir(other.Path)) {
			if o.around[dir] {
				break
			}
			o.around[dir] = true
		}
	}
	return &action.Overlook{Runs: d.Adapter.Manifest().Finder.Runs, At: o.at}
}

// overlooking decides what is overlooked in an execution.
type overlooking struct {
	ws     *dish.Workspace
	dish   *dish.Dish
	cwd    string          // of the command, absolute
	linked []*dish.Dish    // the dishes whose sources are in the key
	around map[string]bool // the directories around members
}

// isOther reports whether d is a dish of the same family that the task does not use. Those inside of its dish and around
// it count as used: a task of the root may start tasks of the members.
func (o *overlooking) isOther(d *dish.Dish) bool {
	return d.Family() == o.dish.Family() && !key.Inside(d.Path, o.dish.Path) && !key.Inside(o.dish.Path, d.Path) && !slices.Contains(o.linked, d)
}

// at implements action.Overlook.At. A program that works in another member reads that one's manifest for itself.
func (o *overlooking) at(dir string, f action.UsedFile, isDir bool) bool {
	if dir != o.cwd {
		within, ok := o.ws.Relative(dir)
		if !ok || !key.Inside(within, o.dish.Path) || o.ws.Owner(within).Path != o.dish.Path {
			return false
		}
	}
	p, ok := o.ws.Relative(f.Path)
	if !ok || key.Inside(p, o.dish.Path) {
		return false
	}
	if isDir && o.around[p] {
		return true
	}
	owner := o.ws.Owner(p)
	if owner == nil || !o.isOther(owner) {
		return false
	}
	return isDir || path.Dir(p) == owner.Path && isOne(owner.Adapter.Manifest().Projects, p) || (f.Absent || f.Use&action.Read == 0) && isOne(o.dish.Adapter.Manifest().Finder.Looks, p)
}

// isOne reports whether the last name of a path matches a pattern.
func isOne(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, path.Base(p))
		return ok && err == nil
	})
}
