package record

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Existing returns the existing files that match the outputs of a task.
func Existing(files *tree.Tree, t *plan.Task) ([]tree.Entry, error) {
	set, err := OutputSet(t)
	if err != nil {
		return nil, err
	}
	return files.Expand(set)
}

// Cleanable has the existing files that match the outputs of tasks, by whether bento clean removes them. The lists
// are sorted.
type Cleanable struct {
	Paths   []string // removed: recorded runs have made them
	Files   int      // the files of Paths, and their size
	Bytes   int64
	Tracked []string // kept: git tracks them
	Others  []string // kept: no recorded run has made them

	made map[string]bool // what recorded runs have made, directories included
}

// Cleanable classifies the existing outputs of the requested tasks of a plan.
func (r *Recorder) Cleanable(ctx context.Context, d *state.Dir, p *plan.Plan) (*Cleanable, error) {
	c := &Cleanable{Paths: []string{}, Tracked: []string{}, Others: []string{}, made: make(map[string]bool)}
	history := key.OpenHistory(d)
	for _, t := range p.Tasks {
		last := history.Of(t)
		for _, path := range slices.Concat(last.Outputs, last.Left) { // also those of failed and killed runs
			c.made[path] = true
		}
	}
	seen := make(map[string]bool)
	for _, t := range p.Tasks {
		if !t.Requested || !t.HasOutputs() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := Existing(r.Tree, t)
		if err != nil {
			return nil, err
		}
		for _, e := range append(entries, r.observedOf(p, t, history.Of(t))...) {
			if !seen[e.Path] {
				seen[e.Path] = true
				c.add(r.Tree, e)
			}
		}
	}
	slices.Sort(c.Paths)
	slices.Sort(c.Tracked)
	slices.Sort(c.Others)
	return c, nil
}

// observedOf returns the existing observed outputs of the last run of t.
func (r *Recorder) observedOf(p *plan.Plan, t *plan.Task, last *key.LastRun) (list []tree.Entry) {
	area := key.NewOutputArea(r.Tree, p, t)
	if area == nil {
		return nil
	}
	for _, name := range slices.Concat(last.Outputs, last.Left) {
		if e, err := r.Tree.Stat(name); err == nil && area.Has(name) {
			list = append(list, e)
		}
	}
	return list
}

// add classifies one file. A file without a record is a source, or comes from another program.
func (c *Cleanable) add(files *tree.Tree, e tree.Entry) {
	switch {
	case files.MayTrack(e.Path):
		c.Tracked = append(c.Tracked, e.Path)
		return
	case !c.made[e.Path] || key.IsOwn(e.Path):
		c.Others = append(c.Others, e.Path)
		return
	}
	c.Paths = append(c.Paths, e.Path)
	if e.Kind == tree.File {
		c.Files++
		c.Bytes += e.Size
	}
}

// Clean removes c.Paths, files before their directories, and then the directories that are empty. It returns the
// number of paths that could not be removed, with the first error; all others are removed.
func (r *Recorder) Clean(ctx context.Context, c *Cleanable) (stuck int, first error) {
	for _, p := range slices.Backward(c.Paths) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := outputs.RemoveUnlocked(r.Root, p, false, func(dir string) bool { return c.made[dir] }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			stuck++
			first = cmp.Or(first, err)
		}
	}
	for _, p := range slices.Backward(c.Paths) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if outputs.RemoveDir(r.Root, dir) != nil {
				break // the directory stays, and so do those above it
			}
			if _, err := tree.Stat(r.Root, dir); err == nil {
				break
			}
		}
	}
	return stuck, first
}
