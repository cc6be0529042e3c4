package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dish"
)

func TestTasksRunInTheOrderOfTheLine(t *testing.T) {
	for _, c := range []struct {
		name string
		line []string
		want []string
	}{
		{"another task first", []string{"a:clean", "a:build"}, []string{"a:clean", "a:build"}},
		{"another task last", []string{"a:build", "a:clean"}, []string{"a:build", "a:clean"}},
		{"lifecycle tasks keep their order", []string{"a:test", "build", "a:clean"}, []string{"a:build", "a:test", "a:clean"}},
		{"others between them", []string{"a:test", "a:clean", "a:build"}, []string{"a:test", "a:clean", "a:build"}},
		{"another dish between them", []string{"a:test", "b:clean", "a:build"}, []string{"a:build", "a:test", "b:clean"}},
		{"before what the next one needs", []string{"a:wipe", "a:make"}, []string{"a:wipe", "a:gen", "a:make"}},
		{"a dependency decides", []string{"a:make", "a:gen"}, []string{"a:gen", "a:make"}},
		{"a name twice", []string{"a:clean", "a:build", "a:clean"}, []string{"a:clean", "a:build"}},
		{"a dish around the other", []string{"r:sweep", "a:build"}, []string{"r:sweep", "a:build"}},
		{"a dish around the other, last", []string{"a:build", "r:sweep"}, []string{"a:build", "r:sweep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, r := newDish("a", "build", "test", "clean", "wipe", "gen", "make"), newDish("b", "clean"), newDish("r", "sweep")
			a.Tasks[5].DependsOn = []string{"gen"}
			r.Path = "."
			never := false
			r.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "sweep", Cache: &never}}}
			p, ids := build(t, workspace(r, a, b), Request{Tasks: c.line})
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Error(diff)
			}
			last := len(ids) - 1
			if before := p.Graph.Before(last); c.name != "another dish between them" && !slices.Contains(before, last-1) {
				t.Errorf("%s comes behind %v", ids[last], before)
			}
		})
	}
}

func TestParallelDishesHaveNoLine(t *testing.T) {
	a, b := newDish("a", "gen", "zip"), newDish("b", "gen", "zip")
	p, ids := build(t, workspace(a, b), Request{Tasks: []string{"zip", "gen"}})
	if diff := cmp.Diff([]string{"a:zip", "a:gen", "b:zip", "b:gen"}, ids); diff != "" {
		t.Error(diff)
	}
	if before := p.Graph.Before(2); len(before) > 0 {
		t.Errorf("b:zip comes behind %v", before)
	}
}
