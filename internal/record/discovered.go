package record

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
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
	if x.Unseen = x.Last.Unseen; x.Ev.Task.FindsInputs() && x.Unsure == "" {
		x.Unseen = whyUnseen(used)
	}
	if used == nil || x.Unsure != "" { // what an unreliable execution used counts as little as its result
		x.Discovered, x.Reads = x.Ev.Discovered, x.Last.Reads
		return
	}
	x.Complete = len(used.Unseen) == 0
	x.discover()
	most := key.MaxDiscovered
	if x.finds() {
		most = key.MaxFound
	}
	if len(x.Discovered) > most && x.finds() {
		x.Unseen = fmt.Sprintf("it uses more than %d files", most)
		x.discover()
		most = key.MaxDiscovered
	}
	if len(x.Discovered) > most {
		x.Discovered = nil
		x.refuse(fmt.Sprintf("it uses more than %d files that it does not declare", key.MaxDiscovered), "name them in inputs, as a directory")
	}
}

// whyUnseen returns the reason why not all that a command used is known, "" if it is.
func whyUnseen(used *action.Used) string {
	switch {
	case used == nil:
		return "it was executed without being observed"
	case len(used.Unseen) > 0:
		return used.Unseen[0]
	case len(used.Servers) > 0:
		return used.Servers[0]
	}
	for _, f := range used.Files {
		if f.Use&action.Read != 0 && !f.Absent && ofGit(f.Path) {
			return gitReads
		}
	}
	if slices.ContainsFunc(used.Outside, ofGit) {
		return gitReads
	}
	return ""
}

// gitReads is whyUnseen for a task that may have used content of files out of the repository.
const gitReads = "it reads the repository of git, which has all of them"

// ofGit reports whether a file holds what git has recorded: all in .git but settings.
func ofGit(p string) bool {
	_, in, is := strings.Cut(p, "/.git/")
	return is && in != "config" && !strings.HasPrefix(in, "info/") || path.Base(p) == ".git"
}

// finds reports whether the result has conditions in place of the content of the task's inputs.
func (x *Execution) finds() bool {
	return x.Used != nil && x.Unseen == "" && x.Ev.Task.FindsInputs() && x.Files.MayFindInputs(x.Ev.Task)
}

// discover sets Discovered and Reads from what the command used.
func (x *Execution) discover() {
	x.Discovered, x.Reads = nil, nil
	if !x.Complete {
		x.Discovered, x.Reads = slices.Clone(x.Ev.Discovered), slices.Clone(x.Last.Reads) // it may have used these, too
	}
	used := x.Used
	d := x.newDiscoverer()
	for i := range used.Files {
		d.file(&used.Files[i])
	}
	d.keep()
	x.Reads = slices.Compact(slices.Sorted(slices.Values(x.Reads)))
	slices.SortFunc(x.Discovered, func(a, b key.Discovered) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Use, b.Use))
	})
	x.Discovered = x.withoutImplied(slices.Compact(x.Discovered), d)
}

// withoutImplied leaves out that a directory exists if a known or discovered file is in it, or the dish of the task.
func (x *Execution) withoutImplied(list []key.Discovered, d *discoverer) []key.Discovered {
	isPresence := func(d key.Discovered) bool { return d.Use == key.UsePresence }
	if !slices.ContainsFunc(list, isPresence) {
		return list
	}
	around := map[string]bool{".": true}
	add := func(p string) {
		for ; !around[p]; p = path.Dir(p) {
			around[p] = true
		}
	}
	add(x.Ev.Task.Dish.Path)
	for _, files := range []map[string]bool{d.known, d.named} {
		for p := range files {
			add(path.Dir(p))
		}
	}
	for _, d := range list {
		if e, err := x.Tree.Stat(d.Path); err == nil && d.Use == key.UseContent {
			add(path.Dir(d.Path))
		} else if err == nil && d.Use == key.UseNames && e.Kind == tree.Dir {
			add(d.Path)
		}
	}
	return slices.DeleteFunc(list, func(d key.Discovered) bool { return isPresence(d) && around[d.Path] })
}

// discovered reports whether the command may have used d: it was not observed as a whole, or has used it.
func (x *Execution) discovered(d key.Discovered) bool {
	return !x.Complete || slices.Contains(x.Discovered, d)
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

// knownFiles returns the files whose content is in the key, and those whose names alone are, as in the key of a task
// with observed inputs.
func (x *Execution) knownFiles(finds bool) (known, named map[string]bool) {
	known, named = make(map[string]bool, len(x.Ev.Entries)), make(map[string]bool)
	add := func(list []tree.Entry, keeps func(p string) bool) {
		for i := range list {
			if p := list[i].Path; !finds || keeps(p) {
				known[p] = true
			} else {
				named[p] = true
			}
		}
	}
	never := func(string) bool { return false }
	add(x.Ev.Entries, func(p string) bool { return x.Files.Keeps(x.Ev.Task, p) })
	add(x.Ev.Lock, func(string) bool { return true })
	add(x.Ev.Targets, never)
	x.Ev.EachSources(make(key.Seen), func(s key.DishSources) {
		add(s.Files, func(p string) bool { return x.Files.KeepsOf(s.Dish, p) })
		add(s.Targets, never)
	})
	for _, u := range x.Upstream {
		for i := range u.Outputs {
			known[u.Outputs[i].Path] = true
		}
	}
	return known, named
}

// discoverer finds the discovered inputs of an execution.
type discoverer struct {
	*Execution
	known map[string]bool // the files whose content is in the key
	named map[string]bool // further files whose names are
	homes []string        // see homesOf
	made  *tree.Set       // its outputs, and what it leaves
}

func (x *Execution) newDiscoverer() *discoverer {
	made, _ := key.MadeSet(x.Ev.Task) // an invalid glob was refused before anything ran
	known, named := x.knownFiles(x.finds())
	return &discoverer{Execution: x, known: known, named: named, homes: x.homesOf(x.Ev.Task), made: made}
}

// file adds a file that the command used, unless the key holds it in another way.
func (x *discoverer) file(f *action.UsedFile) {
	p, inside := strings.CutPrefix(f.Path, strings.TrimSuffix(x.Root, "/")+"/")
	if inside && x.named[p] && !x.known[p] {
		if f.Use&(action.Write|action.Remove) != 0 || x.isInput(p) || !x.writtenSince(p) { // the other inputs are checked later
			x.Discovered = append(x.Discovered, key.Discovered{Path: p, Use: key.UseContent}) // whatever it did with it: its key has no content
		}
		return
	}
	use := useOf(f)
	maker, derived := x.Files.Maker(p)
	if use == key.UsePresence && !f.Absent && (maker == nil || x.Tree.MayTrack(p)) && x.isFile(p) {
		use = key.UseContent // a tool that keeps state looks at the times of a file to know its content
	}
	at := p // for a directory, any file in it
	if use != key.UseContent && !f.Absent {
		at = path.Join(p, "x")
	}
	if !inside || use == 0 || key.IsOwn(p) || inGit(p) || x.isOwn(p) || x.isOwn(at) || use == key.UsePresence && x.isAroundOutputs(p) {
		return
	}
	if f.Use&action.Read != 0 && maker != nil && maker != x.Ev.Task && use == key.UseContent && !f.Absent && !x.Tree.MayTrack(p) {
		x.read(p, maker)
	}
	if x.known[p] || (f.Absent || use != key.UseContent) && (x.Files.Covers(x.Ev.Task, at) || use != key.UseNames && x.Files.Covers(x.Ev.Task, p)) {
		return // it is an input, or would be one
	}
	if other, below := x.Files.Maker(at); at != p {
		if (other != nil || x.isIgnoredDir(p)) && !x.Tree.TracksBelow(p) {
			return // tasks make and remove this directory
		}
		derived = derived || below
	}
	switch {
	case derived && !x.Tree.MayTrack(p) && !x.isMadeOfInputs(p):
		return // an install or a tool has made it
	case maker == nil || x.Tree.MayTrack(p) || maker == x.Ev.Task:
	case use == key.UseContent && !f.Absent:
		if !x.dependsOn(maker) {
			return // see read
		}
	case use == key.UseNames, x.dependsOn(maker):
		return // its outputs are in the key, and with them their absence
	}
	if !f.Absent && f.Use&action.Read != 0 && use == key.UseContent && x.writtenSince(p) {
		return
	}
	x.Discovered = append(x.Discovered, key.Discovered{Path: p, Use: use})
}

// keep keeps what earlier executions of the same command discovered and read: a tool that has a cache need not look at
// a file again.
func (x *discoverer) keep() {
	if x.Last.Basis != x.Ev.Basis() && x.Last.Basis != (cache.Digest{}) {
		return
	}
	x.Reads = append(x.Reads, x.Last.Reads...)
	changed := make(map[string]bool)
	for _, f := range x.Used.Files {
		if f.Use&(action.Write|action.Remove) != 0 {
			changed[strings.TrimPrefix(f.Path, strings.TrimSuffix(x.Root, "/")+"/")] = true
		}
	}
	for _, d := range x.Ev.Discovered {
		maker, derived := x.Files.Maker(d.Path)
		made := (maker != nil || derived && !x.isMadeOfInputs(d.Path)) && !x.Tree.MayTrack(d.Path)
		if x.named[d.Path] || !x.known[d.Path] && !changed[d.Path] && !made && !x.isOwn(d.Path) && len(x.Discovered) < key.MaxDiscovered {
			x.Discovered = append(x.Discovered, d)
		}
	}
}

// isMadeOfInputs reports whether a tool may have made p of inputs that the key of the task has only by name, such as a
// program in Cargo's target. Packages are in the key by their lockfile.
func (x *discoverer) isMadeOfInputs(p string) bool {
	return x.finds() && !slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool { return name == "vendor" || isCache(name) })
}

// isInput reports whether p is among the inputs of the task itself.
func (x *discoverer) isInput(p string) bool {
	_, is := slices.BinarySearchFunc(x.Ev.Entries, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	return is
}

func (x *discoverer) isFile(p string) bool {
	e, err := x.Tree.Stat(p)
	return err == nil && e.Kind == tree.File
}

// isIgnoredDir reports whether p is a directory that git ignores.
func (x *discoverer) isIgnoredDir(p string) bool {
	e, err := x.Tree.Stat(p)
	return err == nil && e.Kind == tree.Dir && x.Tree.Ignored(p, true)
}

func (x *discoverer) dependsOn(maker *plan.Task) bool {
	return x.Ev.Task.Declares(maker) || slices.ContainsFunc(x.Upstream, func(u *Upstream) bool { return u.Task == maker })
}

// read notes that the command has read p, an output of maker. Unless maker runs before it, the result is
// unreliable: nothing says that the file was there in time.
func (x *discoverer) read(p string, maker *plan.Task) {
	t := x.Ev.Task
	switch {
	case t.Declares(maker), x.known[p] && t.Follows(maker):
		return
	case isIgnoreFile(p): // it says which files beside it to look at, and these are noted themselves
		return
	}
	closes := maker.Needs(t)
	if !closes && maker.MayBeRead() {
		x.Reads = append(x.Reads, maker.Place())
	}
	switch {
	case x.dependsOn(maker) || x.known[p]:
	case closes:
		x.refuse(fmt.Sprintf("it reads %q, an output of %s, which needs %s itself", p, maker.ID(), t.ID()), "let another task make the file, or read it in another task")
	default:
		x.refuse(fmt.Sprintf("it reads %q, an output of %s, which need not run before it", p, maker.ID()),
			fmt.Sprintf("here %s runs first from now on; add depends_on = [%q] to %s for other checkouts", maker.ID(), dependencyOn(t, maker), t.ID()))
	}
}

// isOwn reports whether p is no condition whatever it holds: an output of the task, excluded from its inputs, in a home
// of the user, or, where git ignores it, what tools and the task keep from one execution to the next.
func (x *discoverer) isOwn(p string) bool {
	t := x.Ev.Task
	switch {
	case x.made != nil && x.made.Match(p) || x.isFound(p) || x.Files.Excludes(t, p):
		return true
	case x.Tree.MayTrack(p):
		return false
	case slices.ContainsFunc(x.homes, func(dir string) bool { return key.Inside(p, dir) }):
		return true
	case !x.Tree.Ignored(p, false) && !x.Tree.Ignored(p, true):
		return false
	}
	return slices.ContainsFunc(strings.Split(p, "/"), isCache) || slices.Contains(x.Last.Undeclared, p)
}

// isAroundOutputs reports whether p is a directory that the task needs for its own outputs, or for those that it may make:
// whether an earlier execution has left it decides nothing.
func (x *discoverer) isAroundOutputs(p string) bool {
	if x.made != nil && slices.ContainsFunc(x.made.Roots(), func(root string) bool { return key.Inside(root, p) }) {
		return true
	}
	return slices.ContainsFunc(x.Outputs, func(o cache.Output) bool { return o.Path != p && key.Inside(o.Path, p) })
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
	case f.Use&action.Stat != 0:
		return key.UsePresence
	}
	return 0
}

// isIgnoreFile reports whether p tells tools that walk directories what to leave out.
func isIgnoreFile(p string) bool {
	base := path.Base(p)
	return base == ".gitignore" || base == ".ignore"
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
