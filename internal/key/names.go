package key

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// A task with observed inputs has the names of its inputs in its key, and of their content what its executions were
// observed to use: these files are among its discovered inputs. So a result is one of an execution that was observed
// as a whole. Where that is impossible, the inputs count as those of other tasks do.

// Names of the ingredients with the names of the inputs and with the files that were read, of a task with observed
// inputs.
const (
	namesName = "names of inputs"
	readName  = "files read"
)

// WhyDeclared returns the reason why the whole content of the inputs of t is in its key although they are to be
// observed, in words; "" if it is not, or if they are not to be observed.
func (f Files) WhyDeclared(t *plan.Task) string {
	if !t.FindsInputs() {
		return ""
	}
	return cmp.Or(f.e.o.Unobserved, f.readByInstall(t), f.e.history.Of(t).Unseen)
}

// MayFindInputs reports whether the key of t has only the names of its inputs once an execution was observed as a whole.
func (f Files) MayFindInputs(t *plan.Task) bool {
	return t.FindsInputs() && f.e.o.Unobserved == "" && f.readByInstall(t) == ""
}

// FindsInputs reports whether the key of t has only the names of its inputs.
func (f Files) FindsInputs(t *plan.Task) bool { return t.FindsInputs() && f.WhyDeclared(t) == "" }

// readByInstall is WhyDeclared for installs: what they make of the files of the workspace is no condition of a result,
// so these files are.
func (f Files) readByInstall(t *plan.Task) string {
	for _, d := range append(f.Linked(t), t.Dish) {
		if d.Adapter == nil || d.Scope.Nothing || !d.Adapter.Manifest().Capabilities.Install || d == t.Dish && t.NoInstall {
			continue
		}
		if len(d.Scope.Copied) > 0 || len(d.Scope.Files) == 0 {
			return fmt.Sprintf("the install of %s uses files of the workspace", d.Name)
		}
	}
	return ""
}

// Keeps reports whether the content of p, an input of t, is in the key of t also if its inputs are observed: it decides
// about an install, it is an output of t, bento itself reads it for t, or the tool of the dish may miss a change.
func (f Files) Keeps(t *plan.Task, p string) bool {
	globs, err := f.e.globs(t)
	isEnv := func(file dish.EnvFile) bool { return path.Join(t.Dish.Path, file.Path) == p }
	return err != nil || f.KeepsOf(t.Dish, p) || slices.ContainsFunc(t.EnvFiles, isEnv) || globs.Makes(p) || slices.Contains(f.e.history.Of(t).Found, p)
}

// KeepsOf is Keeps for a source of a linked dish.
func (f Files) KeepsOf(d *dish.Dish, p string) bool {
	if d.Adapter == nil {
		return false
	}
	if s, ok := d.Adapter.(adapters.Stamper); ok && s.IsStamped(p) {
		return true
	}
	set, known := f.e.manifests[d]
	if !known {
		set, _ = tree.CompileSet(d.Path, d.Adapter.Manifest().FingerprintFiles) // nil for an invalid glob, which the tasks of d have, too
		f.e.manifests[d] = set
	}
	return set == nil || set.Match(p) || slices.Contains(d.Scope.Files, filepath.Join(f.e.o.Root, filepath.FromSlash(p)))
}

// addNames is addInputs for a task with observed inputs.
func (e *Evaluator) addNames(b *builder, ev *Evaluation) error {
	if ev.loaded {
		if err := e.loadInputs(ev); err != nil {
			return err
		}
	} else {
		entries, err := e.inputsOf(ev.Task)
		if err != nil {
			return err
		}
		entries, _, ev.locks = e.lockfiles.Take(ev.Task.Dish, ev.Task, entries)
		if err := e.nameInputs(ev, entries); err != nil {
			return err
		}
	}
	for _, l := range ev.locks {
		b.Lock(l.Path, l.Digest)
	}
	b.Files(namesName, ev.names.Digest())
	return nil
}

func (e *Evaluator) nameInputs(ev *Evaluation, entries []tree.Entry) (err error) {
	ev.names, err = e.files.Names(entries, func(p string) bool { return Files{e}.Keeps(ev.Task, p) })
	return err
}

// Names returns entries without their content, but with that of those that keep reports. For an unreadable file the
// error is a diagnostics.Problems.
func (c *fileReader) Names(entries []tree.Entry, keep func(p string) bool) (fileSet, error) {
	set := make(fileSet, 0, len(entries))
	for _, entry := range entries {
		f, err := File{Path: entry.Path, Exec: entry.Kind == tree.File && Executable(entry.Mode)}, error(nil)
		switch {
		case entry.Kind == tree.Special:
			continue
		case keep(entry.Path):
			f, err = c.file(entry)
		case entry.Kind == tree.Link:
			if f.Target, err = c.Tree.Readlink(entry); err != nil {
				err = unreadable(entry.Path, err)
			}
		}
		if err != nil {
			return nil, err
		}
		set = append(set, f)
	}
	return set, nil
}

// namesOf returns the digest of the names of the sources of a set, as its digest is that of their content.
func (e *Evaluator) namesOf(s *sourceSet) (cache.Digest, error) {
	if s.names != (cache.Digest{}) {
		return s.names, nil
	}
	b := e.builders.New()
	for _, member := range s.circle.Dishes {
		entries, _, locks := e.lockfiles.Take(member, nil, e.lockfiles.With(member, e.ownerships[member].Load(e.tree)))
		for _, l := range locks {
			b.Lock(l.Path, l.Digest)
		}
		set, err := e.files.Names(entries, func(p string) bool { return Files{e}.KeepsOf(member, p) })
		if err != nil {
			return cache.Digest{}, err
		}
		b.Files(member.Path, s.named.Add(set.Encode()))
	}
	for _, l := range s.circle.Links {
		next := e.sourcesOf(l, false)
		if next.err != nil {
			return cache.Digest{}, next.err
		}
		digest, err := e.namesOf(next)
		if err != nil {
			return cache.Digest{}, err
		}
		b.Sources(l.Path, digest)
	}
	s.names = s.named.Add(encodeIngredients(b.Ingredients()))
	return s.names, nil
}

// Unread returns the inputs of ev, of a task with observed inputs, whose content its key does not hold.
func (ev *Evaluation) Unread() (paths []string) {
	if !ev.FindsInputs {
		return nil
	}
	read := make(map[string]bool, len(ev.Discovered))
	for _, d := range ev.Discovered {
		read[d.Path] = true
	}
	for i := range ev.names {
		if f := &ev.names[i]; !read[f.Path] && f.Sum == (cache.Digest{}) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
