package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// generated are the outputs of tasks in the directories of dishes, by the dish that they lie in.
type generated map[*dish.Dish][]maker

// generatedEdges returns the edges from tasks to the tasks that make files for them. Such a file lies in the task's
// own dish and a task of another dish declares it there, or it lies in a linked dish whose files the task reads. What
// a manifest, a source or dish.toml names has edges of its own. Nesting alone is no reason, and neither is being of
// one dish.
func (b *builder) generatedEdges() (edges []innerEdge) {
	where := b.generated()
	if len(where) == 0 {
		return nil
	}
	for _, t := range b.tasks {
		if !t.takesIn() {
			continue
		}
		for _, m := range where[t.Dish] {
			if t.DefaultInputs && m.task.Dish.Path != t.Dish.Path && !t.excludesPath(m.prefix) && !t.makesToo(m) {
				edges = append(edges, b.generatedEdge(t, m))
			}
		}
		for _, d := range b.linkedAll(t) {
			for _, m := range where[d] {
				if m.task.Dish.Path != t.Dish.Path && m.isGenerator(d) && !t.dependsOn(m.task) && b.mayRead(t.Dish, d, m) {
					edges = append(edges, b.generatedEdge(t, m))
				}
			}
		}
	}
	return edges
}

// makesToo reports whether t makes files that m makes, too: no output of a task is its input.
func (t *Task) makesToo(m maker) bool {
	set, err := glob.Compile(m.task.Dish.Path, []string{m.output})
	return err == nil && slices.ContainsFunc(t.Outputs, func(o Output) bool {
		own, err := glob.Compile(t.Dish.Path, []string{strings.TrimPrefix(o.Glob, "!")})
		return err == nil && own.Overlaps(set)
	})
}

func (b *builder) generatedEdge(t *Task, m maker) innerEdge {
	b.took(t.Dish, Included{m.task.Dish, viaOutputs, m.pos.String()})
	return innerEdge{t, m.task}
}

// isGenerator reports whether m makes files of d for other dishes. The link waits for the build of d
// itself, and what its check, lint or test leaves is for nobody else.
func (m *maker) isGenerator(d *dish.Dish) bool {
	return m.task.Uncached == "" && (m.task.Dish.Path != d.Path || !m.task.Lifecycle)
}

// generated finds the outputs in the directories of dishes, but for those of a lifecycle task in its
// own dish. Elsewhere those count that dish.toml declares.
func (b *builder) generated() generated {
	where := make(generated)
	for _, t := range b.tasks {
		if t.Persistent || t.Interactive {
			continue
		}
		for _, o := range t.Outputs {
			if strings.HasPrefix(o.Glob, "!") || (t.Lifecycle || t.script) && !o.Declared {
				continue
			}
			if t.Lifecycle && len(b.nest[t.Dish]) == 0 && !leadsOut(o.Glob) {
				continue // only its own dish holds it
			}
			m := maker{prefix: dish.Prefix(t.Dish.Path, o.Glob), task: t, output: o.Glob, pos: o.Pos}
			for _, d := range b.holders(m) {
				if own := d.Path == t.Dish.Path; own && !t.Lifecycle || !own && o.Declared {
					where[d] = append(where[d], m)
				}
			}
		}
	}
	return where
}

// holders returns the dishes in whose own directories files of m may lie.
func (b *builder) holders(m maker) (list []*dish.Dish) {
	if owner := b.ws.Owner(m.prefix); owner != nil {
		list = b.ws.ByPath[owner.Path]
	}
	if !leadsOut(m.output) {
		return list
	}
	set, err := glob.Compile(m.task.Dish.Path, []string{m.output})
	if err != nil {
		return nil // config has reported it
	}
	for _, d := range b.ws.Dishes {
		if !contains(m.prefix, d.Path) || slices.Contains(list, d) {
			continue
		}
		if below, err := glob.Compile("", []string{path.Join(Escape(d.Path), "**")}); err == nil && below.Overlaps(set) {
			list = append(list, d)
		}
	}
	return list
}

// linkedAll returns the dishes that the dish of t is linked to for t, directly or not.
func (b *builder) linkedAll(t *Task) (list []*dish.Dish) {
	seen := map[*dish.Dish]bool{t.Dish: true}
	var add func(dishes []*dish.Dish)
	add = func(dishes []*dish.Dish) {
		for _, d := range dishes {
			if !seen[d] {
				seen[d] = true
				list = append(list, d)
				add(b.linked(d, false))
			}
		}
	}
	add(t.Sources)
	return list
}

// mayRead reports whether tasks of a dish may read what m makes in another one, which it is linked to.
func (b *builder) mayRead(reader, d *dish.Dish, m maker) bool {
	open, closed := d.OpenTo(reader)
	if open == nil || !closed && !b.makesAll(d, open) {
		return true // the family cannot tell
	}
	set, err := glob.Compile(m.task.Dish.Path, []string{m.output})
	if err != nil {
		return true
	}
	places, err := glob.Compile(d.Path, open)
	return err != nil || places.Overlaps(set)
}

// makesAll reports whether the tasks of d make files of every glob.
func (b *builder) makesAll(d *dish.Dish, globs []string) bool {
	var outputs []string
	for _, t := range b.byDish[d] {
		for _, o := range t.Outputs {
			if !strings.HasPrefix(o.Glob, "!") {
				outputs = append(outputs, o.Glob)
			}
		}
	}
	made, err := glob.Compile(d.Path, outputs)
	return err == nil && !slices.ContainsFunc(globs, func(g string) bool {
		one, err := glob.Compile(d.Path, []string{g})
		return err != nil || !made.Overlaps(one)
	})
}
