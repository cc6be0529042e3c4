package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// kitchen is a plan of tasks with outputs.
func kitchen(tasks, outputs int, glob string) *plan.Plan {
	p := &plan.Plan{}
	for i := range tasks {
		t := &plan.Task{Index: i, Name: "build", Dish: &dish.Dish{Name: fmt.Sprint("d", i), Path: fmt.Sprint("d", i)}}
		for j := range outputs {
			t.Outputs = append(t.Outputs, plan.Output{Glob: strings.NewReplacer("%t", fmt.Sprint(i), "%o", fmt.Sprint(j)).Replace(glob), Declared: true})
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// Outputs that cannot be compared in time are refused with one error, and all others are compared.
func TestComparisonsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 100,000 globs")
	}
	for name, c := range map[string]struct {
		plan *plan.Plan
		want bool // that it is refused
	}{
		"globs of two tasks":      {kitchen(2, 20_000, "//gen/%t*%o*"), true},
		"globs of many tasks":     {kitchen(5000, 2, "//gen/%t*%o*x"), true},
		"files of many tasks":     {kitchen(20_000, 1, "//gen"), true},
		"globs of one task":       {kitchen(2, 20_000, "gen/*%o"), true},
		"each in its directory":   {kitchen(20_000, 3, "gen/%o/**"), false},
		"files beside each other": {kitchen(3000, 1, "//gen/f%t"), false},
		"a few":                   {kitchen(300, 3, "//gen/%t*%o"), false},
	} {
		found := FindOverlaps(c.plan)
		refused := len(found.Problems) > 0 && found.Problems[len(found.Problems)-1].Rule == diagnostics.RuleTooMany
		if refused != c.want {
			t.Errorf("%s: refused %v, want %v: %v", name, refused, c.want, found.Problems[:min(3, len(found.Problems))])
		}
	}
}

// Recipes of one tool that make the outputs of each other again share a mutex, and may overlap.
// Recipes with different mutexes and outputs in dish.toml may not.
func TestRebuildsAreExempt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a, b *plan.Task)
		want   int
	}{
		"one mutex":     {func(a, b *plan.Task) {}, 0},
		"two mutexes":   {func(a, b *plan.Task) { b.Mutex = "gradle" }, 1},
		"none":          {func(a, b *plan.Task) { a.Mutex, b.Mutex = "", "" }, 1},
		"declared once": {func(a, b *plan.Task) { a.Outputs[0].Declared = true }, 1},
	} {
		p := kitchen(2, 1, "//gen/app")
		for _, task := range p.Tasks {
			task.Mutex, task.Outputs[0].Declared = "maven", false
		}
		c.change(p.Tasks[0], p.Tasks[1])
		found := FindOverlaps(p)
		if len(found.Problems) != c.want || (found.Rivals[0] != nil) != (c.want > 0) || len(found.Near[0]) != 1 {
			t.Errorf("%s: %d problems, rivals %v, near %v", name, len(found.Problems), found.Rivals, found.Near)
		}
	}
}
