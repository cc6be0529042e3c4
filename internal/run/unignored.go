package run

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// tellUnignored warns of the outputs of a recipe that git neither tracks nor ignores: the next git
// add would add them. It names only files that the task has not made before.
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

// ignoreLines returns the lines for the .gitignore at the root of the workspace that cover files, as
// far as these are outputs of the recipe of t. Each output has one line.
func ignoreLines(t *plan.Task, files []string) (lines []string) {
	for _, o := range t.Outputs {
		dir, ok := place(t, o)
		if !ok {
			continue
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

// place returns the path of an output of a recipe, up to its first wildcard.
func place(t *plan.Task, o plan.Output) (dir string, ok bool) {
	dir, ok = fixed(o.Glob)
	if o.Declared || !ok {
		return "", false
	}
	if rest, rooted := strings.CutPrefix(dir, "//"); rooted {
		return rest, true
	}
	return path.Join(t.Dish.Path, dir), true
}

// IgnoreLines returns lines for the .gitignore at the root of the workspace. They cover the outputs of recipes that
// git neither ignores nor tracks files in, and the outputs that a recipe discards as long as git does not ignore
// them. There are none outside of a repository, or while git's list cannot be read. makes reports whether a task
// makes its outputs.
func IgnoreLines(p *plan.Plan, files *tree.Tree, makes func(*plan.Task) bool) (lines []string) {
	if !files.InRepository() || files.Unsure() {
		return nil
	}
	for _, t := range p.Tasks {
		for _, o := range t.Outputs {
			if line, ok := ignoreLine(t, o, files); ok && t.Lifecycle && makes(t) {
				lines = append(lines, line)
			}
		}
		for _, o := range discarded(t) {
			if line, ok := ignoreLine(t, o, files); ok && t.Lifecycle {
				lines = append(lines, line+"/")
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// discarded returns the outputs that the recipe of t would have if git ignored them.
func discarded(t *plan.Task) (list []plan.Output) {
	for _, recipe := range t.Dish.Tasks {
		last := len(recipe.Instead) - 1
		if last < 1 || recipe.Name != t.Name || recipe.Instead[last].Path != "" || recipe.Instead[last].Run != t.Run {
			continue
		}
		for _, glob := range recipe.Instead[0].Outputs {
			list = append(list, plan.Output{Glob: glob})
		}
	}
	return list
}

// ignoreLine returns the line for an output. Of several directories that a task may make, only those
// that exist have one.
func ignoreLine(t *plan.Task, o plan.Output, files *tree.Tree) (string, bool) {
	at, ok := place(t, o)
	below := files.Under(at)
	dir := strings.ContainsAny(o.Glob, `*?[{\`)
	if !ok || files.Ignored(at, dir) || files.Tracked(at) || dir && len(t.Outputs) > 1 && len(below) == 0 {
		return "", false
	}
	if slices.ContainsFunc(below, func(e tree.Entry) bool { return files.Tracked(e.Path) }) {
		return "", false
	}
	return "/" + at, true
}

// fixed returns the part of an output glob in front of the first wildcard; ok is false if there is
// none.
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
