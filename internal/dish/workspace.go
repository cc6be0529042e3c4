package dish

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Workspace is the input of plans. It does not change.
type Workspace struct {
	Root    string
	Dishes  []*Dish            // by path
	ByPath  map[string][]*Dish // by path, the one with the directory's name first
	Bentos  []Bento            // by name
	PassEnv []string           // variables that every task sees: NAME or PREFIX_*
	// ObservedInputs says that of the inputs of tasks for which dish.toml lists none only what they read counts.
	ObservedInputs bool
	// ObservedOutputs says that bento finds the outputs of tasks for which dish.toml lists none by observing them.
	ObservedOutputs bool
	// LeftOut are the directories with a manifest that are no dishes, by path.
	LeftOut []LeftOut
	// Failed has, by id, the failure of each plugin that did not answer about a directory.
	Failed map[string]*adapters.Failure
	// Tools has, by id, the tools that can be used, and those with a Problem. It is nil if no task
	// and no parser names a tool.
	Tools map[string]*Tool
	// Files is nil where files are unknown.
	Files Files
	// Excludes reports whether [workspace] exclude matches a path or a directory above it: no dish is
	// looked for there.
	Excludes func(path string) bool
	// OwnersOf returns who owns a path relative to the root by CODEOWNERS; a directory has "/" at the end. The error
	// is about that file. It is safe for concurrent use; nil where the files are unknown.
	OwnersOf func(path string) (Ownership, error)
}

// Files answers from the walk of a workspace and from git's list of files, and reads no other file. A *tree.Tree
// is one.
type Files interface {
	// Walked reports whether the walk found path as a file or directory that git does not ignore, not through a link.
	Walked(path string) bool
	// Ignored reports whether path, a directory if dir is set, is outside the walk, whether it exists or not.
	Ignored(path string, dir bool) bool
	// IgnoresAny reports whether one of paths, clean and relative to the directory base, is Ignored as a file or as a directory.
	IgnoresAny(base string, paths []string) bool
	// MayHide reports whether ignored files may match a glob that starts with the directory prefix and ends with last.
	MayHide(prefix, last string) bool
	// TracksBelow reports whether git tracks a path at or below path; Unsure whether it may track unknown files.
	TracksBelow(path string) bool
	Unsure() bool
}

// WhyLeftOut returns why the directory at a path relative to the root is no dish and how to adopt
// it, "" when it is not in LeftOut.
func (w *Workspace) WhyLeftOut(path string) string {
	i, ok := slices.BinarySearchFunc(w.LeftOut, path, func(l LeftOut, path string) int { return strings.Compare(l.Path, path) })
	if !ok {
		return ""
	}
	return "it is left out, " + string(w.LeftOut[i].Reason) + ": " + w.LeftOut[i].Why + "; [workspace] include adopts it"
}

// Named returns the dishes that the name of d refers to: all dishes of its directory if d is the first
// there, else only d.
func (w *Workspace) Named(d *Dish) []*Dish {
	if list := w.ByPath[d.Path]; len(list) > 0 && list[0] == d {
		return list
	}
	return []*Dish{d}
}

// First returns the dish that has the name of a directory, or nil.
func (w *Workspace) First(path string) *Dish {
	if list := w.ByPath[path]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// Owner returns the innermost dish, the first of its directory, that contains a path relative to the root, or nil.
func (w *Workspace) Owner(path string) *Dish {
	for dir := range Upwards(path) {
		if d := w.First(dir); d != nil {
			return d
		}
	}
	return nil
}

// Members returns the members in the manifest of d, and their members in turn, by path.
func (w *Workspace) Members(d *Dish) []*Dish {
	seen := map[*Dish]bool{d: true}
	var list []*Dish
	var add func(of *Dish)
	add = func(of *Dish) {
		for _, path := range of.Members {
			for _, m := range w.ByPath[path] {
				if !seen[m] && m.Path != d.Path {
					seen[m] = true
					list = append(list, m)
					add(m)
				}
			}
		}
	}
	add(d)
	slices.SortFunc(list, func(a, b *Dish) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// Relative returns an absolute path relative to the root, with forward slashes; ok is false if it is
// outside.
func (w *Workspace) Relative(path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	rel, err := filepath.Rel(w.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Untracked reports whether git tracks none of the files that an output of a dish at base names: it
// ignores files like these, or tracks nothing where the glob begins.
func (w *Workspace) Untracked(base, output string) bool {
	if strings.HasPrefix(output, "!") {
		return false
	}
	if rooted, ok := strings.CutPrefix(output, "//"); ok {
		base, output = ".", rooted
	}
	if w.Files == nil {
		return true
	}
	at := Prefix(base, output)
	like := path.Join(base, strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(output))
	return w.Files.Ignored(like, false) || w.Files.Ignored(at, true) || at != base && !w.Files.Unsure() && !w.Files.TracksBelow(at)
}

// Prefix returns the path, relative to the root, at or below which all files of a glob of a dish at base are.
func Prefix(base, glob string) string {
	if rooted, ok := strings.CutPrefix(glob, "//"); ok {
		base, glob = ".", rooted
	}
	return path.Join(base, LiteralPart(glob))
}

// LiteralPart returns the part of a glob in front of the first element with a wildcard.
func LiteralPart(glob string) string {
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		return glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	return glob
}

// Upwards yields a path relative to the root and its parents, "." last.
func Upwards(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for path != "." && path != "" {
			if !yield(path) {
				return
			}
			i := strings.LastIndexByte(path, '/')
			if i < 0 {
				break
			}
			path = path[:i]
		}
		yield(".")
	}
}
