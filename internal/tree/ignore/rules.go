// Package ignore decides what git ignores, by the rules of gitignore(5). It reads no file and
// starts no process: the caller passes the text of ignore files.
package ignore

import (
	"slices"
	"strings"
	"sync/atomic"
)

// File is the name of ignore files in a work tree.
const File = ".gitignore"

// MaxFile is the largest size of an ignore file in bytes; git ignores larger ones.
const MaxFile = 4 << 20

// Rules are the patterns of one ignore file, followed by those of files with lower precedence. Nil
// means no rules. Rules do not change, except that they record that their patterns cost too much.
type Rules struct {
	behind   *Rules
	base     string // directory of the file below the root: "" or "a/b/"
	above    string // directory of the root below the file: "" or "a/b/"
	patterns []pattern
	name     string   // of the file
	out      []string // directories that are always ignored
	over     atomic.Int32
}

// Whether matching a file's patterns costs too much.
const (
	fits int32 = iota
	tooMuch
	warned
)

// Verdict is the result of rules for a path.
type Verdict int8

// A path that no pattern matches has the verdict of its directory.
const (
	Undecided Verdict = iota
	Ignored
	Included // by a pattern with "!" in front
)

// With returns rules that take precedence over r: those of an ignore file in dir, a path below the
// root, "" for the root itself. It returns r when text has no patterns.
func (r *Rules) With(dir, text string) *Rules {
	return r.add(&Rules{behind: r, base: slashed(dir), name: slashed(dir) + File}, text)
}

// WithAbove is With for a file above the root: below is the path of the root from there, name the
// name of the file in messages.
func (r *Rules) WithAbove(below, name, text string) *Rules {
	return r.add(&Rules{behind: r, above: slashed(below), name: name}, text)
}

func (r *Rules) add(top *Rules, text string) *Rules {
	top.patterns = parse(text)
	if len(top.patterns) == 0 {
		return r
	}
	if r != nil {
		top.out = r.out
	}
	return top
}

// Without returns rules that always ignore directories, which are paths below the root.
func (r *Rules) Without(dirs []string) *Rules {
	if len(dirs) == 0 {
		return r
	}
	return &Rules{behind: r, out: dirs}
}

func slashed(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// Match returns the verdict of the last pattern that matches path. It does not check the
// directories above path: the content of an ignored directory is ignored, whatever the patterns
// say. When the patterns of a file cost more than the limit for one path, the remaining ones match
// nothing; see Overspent.
//
// path is relative to the root, and inside the directories of all files of the rules.
func (r *Rules) Match(path string, dir bool) Verdict {
	if r != nil && dir && slices.Contains(r.out, path) {
		return Ignored
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.behind {
		if v := r.match(path, name, dir); v != Undecided {
			return v
		}
	}
	return Undecided
}

func (r *Rules) match(path, name string, dir bool) Verdict {
	below := "" // path relative to the file, computed when needed
	b := budget{steps: maxStepsOfAll}
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := &r.patterns[i]
		if p.dirOnly && !dir {
			continue
		}
		var hit bool
		if p.nameOnly {
			hit = p.matchName(name, &b)
		} else {
			if below == "" {
				below = r.below(path)
			}
			hit = p.matchPath(below, &b)
		}
		if hit {
			return p.verdict
		}
	}
	if b.over {
		r.over.CompareAndSwap(fits, tooMuch)
	}
	return Undecided
}

// Overspent reports whether a path is undecided because matching it against all patterns of a file
// costs too much. It calls tell with the name of each such file, once over all calls.
func (r *Rules) Overspent(tell func(name string)) (over bool) {
	for ; r != nil; r = r.behind {
		if r.over.Load() == fits {
			continue
		}
		over = true
		if r.over.CompareAndSwap(tooMuch, warned) {
			tell(r.name)
		}
	}
	return over
}

func (r *Rules) below(path string) string {
	if r.above != "" {
		return r.above + path
	}
	return path[len(r.base):]
}
