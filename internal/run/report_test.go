package run

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// TestCriticalPath: an install waits for what its first task waits for, and every task that needs it
// waits for the install, whichever of them the plan has first.
func TestCriticalPath(t *testing.T) {
	install := func(dish string, seconds, first int) *Install {
		return &Install{Dish: dish, Duration: time.Duration(seconds) * time.Second, first: first}
	}
	web := install("web", 15, 1)
	for _, c := range []struct {
		name     string
		tasks    []string
		took     []int // seconds
		edges    [][2]int
		needs    map[int]*Install
		installs []*Install
		want     []string
	}{
		{"none", []string{"a", "b"}, []int{1, 2}, [][2]int{{0, 1}}, nil, nil, []string{"d:a", "d:b"}},
		{"in front", []string{"a", "b", "c"}, []int{9, 2, 1}, nil, map[int]*Install{1: web, 2: web}, []*Install{web}, []string{"web: install", "d:b"}},
		{"between", []string{"a", "b", "c"}, []int{9, 1, 2}, [][2]int{{0, 1}}, map[int]*Install{1: web, 2: web}, []*Install{web}, []string{"d:a", "web: install", "d:c"}},
		{"not the longest", []string{"a", "b", "c"}, []int{99, 1, 2}, nil, map[int]*Install{1: web, 2: web}, []*Install{web}, []string{"d:a"}},
		{"alone", []string{"a", "b"}, []int{0, 0}, nil, map[int]*Install{1: web}, []*Install{web}, []string{"web: install"}},
		{"two", []string{"a", "b", "c"}, []int{3, 1, 1}, [][2]int{{1, 2}}, map[int]*Install{1: web, 2: install("api", 2, 2)}, nil, []string{"web: install", "d:b", "api: install", "d:c"}},
	} {
		if c.installs == nil {
			for _, i := range []int{1, 2} {
				if in := c.needs[i]; in != nil {
					c.installs = append(c.installs, in)
				}
			}
		}
		p := &plan.Plan{Graph: dag.New(len(c.tasks))}
		r := &Report{Plan: p, Installs: c.installs}
		for i, name := range c.tasks {
			task := &plan.Task{Index: i, Name: name, Dish: &dish.Dish{Name: "d"}}
			r.Results = append(r.Results, &Result{Task: task, Duration: time.Duration(c.took[i]) * time.Second, Install: c.needs[i]})
		}
		for _, e := range c.edges {
			p.Graph.AddEdge(e[0], e[1])
		}
		var got []string
		for _, step := range r.CriticalPath() {
			got = append(got, step.ID())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
