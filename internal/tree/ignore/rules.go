// Package ignore tells what git would ignore, by the rules of gitignore(5). It
// reads no file and starts no process: it is given the text of ignore files and
// asked about paths.
package ignore

import (
	"strings"
	"sync/atomic"
)

// File is the name of ignore files in a work tree.
const File = ".gitignore"

// MaxFile is the size in bytes of the largest ignore file that a caller should
// read; git itself has no use for larger ones.
const MaxFile = 4 << 20

// Rules are the patterns of one ignore file and, behind them, those of the files
// that count less. Nil is no rules at all. Rules are immutable, but for the note that
// their patterns cost too much.
type Rules struct {
	behind   *Rules
	base     string // where the file stands, below the root: "" or "a/b/"
	above    string // where the root stands, below the file: "" or "a/b/"
	patterns []pattern
	name     string // of the file
	over     atomic.Int32
}

// What is known of the cost of a file's patterns.
const (
	fits int32 = iota
	tooMuch
	told
)

// Verdict is what rules say of a path.
type Verdict int8

// A path that no pattern matches is as its directory is.
const (
	Undecided Verdict = iota
	Ignored
	Included // by a pattern with "!" in front
)

// With gives rules that count more than r: those of an ignore file that stands in
// dir, a path below the root, "" for the root itself. It returns r when text has
// no patterns.
func (r *Rules) With(dir, text string) *Rules {
	return r.add(&Rules{behind: r, base: slashed(dir), name: slashed(dir) + File}, text)
}

// WithAbove is With for a file that stands above the root: below is the path of
// the root as seen from there, name what the file is called in messages.
func (r *Rules) WithAbove(below, name, text string) *Rules {
	return r.add(&Rules{behind: r, above: slashed(below), name: name}, text)
}

func (r *Rules) add(top *Rules, text string) *Rules {
	top.patterns = parse(text)
	if len(top.patterns) == 0 {
		return r
	}
	return top
}

func slashed(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// Match tells what the last pattern that matches path says. It does not look at
// the directories above path: what stands in an ignored directory is ignored,
// whatever the patterns say. Where the patterns of a file cost more than is allowed for
// one path, those that are left match nothing; see Overspent.
//
// Path is relative to the root, and inside the directories whose files the rules
// were read from.
func (r *Rules) Match(path string, dir bool) Verdict {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for ; r != nil; r = r.behind {
		if v := r.match(path, name, dir); v != Undecided {
			return v
		}
	}
	return Undecided
}

func (r *Rules) match(path, name string, dir bool) Verdict {
	below := "" // path as seen from the file, made when first needed
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

// Overspent reports whether some path was left undecided because to match it against all
// patterns of a file costs too much. It calls tell with the name of each such file, once
// for all calls.
func (r *Rules) Overspent(tell func(name string)) (over bool) {
	for ; r != nil; r = r.behind {
		if r.over.Load() == fits {
			continue
		}
		over = true
		if r.over.CompareAndSwap(tooMuch, told) {
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
