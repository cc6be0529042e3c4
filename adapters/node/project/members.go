package project

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// Bounds of a workspace.
const (
	maxGlob      = 512     // bytes of one glob
	maxBraces    = 3       // in one glob
	maxCommas    = 64      // in one glob
	maxDepth     = 16      // directories below the literal part of a glob
	maxMemberDir = 100_000 // directories read
)

// memberGlobs are the patterns of a workspace, which its root lists; the last that matches wins.
type memberGlobs []glob

type glob struct {
	pattern string
	parts   []string
	negated bool
}

// compileGlobs leaves out patterns that can match no member: globs that lead out of the
// workspace or match its root, and malformed ones.
func compileGlobs(patterns []string) memberGlobs {
	var list memberGlobs
	for _, p := range patterns {
		g := glob{}
		for strings.HasPrefix(p, "!") {
			p, g.negated = p[1:], !g.negated
		}
		for strings.HasPrefix(p, "./") || strings.HasPrefix(p, "/") {
			p = strings.TrimPrefix(strings.TrimPrefix(p, "."), "/")
		}
		p = strings.TrimRight(p, "/")
		g.pattern, g.parts = p, strings.Split(p, "/")
		if p != "." && p != "" && !slices.Contains(g.parts, "..") && bounded(p) {
			list = append(list, g)
		}
	}
	return list
}

// bounded reports whether a pattern is valid and cheap to match: alternatives multiply.
func bounded(p string) bool {
	return len(p) <= maxGlob && strings.Count(p, "{") <= maxBraces && strings.Count(p, ",") <= maxCommas &&
		doublestar.ValidatePattern(p)
}

// match reports whether rel, a directory relative to the root, is a member.
func (list memberGlobs) match(rel string) bool {
	if rel == "." || hidden(rel) {
		return false
	}
	member := false
	for _, g := range list {
		if g.negated == member && doublestar.MatchUnvalidated(g.pattern, rel) {
			member = !g.negated
		}
	}
	return member
}

// expand returns the directories below root that list matches, absolute and sorted, whether
// or not they hold a package. A link to a directory is a member where its own path matches; nothing
// below it is.
func (list memberGlobs) expand(f *snapshot.Files, root string) []string {
	w := &memberWalk{files: f, root: root, globs: list, seen: make(map[string]bool)}
	for _, g := range list {
		if !g.negated {
			base, _ := doublestar.SplitPattern(g.pattern)
			w.visit(base, 0)
		}
	}
	slices.Sort(w.found)
	return w.found
}

// memberWalk walks the directories below the literal parts of the globs.
type memberWalk struct {
	files *snapshot.Files
	root  string
	globs memberGlobs
	seen  map[string]bool
	found []string // absolute
}

func (w *memberWalk) visit(rel string, depth int) {
	if w.seen[rel] || len(w.seen) > maxMemberDir || depth > maxDepth {
		return
	}
	w.seen[rel] = true
	path := filepath.Join(w.root, filepath.FromSlash(rel))
	if rel != "." && w.globs.match(rel) && (depth > 0 || w.files.IsDir(path)) {
		w.found = append(w.found, path)
	}
	if !w.globs.below(rel) {
		return
	}
	for _, e := range w.files.List(path) {
		at := joinSlash(rel, e.Name())
		switch {
		case e.IsDir():
			w.visit(at, depth+1)
		case e.Type()&fs.ModeSymlink != 0 && !w.seen[at] && w.globs.match(at) && w.files.IsDir(filepath.Join(path, e.Name())):
			w.seen[at] = true
			w.found = append(w.found, filepath.Join(path, e.Name()))
		}
	}
}

func joinSlash(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// hidden reports whether globs skip a directory.
func hidden(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if part == "node_modules" || part == ".git" {
			return true
		}
	}
	return false
}

// below reports whether a member can lie below rel.
func (list memberGlobs) below(rel string) bool {
	return !hidden(rel) && slices.ContainsFunc(list, func(g glob) bool { return !g.negated && g.below(rel) })
}

func (g glob) below(rel string) bool {
	if rel == "." {
		return true
	}
	dirs := strings.Split(rel, "/")
	for i, dir := range dirs {
		if i >= len(g.parts) {
			return false
		}
		part := g.parts[i]
		// A brace may contain a slash; the part is then no pattern of its own.
		if part == "**" || strings.Count(part, "{") != strings.Count(part, "}") {
			return true
		}
		if !doublestar.MatchUnvalidated(part, dir) {
			return false
		}
	}
	return len(g.parts) > len(dirs)
}
