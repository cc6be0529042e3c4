package record

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Discover sets Discovered: what the command used beyond the inputs in its key. An output of another task that
// the task does not depend on makes the result unreliable: nothing says that it was there in time. It is for
// the goroutine of the Evaluator.
func (x *Execution) Discover() {
	used := x.Used
	if used == nil {
		x.Discovered = x.Ev.Discovered
		return
	}
	x.Complete = len(used.Unseen) == 0
	if !x.Complete {
		x.Discovered = slices.Clone(x.Ev.Discovered) // it may have used these, too
	}
	known := x.knownFiles()
	for i := range used.Files {
		x.discoverFile(&used.Files[i], known)
	}
	slices.SortFunc(x.Discovered, func(a, b key.Discovered) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Use, b.Use))
	})
	x.Discovered = slices.Compact(x.Discovered)
	if len(x.Discovered) > key.MaxDiscovered {
		x.Discovered = nil
		x.refuse(fmt.Sprintf("it uses more than %d files that it does not declare", key.MaxDiscovered), "name them in inputs, as a directory")
	}
}

// refuse makes the result one that is not stored.
func (x *Execution) refuse(why, hint string) {
	if x.Unsure != "" {
		return
	}
	x.Unsure, x.Hint = why, hint
	if x.record != nil {
		x.record = nil
		x.notStored("not_stored", why, hint)
	}
}

// knownFiles returns the files whose content is in the key.
func (x *Execution) knownFiles() map[string]bool {
	known := make(map[string]bool, len(x.Ev.Entries))
	add := func(list []tree.Entry) {
		for i := range list {
			known[list[i].Path] = true
		}
	}
	add(x.Ev.Entries)
	add(x.Ev.Lock)
	add(x.Ev.Targets)
	x.Ev.EachSources(make(key.Seen), func(s key.DishSources) {
		add(s.Files)
		add(s.Targets)
	})
	for _, u := range x.Upstream {
		for i := range u.Outputs {
			known[u.Outputs[i].Path] = true
		}
	}
	return known
}

// discoverFile adds a file that the command used, unless the key holds it in another way.
func (x *Execution) discoverFile(f *action.UsedFile, known map[string]bool) {
	p, inside := strings.CutPrefix(f.Path, strings.TrimSuffix(x.Root, "/")+"/")
	use := useOf(f)
	if !inside || use == 0 || known[p] || key.IsOwn(p) || inGit(p) || x.set != nil && x.set.Match(p) {
		return
	}
	if f.Absent || use == key.UseNames {
		if x.Files.Covers(x.Ev.Task, path.Join(p, "x")) && use == key.UseNames || use != key.UseNames && x.Files.Covers(x.Ev.Task, p) {
			return // a new file there is an input
		}
	}
	maker, derived := x.Files.Maker(p)
	switch {
	case derived && !x.Tree.MayTrack(p):
		return // an install or a tool has made it
	case maker == nil || x.Tree.MayTrack(p) || maker == x.Ev.Task:
	case slices.ContainsFunc(x.Upstream, func(u *Upstream) bool { return u.Task == maker }):
		if use != key.UseContent || f.Absent {
			return // its outputs are in the key, and with them their absence
		}
	case use == key.UseContent && !f.Absent:
		x.refuse(fmt.Sprintf("it reads %q, an output of %s, which need not run before it", p, maker.ID()),
			fmt.Sprintf("add depends_on = [%q] to %s", dependencyOn(x.Ev.Task, maker), x.Ev.Task.ID()))
		return
	case use == key.UseNames:
		return
	}
	if !f.Absent && use == key.UseContent && x.writtenSince(p) {
		return
	}
	x.Discovered = append(x.Discovered, key.Discovered{Path: p, Use: use})
}

// writtenSince reports whether a file was written while the command ran, which makes the result unreliable.
func (x *Execution) writtenSince(p string) bool {
	e, err := x.Tree.Stat(p)
	if err != nil || e.Kind != tree.File || max(e.Mtime, e.Ctime) < x.Used.Began.UnixNano() {
		return false
	}
	x.refuse(fmt.Sprintf("it reads %q, which was written while it ran", p), "run it again; if a task makes the file, declare it there as an output")
	return true
}

// useOf returns what of a path is a condition of the result, 0 for nothing. What the command wrote is no
// condition, and what it read and wrote is its own state.
func useOf(f *action.UsedFile) key.Use {
	switch {
	case f.Use&(action.Write|action.Remove) != 0:
		return 0
	case f.Use&action.List != 0 && !f.Absent:
		return key.UseNames
	case f.Use&action.Read != 0:
		return key.UseContent
	case f.Absent:
		return key.UsePresence
	}
	return 0
}

// inGit reports whether p is a file of git's own.
func inGit(p string) bool {
	return strings.HasPrefix(p, ".git/") || strings.Contains(p, "/.git/") || path.Base(p) == ".git"
}

// dependencyOn returns maker as depends_on of t names it.
func dependencyOn(t, maker *plan.Task) string {
	if t.Dish == maker.Dish {
		return maker.Name
	}
	return maker.ID()
}
