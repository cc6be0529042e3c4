package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// stopping is an adapter whose tools stop at dishes of its family.
type stopping struct{ adapters.Adapter }

func (stopping) Manifest() *adapters.Manifest {
	return &adapters.Manifest{AdapterID: "stopping", StopsAtFamily: true}
}

func dishAt(path string, recipes ...string) *dish.Dish {
	d := newDish(path, recipes...)
	if path == "." {
		d.Name, d.Dir = "root", "/w"
	}
	return d
}

func innerOf(t *Task) []string {
	names := []string{}
	for _, d := range t.Inner {
		names = append(names, d.Name)
	}
	return names
}

func depsOf(t *Task) []string {
	ids := []string{}
	for _, d := range t.Deps {
		ids = append(ids, fmt.Sprint(d.Task.ID(), " ", d.Via))
	}
	return ids
}

func TestOuterTasksFollowInnerBuilds(t *testing.T) {
	root, web, sub, tool := dishAt(".", "build!", "lint"), dishAt("web", "build!"), dishAt("web/sub", "build"), dishAt("webtool", "lint")
	p, ids := build(t, workspace(root, web, sub, tool), Request{Tasks: []string{"root:lint"}})
	// Nesting alone pulls no build in.
	if diff := cmp.Diff([]string{"root:lint"}, ids); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"web", "web/sub", "webtool"}, innerOf(p.Tasks[0])); diff != "" {
		t.Error(diff)
	}
	// In one run the builds inside come first, but their results are not needed.
	p, ids = build(t, workspace(root, web, sub, tool), Request{Tasks: []string{"build"}})
	if diff := cmp.Diff([]string{"web/sub:build", "web:build", "root:build"}, ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{}, depsOf(p.Tasks[2])); diff != "" {
		t.Error(diff)
	}
	if got := p.Graph.Before(2); len(got) != 2 {
		t.Errorf("root:build comes behind %v", got)
	}
	narrowed, _ := p.Narrow(func(t *Task) bool { return t.Dish != web })
	if got := narrowed.Graph.Before(1); len(narrowed.Tasks) != 2 || len(got) != 1 {
		t.Errorf("narrowed, root:build comes behind %v", got)
	}
}

func TestToolsStopAtInnerDishes(t *testing.T) {
	root, mod, web, sub := dishAt(".", "build!"), dishAt("mod", "build!"), dishAt("mod/web", "build!"), dishAt("ui", "build!")
	root.Adapter, mod.Adapter = stopping{}, stopping{}
	p, _ := build(t, workspace(root, mod, web, sub), Request{Tasks: []string{"build"}})
	want := map[string][]string{"root": {"ui"}, "mod": {"mod/web"}, "mod/web": {}, "ui": {}}
	for _, task := range p.Tasks {
		if diff := cmp.Diff(want[task.Dish.Name], innerOf(task)); diff != "" {
			t.Errorf("%s: %s", task.ID(), diff)
		}
	}
}

func TestInnerEdgesGiveWay(t *testing.T) {
	// The example is linked to the root: this order applies.
	root, example, other := dishAt(".", "build!", "test"), dishAt("example", "build!"), dishAt("other", "build!")
	link(example, root)
	p, ids := build(t, workspace(root, example, other), Request{Tasks: []string{"build", "test"}})
	if diff := cmp.Diff([]string{"other:build", "root:build", "example:build", "root:test"}, ids); diff != "" {
		t.Error(diff)
	}
	// It does not know of other examples by the key of what it waits for.
	if diff := cmp.Diff([]string{"root:build 1"}, depsOf(p.Tasks[2])); diff != "" {
		t.Error(diff)
	}
	// With a declared link it comes after all tasks of the root.
	example.Links[0].Kind = dish.Declared
	_, ids = build(t, workspace(root, example, other), Request{Tasks: []string{"build", "test"}})
	if diff := cmp.Diff([]string{"other:build", "root:build", "root:test", "example:build"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestInputsNarrow(t *testing.T) {
	for _, c := range []struct {
		inputs []string
		want   []string
	}{
		{nil, []string{"a", "b"}},
		{[]string{"**"}, []string{}},
		{[]string{"!a"}, []string{"b"}},
		{[]string{"!a/"}, []string{"b"}},
		{[]string{"!a/**"}, []string{"b"}},
		{[]string{"!//a/**"}, []string{"b"}},
		{[]string{"!a/**", "b/x"}, []string{"b"}},
		{[]string{"!a/**", "a/x*"}, []string{"a", "b"}},
		{[]string{"!a/src/**"}, []string{"a", "b"}},
		{[]string{"!ab"}, []string{"a", "b"}},
		{[]string{"!*"}, []string{"a", "b"}},
	} {
		root := dishAt(".", "build!")
		if c.inputs != nil {
			globs := make([]dish.Glob, len(c.inputs))
			for i, text := range c.inputs {
				globs[i].Text = text
			}
			root.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "build", Inputs: &globs}}}
		}
		p, _ := build(t, workspace(root, dishAt("a"), dishAt("b")), Request{Tasks: []string{"build"}})
		if diff := cmp.Diff(c.want, innerOf(p.Tasks[0])); diff != "" {
			t.Errorf("%q: %s", c.inputs, diff)
		}
	}
}

// TestInnerEdgesCloseNoCycle: for any links and nesting of dishes, every task is in the plan, and
// every edge conforms to the rules.
func TestInnerEdgesCloseNoCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var dishes []*dish.Dish
		for i := range rapid.IntRange(1, 7).Draw(t, "dishes") {
			path := fmt.Sprint("d", i)
			if i == 0 {
				path = "."
			} else if k := rapid.IntRange(0, i-1).Draw(t, "in"); k > 0 {
				path = dishes[k].Path + "/" + path
			}
			d := dishAt(path, rapid.SampledFrom([]string{"build!", "build", "check"}).Draw(t, "recipe"), "test")
			for range rapid.IntRange(0, 2).Draw(t, "links") {
				if i > 0 { // from a later dish to an earlier one: links alone have no cycle
					link(d, dishes[rapid.IntRange(0, i-1).Draw(t, "to")])
				}
			}
			dishes = append(dishes, d)
		}
		slices.SortFunc(dishes, byPath)
		p, problems := Build(workspace(dishes...), Request{})
		if len(diagnostics.Errors(problems)) > 0 {
			t.Fatal(problems)
		}
		if want := 2 * len(dishes); len(p.Tasks) != want {
			t.Fatalf("%d tasks, want %d", len(p.Tasks), want)
		}
		for i, task := range p.Tasks {
			for _, before := range p.Graph.Before(i) {
				if before >= i {
					t.Fatalf("%s comes before %s", task.ID(), p.Tasks[before].ID())
				}
			}
		}
	})
}
