package run

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// stampOf returns the digest of the files of the dish of ev's task, of those that it is linked to, and of discovered
// inputs, of which the cache of its tool may miss a change (adapters.Stamper); "" for none.
func (e *engine) stampOf(ev *key.Evaluation) string {
	t := ev.Task
	s, ok := t.Dish.Adapter.(adapters.Stamper)
	if !ok {
		return ""
	}
	var w pack.Writer
	any := e.addDiscovered(&w, s, ev)
	for _, d := range append([]*dish.Dish{t.Dish}, e.files.Linked(t)...) {
		if !slices.ContainsFunc(d.Embeds, func(m dish.Embed) bool { return m.Missed }) {
			continue
		}
		any = true
		e.addStamped(&w, s, e.tree.Under(d.Path))
		for _, m := range d.Embeds {
			if m.Missed {
				e.addStamped(&w, s, e.tree.At(m.Path))
			}
			if m.Missed && m.Ignored {
				made, _ := e.tree.IgnoredNow(m.Path, func(string) bool { return true }) // the tool reports an error
				e.addStamped(&w, s, made)
			}
		}
	}
	if !any {
		return ""
	}
	return cache.Sum(w.Payload()).String()[:16]
}

// addDiscovered adds the inputs outside of the dish that executions of ev's task discovered, here or where the cache has
// its results from. It reports whether there are any of which the tool may miss a change.
func (e *engine) addDiscovered(w *pack.Writer, s adapters.Stamper, ev *key.Evaluation) bool {
	var files []tree.Entry
	for _, set := range append(e.files.PathSets(ev), ev.Discovered) {
		for _, d := range set {
			if !s.IsStamped(d.Path) || d.Use != key.UseContent || key.Inside(d.Path, ev.Task.Dish.Path) {
				continue
			}
			if f, err := e.tree.Stat(d.Path); err == nil {
				f.Path = d.Path
				files = append(files, f)
			}
		}
	}
	slices.SortFunc(files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b tree.Entry) bool { return a.Path == b.Path })
	e.addStamped(w, s, files)
	return len(files) > 0
}

func (e *engine) addStamped(w *pack.Writer, s adapters.Stamper, files []tree.Entry) {
	for _, f := range files {
		if f.Kind != tree.File || !s.IsStamped(f.Path) {
			continue
		}
		if sum, err := e.tree.Index().Sum(f); err == nil { // else the key has no digest of it either
			w.String(f.Path)
			w.Raw(sum[:])
		}
	}
}

// stamped returns env with the variables by which the tool of t sees a change that its cache misses.
func stamped(t *plan.Task, env adapters.Environ, stamp string) adapters.Environ {
	if s, ok := t.Dish.Adapter.(adapters.Stamper); ok && stamp != "" {
		return env.With(s.StampEnv(env, stamp))
	}
	return env
}
