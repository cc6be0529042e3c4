package record

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Access lists the files of the workspace that a command has read, and those that it has written. The lists are
// made by looks at a few places before and after the command, which know of a file there only whether it has
// changed: an unchanged one may have been read.
type Access struct {
	Read    []File // unchanged since the command began
	Written []File // made, changed or removed since then
}

// File is a file or link that a command has read or written.
type File struct {
	tree.Entry // as it is after the command, without a Kind if it was removed
	At         place
	New        bool // it did not exist before the command
	Extra      bool // it existed before, and the key of the command should hold it, but does not
}

// place is what the task declares of the path of a file.
type place int

const (
	atOutput   place = iota // an output covers it
	atIgnored               // git ignores it, in the dish of the task or in a directory that its command names
	atSibling               // an output of another task of the dish covers it, and the task did not make it
	atUpstream              // the same, for a task of another dish
	atInput                 // it is a directory around inputs
)

// looks are the files that lay at the places before the command.
type looks struct {
	outputs map[string]tree.Entry // by path; nil if the task keeps them
	ignored map[string]tree.Entry // by path
	beside  []File                // at the outputs of Upstream, by path
	shared  []*listing            // by index of Upstream: the listing to check later; nil for none
	moves   *movesSpan            // since the look; nil if no directory is watched
}

// look looks at all places before the command. The outputs of the last run are removed afterwards.
func (x *Execution) look() error {
	x.before.moves = x.watchDirs()
	ignored, err := x.ignoredNow()
	if err != nil {
		return err
	}
	x.before.ignored = byPath(ignored)
	return x.lookBeside()
}

// lookAtOutputs looks at the outputs of the task before the command, and removes those that are empty directories.
func (x *Execution) lookAtOutputs() error {
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

// lookBeside looks at the outputs of dependencies before the command, for files that are not in its key: they are
// no outputs of other dependencies, no inputs, and no outputs of the task.
func (x *Execution) lookBeside() error {
	x.before.shared = make([]*listing, len(x.Upstream))
	var list []File
	for i, u := range x.Upstream {
		if u.isExact() {
			continue
		}
		l, shared, err := x.at(u.Task)
		if err != nil {
			return err
		}
		if shared {
			x.before.shared[i] = l
		}
		for _, e := range x.besides(u, l) {
			if now, err := x.Tree.Stat(e.Path); err == nil {
				e = now // the listing may be older than the last write
			}
			f := File{Entry: e, At: x.beside(u)}
			f.Extra = f.At == atUpstream || !x.isByProduct(e)
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.At, b.At))
	})
	for _, f := range list {
		if last := len(x.before.beside) - 1; last >= 0 && x.before.beside[last].Path == f.Path {
			x.before.beside[last].Extra = x.before.beside[last].Extra || f.Extra
		} else {
			x.before.beside = append(x.before.beside, f)
		}
	}
	return nil
}

// beside returns the place of files beside the outputs of u.
func (x *Execution) beside(u *Upstream) place {
	if u.Task.Dish == x.Ev.Task.Dish {
		return atSibling
	}
	return atUpstream
}

// besides returns the files beside the outputs of u that are not in the key of the execution.
func (x *Execution) besides(u *Upstream, l *listing) (list []tree.Entry) {
	for _, e := range l.entries {
		if !u.names(e.Path) && !key.IsOwn(e.Path) && !x.Tree.Tracked(e.Path) && !x.inKey(e.Path) {
			list = append(list, e)
		}
	}
	return list
}

// inKey reports whether the key includes the file at p, or the task makes it.
func (x *Execution) inKey(p string) bool {
	if x.set != nil && x.set.Match(p) {
		return true
	}
	if slices.Contains(x.Last.Found, p) {
		return false // it is in the key only while it is found again
	}
	is := func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) }
	if _, input := slices.BinarySearchFunc(x.Ev.Entries, p, is); input {
		return true
	}
	return slices.ContainsFunc(x.Upstream, func(u *Upstream) bool { return u.names(p) || slices.Contains(u.Found, p) })
}

// isByProduct reports whether the task itself or a later task of its dish has left a file, which has not changed
// since. A task leaves such files only in its own dish, where tasks run one after another.
func (x *Execution) isByProduct(e tree.Entry) bool {
	return slices.ContainsFunc(x.Last.ByProducts, func(b key.ByProduct) bool { return b.Path == e.Path && x.has(e, b.Sum) }) || x.leftByOthers(e)
}

// has reports whether a file has that content.
func (x *Execution) has(e tree.Entry, content [32]byte) bool {
	sum, err := x.Tree.Index().Sum(e)
	return err == nil && sum == content
}

// leftByOthers reports whether another task of the dish has left a file, which has not changed since.
func (x *Execution) leftByOthers(e tree.Entry) bool {
	content, left := x.LeftByOthers[e.Path]
	return left && e.Kind == tree.File && x.has(e, content)
}

// compareBeside adds the files beside the outputs of dependencies.
func (x *Execution) compareBeside(a *Access) {
	for _, f := range x.before.beside {
		then := f.Entry
		now, err := x.Tree.Stat(then.Path)
		if err == nil && !touched(then, now) {
			a.Read = append(a.Read, f)
			continue
		}
		if f.Entry = now; err != nil {
			f.Entry = tree.Entry{Path: then.Path}
		}
		a.Written = append(a.Written, f)
	}
	for i, u := range x.Upstream {
		if !u.isExact() {
			x.compareNew(a, i, u)
		}
	}
}

// compareNew adds the new files beside the outputs of u. A shared listing is checked later, unless another task
// may write there by now.
func (x *Execution) compareNew(a *Access, i int, u *Upstream) {
	l, at := x.before.shared[i], x.beside(u)
	if at == atUpstream && l != nil {
		if !x.isClosed(l) {
			return
		}
		if !l.verdict() {
			a.Written = append(a.Written, File{Entry: tree.Entry{Path: l.dirs[0].Path, Kind: tree.Dir}, At: at})
			return
		}
	}
	now, shared, err := x.at(u.Task)
	if err != nil {
		return // the next execution finds the error
	}
	if at == atUpstream {
		if x.before.shared[i] = nil; shared {
			x.before.shared[i] = now
		}
	}
	for _, e := range x.newBeside(u, now) {
		a.Written = append(a.Written, File{Entry: e, At: at, New: true})
	}
}

// newBeside returns the files beside the outputs of u that did not exist before the command.
func (x *Execution) newBeside(u *Upstream, now *listing) []tree.Entry {
	return slices.DeleteFunc(x.besides(u, now), func(e tree.Entry) bool {
		_, had := slices.BinarySearchFunc(x.before.beside, e.Path, func(f File, p string) int { return strings.Compare(f.Path, p) })
		return had
	})
}

// caches are names of directories and files in which tools keep downloads and caches.
var caches = [...]string{
	"node_modules", ".venv", "venv", ".bundle", ".yarn", ".pnpm-store", ".gradle", ".tox", ".nox", "__pycache__", "__pypackages__",
	".cache", ".parcel-cache", ".turbo", ".nx", ".wireit", ".moon", ".eslintcache", ".stylelintcache", ".mypy_cache", ".pytest_cache",
	".ruff_cache", ".hypothesis", ".phpunit.cache", ".swc", ".vite", ".angular", ".DS_Store", ".idea", ".vscode", ".git", ".bento",
}

// isCache reports whether files of this name are caches or logs of tools.
func isCache(p string) bool {
	name := path.Base(p)
	if slices.Contains(caches[:], name) {
		return true
	}
	for _, end := range [...]string{".tsbuildinfo", ".pyc", ".cache", ".log"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, "cache")
}

// ignoredNow returns the ignored files where the task may leave some, as plan.Task.MayLeaveUndeclared decides.
func (x *Execution) ignoredNow() ([]tree.Entry, error) {
	t := x.Ev.Task
	if !t.MayLeaveUndeclared() {
		return nil, nil
	}
	var all []tree.Entry
	for _, dir := range append([]string{t.Dish.Path}, t.Near...) {
		list, err := x.Tree.IgnoredNow(dir, func(dir string) bool { return !isCache(dir) && !key.IsOwn(dir) && !x.isTagged(dir) })
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return slices.DeleteFunc(all, func(e tree.Entry) bool {
		return isCache(e.Path) || key.IsOwn(e.Path) || belongsInside(t, x.Dishes, e.Path)
	}), nil
}

// belongsInside reports whether p belongs to a dish inside that of t, whose tasks may run at the
// same time. Only the tasks of a workspace's root make files of their members.
func belongsInside(t *plan.Task, dishes []*dish.Dish, p string) bool {
	return t.Root == nil && slices.ContainsFunc(dishes, func(d *dish.Dish) bool {
		return len(d.Path) > len(t.Dish.Path) && key.Inside(d.Path, t.Dish.Path) && key.Inside(p, d.Path) && d.Path != t.Dish.Path
	})
}

// isTagged reports whether an ignored directory has the tag of a cache
// (https://bford.info/cachedir/), or is one of bento's.
func (x *Execution) isTagged(dir string) bool {
	if !x.Tree.Ignored(dir, true) {
		return false
	}
	for _, tag := range []string{"CACHEDIR.TAG", "made-by-bento"} {
		if e, err := x.Tree.Stat(path.Join(dir, tag)); err == nil && e.Kind == tree.File {
			return true
		}
	}
	return false
}
