package key

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// caches are names of directories and files in which tools keep downloads and caches.
var caches = [...]string{
	"node_modules", ".venv", "venv", ".bundle", ".yarn", ".pnpm-store", ".gradle", ".tox", ".nox", "__pycache__", "__pypackages__",
	".cache", ".parcel-cache", ".turbo", ".nx", ".wireit", ".moon", ".eslintcache", ".stylelintcache", ".mypy_cache", ".pytest_cache",
	".ruff_cache", ".hypothesis", ".phpunit.cache", ".swc", ".vite", ".angular", ".DS_Store", ".idea", ".vscode", ".git", ".bento",
}

// IsCache reports whether files of this name are caches or logs of tools.
func IsCache(p string) bool {
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

// OutputArea is where the observed outputs of a task lie: in its dish, where git ignores them, without what tools keep
// there. A nil *OutputArea has no paths.
type OutputArea struct {
	task    *plan.Task
	tree    *tree.Tree
	ws      *dish.Workspace
	derived *tree.Set // by tools, and not by the recipe of the task
	except  *tree.Set // caches that the task leaves, and excluded outputs
}

// NewOutputArea returns the area of t, nil if its outputs are not observed.
func NewOutputArea(tr *tree.Tree, p *plan.Plan, t *plan.Task) *OutputArea {
	if !t.FindsOutputs() {
		return nil
	}
	var derived []string
	for _, d := range beside(p.Workspace, t.Dish) {
		if d.Adapter != nil {
			derived = append(derived, d.Adapter.Manifest().DerivedPaths...)
		}
	}
	except := slices.Clone(t.Leaves)
	for _, glob := range slices.Concat(outputGlobs(t), t.UsualOutputs()) {
		if excluded, is := strings.CutPrefix(glob, "!"); is {
			except = append(except, excluded)
		} else {
			derived = append(derived, "!"+glob)
		}
	}
	a := &OutputArea{task: t, tree: tr, ws: p.Workspace}
	var errs [2]error
	a.derived, errs[0] = tree.CompileSet(t.Dish.Path, derived)
	a.except, errs[1] = tree.CompileSet(t.Dish.Path, except)
	if cmp.Or(errs[0], errs[1]) != nil {
		return nil
	}
	return a
}

func outputGlobs(t *plan.Task) []string {
	globs := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		globs[i] = o.Glob
	}
	return globs
}

// Has reports whether p, which may be missing, lies in the area.
func (a *OutputArea) Has(p string) bool {
	if a == nil || a.derived.Match(p) || a.except.Match(p) || a.tree.MayTrack(p) || IsOwn(p) {
		return false
	}
	top := a.Top(p)
	return top != "" && !IsCache(top)
}

// Top returns the outermost path at or around p in the dish that git ignores, "" for none. A path in a dish inside has
// none, and neither has one in .git.
func (a *OutputArea) Top(p string) string {
	dir := a.task.Dish.Path
	if p == dir || !Inside(p, dir) || slices.Contains(strings.Split(p, "/"), ".git") {
		return ""
	}
	if owner := a.ws.Owner(p); owner == nil || owner.Path != dir {
		return ""
	}
	start := 0
	if dir != "." {
		start = len(dir) + 1
	}
	for i := start; i < len(p); i++ {
		if p[i] == '/' && a.tree.Ignored(p[:i], true) {
			return p[:i]
		}
	}
	if a.tree.Ignored(p, false) || a.tree.Ignored(p, true) {
		return p
	}
	return ""
}
