package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// chain is app → ui → lib, and other beside them.
func chain() *dish.Workspace {
	app, ui, lib, other := newDish("app", "build!", "test"), newDish("libs/ui", "build!"), newDish("libs/lib", "build!"), newDish("other", "build!")
	ui.Name, lib.Name = "ui", "lib"
	link(app, ui)
	link(ui, lib)
	return workspace(app, lib, ui, other)
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		targets, exclude string
		want             []string
	}{
		{"...lib", "", []string{"app", "lib", "ui"}},
		{"ui...", "", []string{"lib", "ui"}},
		{"...ui", "", []string{"app", "ui"}},
		{"...ui...", "", []string{"app", "lib", "ui"}},
		{"...libs", "", []string{"app", "lib", "ui"}},
		{"", "ui", []string{"app", "lib", "other"}},
		{"", "...lib", []string{"other"}},
		{"libs", "lib", []string{"ui"}},
	} {
		req := Request{Tasks: []string{"build"}}
		if c.targets != "" {
			req.Targets = []string{c.targets}
		}
		if c.exclude != "" {
			req.Exclude = []string{c.exclude}
		}
		p, _ := build(t, chain(), req)
		var got []string
		for _, d := range p.Dishes {
			got = append(got, d.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q without %q:\n%s", c.targets, c.exclude, diff)
		}
	}
	p, _ := build(t, chain(), Request{Exclude: []string{"app:test"}})
	if slices.ContainsFunc(p.Tasks, func(t *Task) bool { return t.ID() == "app:test" }) {
		t.Error("an excluded task is in the plan")
	}
	for _, wrong := range []string{"nope", "...nope", "app:nope", "nope:build"} {
		if _, problems := Build(chain(), Request{Exclude: []string{wrong}}); len(diagnostics.Errors(problems)) != 1 {
			t.Errorf("exclude %q: %v", wrong, problems)
		}
	}
}

func TestNarrow(t *testing.T) {
	p, _ := build(t, chain(), Request{Tasks: []string{"build"}})
	before := states(p)
	narrowed, left := p.Narrow(func(t *Task) bool { return t.Dish.Name == "ui" })
	if diff := cmp.Diff(before, states(p)); diff != "" {
		t.Errorf("the plan itself is another: %s", diff)
	}
	for _, task := range narrowed.Tasks {
		if !slices.Contains(narrowed.TasksOf(task.Dish), task) {
			t.Errorf("%s is none of its dish's tasks", task.ID())
		}
		for _, d := range task.Deps {
			if narrowed.Tasks[d.Task.Index] != d.Task {
				t.Errorf("%s depends on a task of another plan", task.ID())
			}
		}
	}
	var got, out []string
	for i, task := range narrowed.Tasks {
		got = append(got, task.ID())
		if task.Index != i || task.Requested != (task.Dish.Name == "ui") {
			t.Errorf("%s: index %d, requested %v", task.ID(), task.Index, task.Requested)
		}
	}
	for _, task := range left {
		out = append(out, task.ID())
	}
	slices.Sort(out)
	if diff := cmp.Diff([]string{"lib:build", "ui:build"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"app:build", "lib:build", "other:build"}, out); diff != "" {
		t.Error(diff)
	}
}

// states returns what narrowing a plan might change.
func states(p *Plan) (list []string) {
	for _, t := range p.Tasks {
		list = append(list, fmt.Sprint(t.ID(), t.Index, t.Requested, len(t.Deps)))
	}
	return list
}

// TestShards: each requested task is in exactly one part, a dish in one part, and no
// part is heavier than the lightest by more than one dish.
func TestShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var dishes []*dish.Dish
		weights := make(map[string]int64)
		for i := range rapid.IntRange(1, 20).Draw(t, "dishes") {
			d := newDish(fmt.Sprintf("d%02d", i), "build!", "test")
			for range rapid.IntRange(0, 2).Draw(t, "links") {
				if i > 0 {
					link(d, dishes[rapid.IntRange(0, i-1).Draw(t, "to")])
				}
			}
			dishes = append(dishes, d)
			weights[d.Name] = rapid.Int64Range(0, 50).Draw(t, "weight")
		}
		count := rapid.IntRange(1, 6).Draw(t, "parts")
		p, problems := Build(workspace(dishes...), Request{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		weight := func(task *Task) int64 { return weights[task.Dish.Name] }
		sums, in := make([]int64, count), make(map[string]int)
		var heaviest int64
		for part := 1; part <= count; part++ {
			mine := p.Shard(part, count, weight)
			for _, task := range p.Tasks {
				if mine(task) {
					sums[part-1] += max(1, weight(task))
					heaviest = max(heaviest, 2*max(1, weight(task)))
					in[task.ID()]++
					in[fmt.Sprint(task.Dish.Name, " in ", part)] = 0
				}
			}
		}
		if len(in) != len(p.Tasks)+len(dishes) {
			t.Fatalf("a dish is torn apart, or a task left out: %v", in)
		}
		for _, task := range p.Tasks {
			if in[task.ID()] != 1 {
				t.Fatalf("%s is in %d parts", task.ID(), in[task.ID()])
			}
		}
		if len(dishes) >= count && slices.Max(sums)-slices.Min(sums) > heaviest {
			t.Fatalf("the parts weigh %v, the heaviest dish %d", sums, heaviest)
		}
	})
}

// A name that is near none of many dishes has a hint, too.
func TestUnknownAmongMany(t *testing.T) {
	var dishes []*dish.Dish
	for i := range 30 {
		dishes = append(dishes, newDish(fmt.Sprintf("d%02d", i), "build!"))
	}
	for _, tasks := range []Request{{Exclude: []string{"elsewhere"}}, {Tasks: []string{"elsewhere:build"}}} {
		_, problems := Build(workspace(dishes...), tasks)
		if len(problems) == 0 || problems[0].Hint == "" {
			t.Errorf("%+v", problems)
		}
	}
}
