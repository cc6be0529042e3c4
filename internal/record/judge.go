package record

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// A stray is a file at the path of an output of a task that the result of the task does not name.
// A dependent may read it, but the key of the dependent does not include it. So the stray becomes
// an input of the dependent: it stays, and the result of the dependent is restored only beside the
// same file.

// Verdict is what the files that a command has read and written mean for its result.
type Verdict struct {
	Found []string // files at the paths of outputs that the task did not change
	// FreshStrays are the strays that the last good run did not have.
	FreshStrays []string
	// Undeclared are files that the command has left where git ignores them and no output covers them, by
	// path, together with those of an earlier run: a hit would not restore them.
	Undeclared []string
	// UpToDate are such files of a build that wrote nothing: an earlier build has made them, with or
	// without bento.
	UpToDate []string
	// Rewritten are the files beside the outputs of other tasks of its dish that the command has
	// written, by path. Beside are the new ones.
	Rewritten []key.ByProduct
	Beside    []string

	made    []string   // the paths of its outputs
	tracked []string   // those of made that git tracks, sorted
	strays  []string   // the strays, which are inputs
	changed difference // the first file that was touched although the task reads it
}

// judge compares what the command has read and written with what the task declares. The error is a
// *MissingError, or that of an invalid glob.
func (x *Execution) judge(a Access) error {
	if err := x.checkMade(a); err != nil {
		return err
	}
	covered, err := x.covered()
	if err != nil {
		return err
	}
	for i := range a.Written {
		switch f := &a.Written[i]; f.At {
		case atOutput:
			x.judgeOutput(f, true)
		case atIgnored:
			if !covered(f.Path) {
				x.Undeclared = append(x.Undeclared, f.Path)
			}
		case atSibling, atUpstream:
			x.judgeBeside(f)
		case atInput:
			x.change(difference{path: f.Path, equal: true})
		}
	}
	for i := range a.Read {
		switch f := &a.Read[i]; {
		case f.At == atOutput:
			x.judgeOutput(f, false)
		case f.At == atIgnored:
			if slices.Contains(x.Last.Undeclared, f.Path) && !covered(f.Path) {
				x.Undeclared = append(x.Undeclared, f.Path)
			}
		case f.Extra:
			if x.strays = append(x.strays, f.Path); !slices.Contains(x.Last.Found, f.Path) {
				x.FreshStrays = append(x.FreshStrays, f.Path)
			}
		default: // still a by-product
			x.rewrite(f)
		}
	}
	x.judgeUpToDate(a, covered)
	x.sortVerdict()
	return nil
}

// sortVerdict sorts the lists, each path once.
func (x *Execution) sortVerdict() {
	slices.SortFunc(x.Rewritten, func(a, b key.ByProduct) int { return strings.Compare(a.Path, b.Path) })
	x.Rewritten = slices.CompactFunc(x.Rewritten, func(a, b key.ByProduct) bool { return a.Path == b.Path })
	for _, list := range []*[]string{&x.Undeclared, &x.Beside, &x.made, &x.tracked} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	x.made = append(x.made, x.ownDirs(x.made)...)
}

// checkMade checks that every output that names a file is there, and warns of the others.
func (x *Execution) checkMade(a Access) error {
	t := x.Ev.Task
	if len(t.Outputs) == 0 {
		return nil
	}
	if link := x.behindLink(); link != "" && x.Unsure == "" {
		x.Unsure = fmt.Sprintf("outputs lie behind the link %q, and bento stores no files behind links", link)
		x.Hint = "name the directory that the link leads to in outputs or workspace_outputs, or make it a directory"
	}
	for _, i := range x.set.Set.Unmatched(a.outputs) {
		if _, plain := x.set.Plain(i); plain {
			return &MissingError{t.Outputs[i].Glob}
		}
		if !t.Outputs[i].Declared {
			continue // the patterns of recipes may match nothing
		}
		x.Warn("output_empty", t.ID()+": the output \""+t.Outputs[i].Glob+"\" matched nothing", "")
	}
	return nil
}

// outputs yields the paths of the files at outputs.
func (a *Access) outputs(yield func(string) bool) {
	for _, list := range [][]File{a.Written, a.Read} {
		for i := range list {
			if list[i].At == atOutput && !yield(list[i].Path) {
				return
			}
		}
	}
}

// behindLink returns the first link through which an output of the task would be reached, "" for none: the
// files behind it are neither found nor restored. A link that the task has made is an output itself.
func (x *Execution) behindLink() string {
	for p := range x.set.Patterns() {
		for i := range len(p.Prefix) {
			if at := i + 1; at < len(p.Prefix) && p.Prefix[at] != '/' {
				continue
			}
			dir := p.Prefix[:i+1]
			e, err := x.Tree.Stat(dir)
			if err != nil {
				break
			}
			if e.Kind != tree.Link {
				continue
			}
			_, before := x.before.outputs[dir]
			if dir == p.Prefix && p.Rest == "" && (!before || slices.Contains(x.Last.Outputs, dir)) {
				break
			}
			return dir
		}
	}
	return ""
}

// judgeOutput judges a file at the path of an output.
func (x *Execution) judgeOutput(f *File, written bool) {
	switch {
	case !f.New && key.IsOwn(f.Path):
		// Its values are ingredients of the key, and the task does not restore it.
	case x.Tree.Tracked(f.Path):
		// A source, and so an input even if an output covers it. If the command wrote it,
		// dependents see its content as an output.
		if !key.IsOwnFile(x.Ev.Task.Dish.Path, f.Path) && x.wrote(f.Entry) {
			x.made, x.tracked = append(x.made, f.Path), append(x.tracked, f.Path)
		}
	case written:
		x.made = append(x.made, f.Path)
	case f.Kind == tree.Dir || x.Others(f.Path) || x.leftByOthers(f.Entry):
		// An empty directory, or another task's output or by-product: not an output of this task.
	default:
		x.Found = append(x.Found, f.Path)
	}
}

// judgeBeside judges a file beside the outputs of a dependency that the command, or something else at the same
// time, has written. Files in its dish become its own, like by-products.
func (x *Execution) judgeBeside(f *File) {
	switch {
	case f.Extra:
		x.changed = cmp.Or(x.changed, difference{path: f.Path})
	case f.Kind == tree.Dir:
		x.changed = cmp.Or(x.changed, difference{path: f.Path, equal: true})
	case f.New && f.At == atUpstream:
		x.change(difference{path: f.Path})
	}
	switch {
	case f.At == atSibling && f.New && f.Kind == tree.File:
		x.Beside = append(x.Beside, f.Path)
		x.rewrite(f)
	case f.At == atSibling:
		x.rewrite(f)
	case f.Extra:
		x.strays = append(x.strays, f.Path)
	}
}

// rewrite adds a file to Rewritten.
func (x *Execution) rewrite(f *File) {
	if f.Kind != tree.File {
		return
	}
	if sum, err := x.Tree.Index().Sum(f.Entry); err == nil {
		x.Rewritten = append(x.Rewritten, key.ByProduct{Path: f.Path, Sum: sum})
	}
}

// change notes a file or directory that was touched, unless the task declares that.
func (x *Execution) change(d difference) {
	if !x.mayRewrite(d.path) {
		x.changed = cmp.Or(x.changed, d)
	}
}

// judgeUpToDate finds the files that a build that wrote nothing has made before.
func (x *Execution) judgeUpToDate(a Access, covered func(string) bool) {
	isWritten := func(f File) bool { return f.At == atIgnored }
	if len(x.made) > 0 || slices.ContainsFunc(a.Written, isWritten) || !x.Ev.Task.MayBeUpToDate() {
		return
	}
	for i := range a.Read {
		f := &a.Read[i]
		if dir := path.Dir(f.Path); f.At == atIgnored && dir != "." && x.Tree.Ignored(dir, true) && !covered(f.Path) && !slices.Contains(x.Undeclared, f.Path) {
			x.UpToDate = append(x.UpToDate, f.Path)
		}
	}
}

// AllFound returns the files among the outputs that the task has not made: Found and the strays.
func (x *Execution) AllFound() []string {
	all := slices.Concat(x.Found, x.strays)
	slices.Sort(all)
	return slices.Compact(all)
}
