package discovery

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// scan is a look at the sources of a dish.
type scan struct {
	of  answers.Project
	set func(list []adapters.Embed) // receives what was found
}

// findEmbeds sets what the sources of each dish embed and import inside the workspace.
func (f *finder) findEmbeds() {
	if f.Clone == nil {
		return
	}
	scans := slices.Concat(f.embedScans(), f.importScans(), f.neededScans())
	if len(scans) == 0 {
		return
	}
	paths := make([]string, len(f.ws.Dishes)) // sorted
	for i, d := range f.ws.Dishes {
		paths[i] = d.Path
	}
	projects := make([]answers.Project, len(scans))
	for i, s := range scans {
		projects[i] = s.of
		projects[i].Inner = inside(paths, s.of.Path)
	}
	for i, list := range (answers.Sources{Saved: f.Saved, Tree: f.Tree, Clone: f.Clone}).Embeds(projects) {
		scans[i].set(list)
	}
}

func (f *finder) embedScans() (list []scan) {
	for _, d := range f.ws.Dishes {
		if e, ok := d.Adapter.(adapters.Embedder); ok && d.Failure == nil {
			of := answers.Project{Path: d.Path, Adapter: d.Adapter, Embeds: e.Embeds, In: d.Adapter.Manifest().EmbedsIn}
			list = append(list, scan{of, func(list []adapters.Embed) { f.setEmbeds(d, list) }})
		}
	}
	return list
}

func (f *finder) setEmbeds(d *dish.Dish, list []adapters.Embed) {
	for _, e := range list {
		if at, ok := f.ws.Relative(e.Path); ok {
			if embed := f.embed(at, e); f.takesIn(d, &embed) {
				d.Embeds = append(d.Embeds, embed)
			}
		}
	}
}

// inside returns the sorted paths that are inside the directory dir; for the root, all of them.
func inside(paths []string, dir string) []string {
	if dir == "." {
		return paths
	}
	from, _ := slices.BinarySearch(paths, dir+"/")
	to, _ := slices.BinarySearch(paths, dir+"0") // "0" is next to "/"
	return paths[from:to]
}

// takesIn reports whether an embed of d may be more than sources of d itself.
func (f *finder) takesIn(d *dish.Dish, e *dish.Embed) bool {
	if e.Named && (e.Owner == d || e.Path == "." || e.Path == d.Path || strings.HasPrefix(d.Path, e.Path+"/")) {
		return false
	}
	return e.Owner != d || !f.derivedIn(d).Match(e.Path)
}

func (f *finder) embed(at string, e adapters.Embed) dish.Embed {
	// Rules mostly name a directory, the files directly in one, or files with the same extension.
	like := path.Join(at, strings.NewReplacer("*", "x", "?", "x").Replace(e.Glob))
	if e.Glob == "" {
		like = path.Join(at, "x")
	}
	return dish.Embed{
		Path: at, Glob: e.Glob, Pos: diagnostics.Pos{File: f.inWorkspace(e.File), Line: e.Line}, Owner: f.ws.Owner(at), Named: e.Named, Missed: e.Missed,
		Ignored: !f.isSource(at) && (f.Tree.Ignored(at, false) || f.Tree.Ignored(at, true) || f.Tree.Ignored(like, false) || f.takesIgnored(at, e)),
	}
}

// isSource reports whether at is a regular file that git does not ignore. Rules for a directory of that
// name do not apply to it.
func (f *finder) isSource(at string) bool {
	e, ok := f.Tree.Lookup(at)
	return ok && e.Kind == tree.File
}

// takesIgnored reports whether an embed includes an existing file that git ignores.
func (f *finder) takesIgnored(at string, e adapters.Embed) bool {
	if e.Ignored == adapters.NoNames {
		return false
	}
	list, err := f.Tree.IgnoredNow(at, func(string) bool { return true })
	if err != nil {
		return true // the error is about a file that may be embedded, too
	}
	return slices.ContainsFunc(list, func(file tree.Entry) bool {
		name := strings.TrimPrefix(strings.TrimPrefix(file.Path, at), "/")
		switch {
		case e.Glob != "":
			// A directory that the glob matches is embedded with everything below it.
			return doublestar.MatchUnvalidated(e.Glob, name) || doublestar.MatchUnvalidated(e.Glob+"/**", name)
		case e.Ignored == adapters.PlainNames:
			return !strings.Contains("/"+name, "/.") && !strings.Contains("/"+name, "/_")
		}
		return true
	})
}
