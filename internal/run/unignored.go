package run

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
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

// Ignorable says of which tasks IgnoreLines takes the outputs.
type Ignorable struct {
	Makes func(*plan.Task) bool     // whether a recipe makes the outputs that it declares
	Made  func(*plan.Task) []string // the files that the last execution of a task has made
}

// IgnoreLines returns lines for the .gitignore at the root of the workspace. They cover the outputs of recipes that
// git neither ignores nor tracks files in, the outputs that a recipe discards as long as git does not ignore them,
// outputs of dish.toml that are a file or a whole directory with nothing but what the task has made, and node_modules.
// There are none outside of a repository, or while git's list cannot be read.
func IgnoreLines(p *plan.Plan, files *tree.Tree, of Ignorable) (lines []string) {
	if !files.InRepository() || files.Unsure() {
		return nil
	}
	for _, t := range p.Tasks {
		for _, o := range t.Outputs {
			line, ok := "", false
			switch {
			case o.Declared:
				line, ok = declaredLine(t, o, files, of.Made(t))
			case t.Lifecycle && of.Makes(t):
				line, ok = ignoreLine(t, o, files)
			}
			if ok {
				lines = append(lines, line)
			}
		}
		for _, o := range discarded(t) {
			if line, ok := ignoreLine(t, o, files); ok && t.Lifecycle {
				lines = append(lines, line+"/")
			}
		}
	}
	if slices.ContainsFunc(p.Workspace.Dishes, func(d *dish.Dish) bool { return barePackages(d, files) }) {
		lines = append(lines, packages+"/")
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// declaredLine returns the line for an output of dish.toml, if it is a file or a whole directory and holds no file but
// those that the task has made: a directory may hold sources beside them.
func declaredLine(t *plan.Task, o plan.Output, files *tree.Tree, made []string) (string, bool) {
	dir := strings.TrimSuffix(o.Glob, "/**")
	if at, literal := fixed(dir); !literal || at != dir || t.Uncached != "" {
		return "", false
	}
	o.Glob, o.Declared = dir, false
	if at, ok := place(t, o); !ok || at == "." || slices.ContainsFunc(files.Under(at), func(e tree.Entry) bool { return !slices.Contains(made, e.Path) }) {
		return "", false
	}
	return ignoreLine(t, o, files)
}

// packages is the directory into which the package managers of Node install.
const packages = "node_modules"

// barePackages reports whether d is a dish of Node whose packages git would add.
func barePackages(d *dish.Dish, files *tree.Tree) bool {
	at := path.Join(d.Path, packages)
	return d.Adapter != nil && strings.HasPrefix(d.Adapter.Manifest().AdapterID, "node-") && !files.Ignored(at, true) && !files.TracksBelow(at)
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
	if len(below) == 0 && files.Ignored(at, true) {
		return "", false // what is not there yet may become a directory
	}
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
