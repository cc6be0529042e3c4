package evaluate

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
)

// fileSet gives the digests of entries. A file that cannot be read is an error.
func (e *Evaluator) fileSet(entries []tree.Entry) (fingerprint.FileSet, error) {
	fingerprint.Read(e.tree.Index(), entries)
	set := make(fingerprint.FileSet, 0, len(entries))
	for _, entry := range entries {
		f, err := e.file(entry)
		if err != nil {
			return nil, err
		}
		set = append(set, f)
	}
	return set, nil
}

func (e *Evaluator) file(entry tree.Entry) (fingerprint.File, error) {
	f := fingerprint.File{Path: entry.Path}
	switch entry.Kind {
	case tree.File:
		sum, err := e.tree.Index().Sum(entry)
		if err != nil {
			return f, unreadable(entry.Path, err)
		}
		f.Exec, f.Sum = fingerprint.Executable(entry.Mode), cache.Digest(sum)
		return f, nil
	case tree.Link:
		target, err := e.tree.Readlink(entry)
		if err != nil {
			return f, unreadable(entry.Path, err)
		}
		f.Target = target
		f.Sum, err = e.behind(entry, target)
		return f, err
	}
	return f, unreadable(entry.Path, fmt.Errorf("it is no regular file, directory or symbolic link"))
}

func unreadable(p string, err error) error {
	return diagnostics.Problems{{
		File: p, Severity: diagnostics.Error, Rule: "unreadable_input", Source: diagnostics.Source,
		Message: "an input cannot be read: " + err.Error(),
		Hint:    "make it readable, or take it out of the inputs with \"!//" + p + "\"",
	}}
}

// behind gives the digest of what a link leads to inside the workspace: a file, or
// the files of a directory. What lies outside is not looked at.
func (e *Evaluator) behind(link tree.Entry, target string) (cache.Digest, error) {
	p, ok, err := territory.Follow(e.tree, link)
	switch {
	case err != nil:
		return cache.Digest{}, unreadable(link.Path, err)
	case !ok:
		e.warn("link_outside", fmt.Sprintf("%q is an input that leads out of the workspace to %q: what is there does not count", link.Path, target),
			"copy it, or name what decides about it in the task's env")
		return cache.Digest{}, nil
	case p == "" || territory.Inside(link.Path, p):
		return cache.Digest{}, nil // a circle: what is there counts where it is
	}
	entry, ok := e.tree.Lookup(p)
	if !ok {
		return e.behindDir(p)
	}
	f, err := e.file(entry)
	if !f.Exec || err != nil {
		return f.Sum, err
	}
	return fingerprint.FileSet{{Exec: true, Sum: f.Sum}}.Digest(), nil
}

// behindDir gives the digest of the files below a directory. Links among them
// count by what they say alone, so that a loop ends.
func (e *Evaluator) behindDir(dir string) (cache.Digest, error) {
	var set fingerprint.FileSet
	for _, entry := range e.tree.Under(dir) {
		f := fingerprint.File{Path: entry.Path}
		if entry.Kind == tree.Link {
			target, err := e.tree.Readlink(entry)
			if err != nil {
				return cache.Digest{}, unreadable(entry.Path, err)
			}
			f.Target = target
		} else if file, err := e.file(entry); err == nil {
			f = file
		} else {
			return cache.Digest{}, err
		}
		set = append(set, f)
	}
	if len(set) == 0 {
		return cache.Digest{}, nil
	}
	return set.Digest(), nil
}

// sourceSet is the digest of the sources of dishes that are linked to each other
// in a circle, which is mostly one dish alone: their default inputs, and the same
// of every dish outside that they are linked to.
type sourceSet struct {
	digest cache.Digest
	made   fingerprint.Pack // what the digest is made of
	lists  []Sources
	next   []*sourceSet
	err    error
}

// addSources adds the sources of the dishes that t is linked to.
func (e *Evaluator) addSources(b *fingerprint.Builder, t *plan.Task, ev *Result) error {
	for _, d := range t.Sources {
		s := e.sourcesOf(d)
		if s.err != nil {
			return s.err
		}
		b.Sources(d.Path, s.digest)
		ev.sources = append(ev.sources, s)
	}
	return nil
}

// sourcesOf gives the sources of d.
func (e *Evaluator) sourcesOf(d *discovery.Dish) *sourceSet {
	circle := e.circles[d]
	if s := e.sources[circle]; s != nil {
		return s
	}
	s := &sourceSet{}
	e.sources[circle] = s
	b := e.keys.New()
	for _, member := range circle.Dishes {
		list := e.defaults(member)
		s.lists = append(s.lists, list)
		entries, _ := e.locks.Take(b, member, list.Files)
		set, err := e.fileSet(entries)
		if err != nil {
			s.err = err
			return s
		}
		// What its tasks have left there without declaring it counts for others.
		b.Files(member.Path, s.made.Add(set.Encode()))
	}
	for _, l := range circle.Links {
		next := e.sourcesOf(l)
		if next.err != nil {
			s.err = next.err
			return s
		}
		b.Sources(l.Path, next.digest)
		s.next = append(s.next, next)
	}
	s.digest = s.made.Add(fingerprint.EncodeIngredients(b.Ingredients()))
	return s
}

// lookedAgain forgets what was worked out from the files of d, and tells whether
// they are others than before.
func (e *Evaluator) lookedAgain(d *discovery.Dish) (changed bool) {
	e.recall.stale = true
	terr := e.territories[d]
	before := terr.Known()
	terr.Forget()
	after := terr.Defaults(e.tree)
	if slices.EqualFunc(before, after, func(x, y tree.Entry) bool { return x.Same(&y) }) {
		return false
	}
	clear(e.sources)
	return true
}
