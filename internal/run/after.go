package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// maxNamed bounds how many files a warning names.
const maxNamed = 5

// executed takes in the end of an execution.
func (e *engine) executed(ctx context.Context, x *execution) {
	t, r := x.ev.Task, x.result
	before := e.territories[t.Dish].defaults(e.tree)
	e.refresh(ctx, t)
	if r.Outcome == Built {
		e.current[t.Index] = true
		e.made[t.Index] = &made{digest: outputsDigest(x.outputs)}
		if x.ev.Known {
			e.memory.keep(t, &remembered{
				Key: x.ev.Key, Duration: r.Duration, Outputs: outputPaths(x.outputs),
				ByProducts: e.byProducts(x.ev, before),
			})
		}
	}
	e.end(r)
}

// refresh looks at a dish again after something ran in it. Tasks that have not
// begun and may see the difference are evaluated again.
func (e *engine) refresh(ctx context.Context, t *plan.Task) {
	dirs := []string{t.Dish.Path}
	for _, o := range t.Outputs {
		if strings.HasPrefix(o.Glob, "//") {
			dirs = append(dirs, prefix(t.Dish.Path, o.Glob))
		}
	}
	if err := e.tree.Refresh(ctx, dirs); err != nil && ctx.Err() == nil {
		e.env.warn("unreadable_directory", err.Error(), "")
	}
	if e.lookedAgain(t.Dish) {
		for i := range e.stale {
			e.stale[i] = true
		}
	}
	for _, next := range e.plan.Graph.After(t.Index) {
		e.stale[next] = true
	}
}

// byProducts gives what a task has left in its dish without declaring it: what is
// new, and what was its by-product before and is still there. A file that was an
// input is none: somebody has changed it since, and the key tells of it.
func (e *engine) byProducts(ev *Evaluation, before []tree.Entry) []byProduct {
	t := ev.Task
	own, owners := paths(e.memory.of(t).ByProducts), e.otherByProducts(t)
	var list []byProduct
	var fresh []string
	for _, entry := range e.territories[t.Dish].defaults(e.tree) {
		was, found := find(before, entry.Path)
		owner := owners[entry.Path]
		switch {
		case entry.Kind != tree.File:
			continue
		case found && !own[entry.Path] && (owner == nil || was.Same(&entry)):
			continue
		}
		if _, input := find(ev.entries, entry.Path); input {
			continue
		}
		sum, err := e.tree.Index().Sum(entry)
		if err != nil {
			continue
		}
		b := byProduct{Path: entry.Path, Sum: sum}
		if owner != nil {
			e.reassign(owner, b)
			continue
		}
		list = append(list, b)
		if !own[entry.Path] {
			fresh = append(fresh, entry.Path)
		}
	}
	if len(fresh) > 0 && t.Uncached == "" {
		e.env.warn("by_products", fmt.Sprintf("%s made files that it does not declare: %s", t.ID(), named(fresh)),
			"declare them as outputs, or have git ignore them")
	}
	return list
}

// find looks for a path among sorted entries.
func find(entries []tree.Entry, p string) (tree.Entry, bool) {
	i, found := slices.BinarySearchFunc(entries, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return tree.Entry{}, false
	}
	return entries[i], true
}

func paths(list []byProduct) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, b := range list {
		set[b.Path] = true
	}
	return set
}

// otherByProducts gives, by path, the task of the same dish that it belongs to.
func (e *engine) otherByProducts(t *plan.Task) map[string]*plan.Task {
	owners := make(map[string]*plan.Task)
	for _, other := range e.territories[t.Dish].tasks {
		if other.Name == t.Name {
			continue
		}
		for _, b := range e.memory.of(other).ByProducts {
			owners[b.Path] = other
		}
	}
	return owners
}

// reassign notes the content that a by-product of owner has now.
func (e *engine) reassign(owner *plan.Task, b byProduct) {
	last := *e.memory.of(owner)
	last.ByProducts = slices.Clone(last.ByProducts)
	for i := range last.ByProducts {
		if last.ByProducts[i].Path == b.Path {
			last.ByProducts[i] = b
		}
	}
	e.memory.keep(owner, &last)
}

func named(files []string) string {
	quoted := make([]string, 0, maxNamed)
	for _, f := range files[:min(len(files), maxNamed)] {
		quoted = append(quoted, fmt.Sprintf("%q", f))
	}
	list := strings.Join(quoted, ", ")
	if more := len(files) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
