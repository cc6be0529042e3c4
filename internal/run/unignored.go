package run

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// tellUnignored warns of the outputs of a recipe that git neither tracks nor ignores: the next git add
// would take them in. It names what the task has not made before.
func (e *engine) tellUnignored(x *execution) {
	t := x.ev.Task
	if !e.tree.InRepository() || e.tree.Unsure() {
		return
	}
	before := e.keys.History().Of(t).Outputs
	made := slices.DeleteFunc(x.kept.Own(), func(p string) bool {
		return slices.Contains(before, p) || e.tree.Ignored(p, false)
	})
	lines := ignoreLines(t, made)
	if len(lines) == 0 {
		return
	}
	noun := "line"
	if len(lines) > 1 {
		noun = "lines"
	}
	e.env.warn("output_not_ignored", t.ID()+" made "+diagnostics.Few(made)+", which git does not ignore",
		"add to .gitignore the "+noun+" "+strings.Join(lines, " "))
}

// ignoreLines returns the lines for the .gitignore at the root of the workspace that cover those of
// the files which are outputs of the recipe of t, one for each output.
func ignoreLines(t *plan.Task, files []string) (lines []string) {
	for _, o := range t.Outputs {
		dir, ok := fixed(o.Glob)
		if o.Declared || !ok {
			continue
		}
		if rest, rooted := strings.CutPrefix(dir, "//"); rooted {
			dir = rest
		} else {
			dir = path.Join(t.Dish.Path, dir)
		}
		switch {
		case slices.Contains(files, dir):
			lines = append(lines, "/"+dir)
		case slices.ContainsFunc(files, func(p string) bool { return strings.HasPrefix(p, dir+"/") }):
			lines = append(lines, "/"+dir+"/")
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// fixed returns the part of an output glob that stands before the first wildcard; ok is false if
// there is none.
func fixed(glob string) (dir string, ok bool) {
	if strings.HasPrefix(glob, "!") {
		return "", false
	}
	at := strings.IndexAny(glob, `*?[{\`)
	if at < 0 {
		return glob, glob != ""
	}
	dir = strings.TrimRight(glob[:strings.LastIndexByte(glob[:at], '/')+1], "/")
	return dir, dir != ""
}
