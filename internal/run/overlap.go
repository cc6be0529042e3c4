package run

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// overlaps is the result of FindOverlaps. The zero value means that no outputs overlap.
type overlaps struct {
	// Near has, by plan.Task.Index, the tasks that may make outputs of a task, whatever their order.
	// It is nil if no outputs of the plan overlap.
	Near [][]int
	// Rivals are those among Near that are not ordered: none depends on the other. They
	// must not run at the same time, and must not make the same file.
	Rivals [][]int
	// Problems are the errors that keep a run from starting: paths that two rivals name without any
	// wildcard, and rivals of which one is persistent.
	Problems []diagnostics.Diagnostic
}

// outputArea describes the paths that the glob of an output may match.
type outputArea struct {
	task   *plan.Task
	prefix string // the paths are this one or below it; "" is the workspace
	depth  int    // the largest number of components of the paths, -1 for no limit
}

// finder finds the overlaps of a plan.
type finder struct {
	overlaps
	plan *plan.Plan
	sets map[*plan.Task]*tree.Set
	had  map[[2]int]bool
	left int // the rest of effort
}

// effort limits FindOverlaps to a few seconds: hostile outputs may all be in the same directory, and
// then each is compared with every other.
const effort = 50_000_000

// The costs that reduce effort, in units of about 50 ns. An error costs more than its time, because
// no user reads thousands of errors.
const (
	costOfPair  = 20 // one pair of tasks
	costOfGlobs = 10 // one pair of globs
	costOfError = 20_000
)

// FindOverlaps looks for tasks of p that may write the same paths. An invalid glob matches nothing
// here: it is refused elsewhere.
func FindOverlaps(p *plan.Plan) overlaps {
	f := finder{plan: p, sets: make(map[*plan.Task]*tree.Set), had: make(map[[2]int]bool), left: effort}
	places, with := places(p)
	if with < 2 {
		return f.overlaps
	}
	first := make(map[string]int32, len(places)) // by prefix: the number of a place plus one
	next := make([]int32, len(places))           // by place: the next one with its prefix, likewise
	for i := range places {
		j := len(places) - 1 - i
		next[j] = first[places[j].prefix]
		first[places[j].prefix] = int32(j + 1)
	}
	for i := range places {
		inner := &places[i]
		for dir := inner.prefix; ; dir = dir[:max(0, strings.LastIndexByte(dir, '/'))] {
			for j := first[dir]; j > 0; j = next[j-1] {
				f.look(inner, &places[j-1])
				if f.left < 0 {
					f.tooMany(inner.task)
					return f.overlaps
				}
			}
			if dir == "" {
				break
			}
		}
	}
	return f.overlaps
}

// places returns the areas of all outputs, and the number of tasks with outputs.
func places(p *plan.Plan) (list []outputArea, with int) {
	list = make([]outputArea, 0, len(p.Tasks))
	for _, t := range p.Tasks {
		if len(t.Outputs) > 0 {
			with++
		}
		for _, o := range t.Outputs {
			if !strings.HasPrefix(o.Glob, "!") {
				list = append(list, placeOf(t, o.Glob))
			}
		}
	}
	return list, with
}

func placeOf(t *plan.Task, glob string) outputArea {
	dir := t.Dish.Path
	if rest, ok := strings.CutPrefix(glob, "//"); ok {
		dir, glob = "", rest
	}
	if dir == "." {
		dir = ""
	}
	rest, literal := "", glob
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		at := strings.LastIndexByte(glob[:i], '/') + 1
		literal, rest = glob[:at], glob[at:]
	}
	prefix := strings.Trim(path.Join(dir, literal), "/")
	if prefix == "." {
		prefix = ""
	}
	depth := -1
	if rest != "" && !strings.Contains(rest, "**") && !strings.ContainsAny(rest, `{\`) && !strings.HasSuffix(rest, "/") {
		depth = count(prefix) + strings.Count(rest, "/") + 1
	}
	return outputArea{task: t, prefix: prefix, depth: depth}
}

// count returns the number of components of a path.
func count(p string) int {
	if p == "" {
		return 0
	}
	return strings.Count(p, "/") + 1
}

// look adds two tasks to the result if their outputs overlap. The prefix of inner is in that of
// outer.
func (f *finder) look(inner, outer *outputArea) {
	f.left--
	a, b := inner.task, outer.task
	if a == b || outer.depth >= 0 && count(inner.prefix) > outer.depth {
		return
	}
	if a.Index > b.Index {
		a, b = b, a
	}
	id := [2]int{a.Index, b.Index}
	if f.had[id] {
		return
	}
	f.had[id] = true
	x, y := f.set(a), f.set(b)
	if x == nil || y == nil {
		return
	}
	if f.left -= costOfPair + costOfGlobs*x.Len()*y.Len(); f.left < 0 || !x.Overlaps(&y.Set) {
		return
	}
	if f.Near == nil {
		f.Near, f.Rivals = make([][]int, len(f.plan.Tasks)), make([][]int, len(f.plan.Tasks))
	}
	f.left -= costOfPair
	note(f.Near, a, b)
	if depends(b, a) || depends(a, b) || rebuilds(a, b) {
		return
	}
	note(f.Rivals, a, b)
	f.check(a, b)
}

func note(lists [][]int, a, b *plan.Task) {
	lists[a.Index] = append(lists[a.Index], b.Index)
	lists[b.Index] = append(lists[b.Index], a.Index)
}

func (f *finder) set(t *plan.Task) *tree.Set {
	s, known := f.sets[t]
	if !known {
		globs := make([]string, len(t.Outputs))
		for i, o := range t.Outputs {
			globs[i] = o.Glob
		}
		s, _ = tree.CompileSet(t.Dish.Path, globs)
		f.sets[t] = s
	}
	return s
}

// depends reports whether t depends on another task, directly or not. The order of the tasks of one
// dish is no dependency.
func depends(t, on *plan.Task) bool {
	seen := make(map[*plan.Task]bool)
	var reaches func(t *plan.Task) bool
	reaches = func(t *plan.Task) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		return slices.ContainsFunc(t.Deps, func(d plan.Dep) bool { return d.Task == on || d.Task.Index > on.Index && reaches(d.Task) })
	}
	return t.Index > on.Index && reaches(t)
}

// rebuilds reports whether both are recipes of one build whose tool makes the outputs of its other
// recipes again, with the same content. They have the same mutex, and dish.toml declares none of
// their outputs.
func rebuilds(a, b *plan.Task) bool {
	declared := func(o plan.Output) bool { return o.Declared }
	return a.Mutex != "" && a.Mutex == b.Mutex && !slices.ContainsFunc(a.Outputs, declared) && !slices.ContainsFunc(b.Outputs, declared)
}

// check adds an error if two rivals must not run in one plan.
func (f *finder) check(a, b *plan.Task) {
	shared, ok := f.set(a).Shared(&f.set(b).Set)
	if !ok && !a.Persistent && !b.Persistent {
		return
	}
	f.left -= costOfError
	x, y := naming(a, shared), naming(b, shared)
	message := fmt.Sprintf("%s names the output %q, which %s names too (%s), and neither depends on the other", a.ID(), written(x), b.ID(), where(b, y))
	if x.Glob != y.Glob {
		message = fmt.Sprintf("%s names the output %q, and %s the output %q (%s): they overlap, and neither depends on the other", a.ID(), written(x), b.ID(), written(y), where(b, y))
	}
	hint := "let one depend on the other, or let each make files of its own"
	if !ok {
		hint = "a persistent task runs beside the other; " + hint
	}
	f.Problems = append(f.Problems, diagnostics.Pos{File: fileOf(a, x), Line: x.Pos.Line, Col: x.Pos.Col}.Error("outputs_overlap", "%s", message).WithHint(hint))
}

// tooMany adds the error that there are too many outputs to compare.
func (f *finder) tooMany(t *plan.Task) {
	f.Problems = append(f.Problems, diagnostics.Pos{File: fileOf(t, t.Outputs[0]), Line: t.Outputs[0].Pos.Line, Col: t.Outputs[0].Pos.Col}.Error(diagnostics.RuleTooMany, "so many outputs of %s and of other tasks lie in the same directories that they cannot be compared in time", t.ID()).
		WithHint("name a directory of each task's own in place of its files"))
}

// naming returns the output of t that matches p; the first output if p is empty.
func naming(t *plan.Task, p string) plan.Output {
	for _, o := range t.Outputs {
		if s, err := tree.CompileSet(t.Dish.Path, []string{o.Glob}); err == nil && p != "" && s.Match(p) {
			return o
		}
	}
	return t.Outputs[0]
}

// written returns the glob of an output as it is written in workspace_outputs or outputs.
func written(o plan.Output) string { return strings.TrimPrefix(o.Glob, "//") }

func fileOf(t *plan.Task, o plan.Output) string {
	if o.Pos.File != "" {
		return o.Pos.File
	}
	return t.Dish.Path
}

// where returns the place of an output in words: a position in a file, or the recipe.
func where(t *plan.Task, o plan.Output) string {
	switch {
	case o.Pos.File != "":
		return fmt.Sprintf("%s:%d:%d", o.Pos.File, o.Pos.Line, o.Pos.Col)
	case t.Dish.Adapter != nil:
		return "a recipe of the " + t.Dish.Adapter.Manifest().AdapterID + " adapter"
	}
	return t.Dish.Path
}
